// Side by side and back: the code of the version before and that of this one work on the same stores. Each writes, and the other reads.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it, type TestContext } from 'node:test';
import * as presentRedisAcme from '../../../gateway/acme/redis-acme-store.ts';
import * as presentAcme from '../../../gateway/acme/sqlite-acme-store.ts';
import type { KeyStore } from '../../../gateway/auth/store/key-store.ts';
import * as presentRedisKeys from '../../../gateway/auth/store/redis/redis-key-store.ts';
import * as presentKeys from '../../../gateway/auth/store/sqlite/sqlite-key-store.ts';
import * as presentSecrets from '../../../gateway/config/secrets.ts';
import * as presentFailures from '../../../gateway/limits/addresses/failure-counter.ts';
import type { CounterStore } from '../../../gateway/limits/counters/counter-store.ts';
import * as presentCounters from '../../../gateway/limits/counters/redis/redis-counter-store.ts';
import { createRedisReplayStore } from '../../../gateway/replay/redis-store.ts';
import type { ClaimResult, ReplayStore } from '../../../gateway/replay/replay-store.ts';
import { createSqliteReplayStore } from '../../../gateway/replay/sqlite-store.ts';
import * as presentRedisUses from '../../../gateway/versions/redis-store.ts';
import * as presentUses from '../../../gateway/versions/sqlite-store.ts';
import { dayOf, type UseStore } from '../../../gateway/versions/store.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { FORMER } from '../../support/former/fixture.ts';
import { checkOut, type FormerTree, noHistory } from '../../support/former/tree.ts';
import { eventually } from '../../support/instances.ts';
import { lookInside, startServer, type TestRedis } from '../../support/redis.ts';
import { issue, organization, pepperFingerprint } from '../../unit/auth/samples.ts';
import { claimOf, SENT_AT_MS } from '../replay/claim.ts';
import { newAnswerKey, RETENTION } from '../replay/store-suite.ts';

const [VERSION] = FORMER;
const former = await checkOut(VERSION);

/** Both versions of a module. */
async function both<T>(present: T, path: string): Promise<readonly [present: T, former: T]> {
  return [present, await (former as FormerTree).load<T>(path)];
}

/** The former version has a method of its own for it. */
async function setTier({ organizations }: KeyStore, tier: string): Promise<void> {
  const former = organizations as unknown as { setTier?(id: string, tier: string, by: string): unknown };
  if (former.setTier !== undefined) await former.setTier('org_acme', tier, 'writer');
  else await organizations.change('org_acme', { tier }, 'writer');
}

/** The former version appends only this kind, so it does not get the kind. */
async function noteReload({ organizations, audit }: KeyStore): Promise<void> {
  const former = audit as unknown as { append(by: string, details: unknown): unknown };
  if ('setTier' in organizations) await former.append('writer', { outcome: 'applied' });
  else await audit.append('configuration.changed', 'writer', { outcome: 'applied' });
}

/** The former version calls an outcome "record". */
function named(begun: ClaimResult): ClaimResult {
  return 'record' in begun ? { state: 'done', outcome: begun.record as Buffer | undefined } : begun;
}

/** A busy machine takes longer for 200 decisions than the 90 ms that a request waits for Redis. */
const PATIENCE_MS = 30_000;
/** Claims must not end by themselves on a busy machine. */
const LEASE_MS = 60_000;

const orders = [
  ['this one', 'the former one', 0, 1],
  ['the former one', 'this one', 1, 0],
] as const;

type OpenFormerStore = (options: {
  readonly redisUrl: string | undefined;
  readonly dataDirectory: string;
  readonly acceptOneWay: boolean;
  now(): number;
  onChange(): void;
}) => Promise<ReplayStore>;

describe(`${VERSION} and this version on the same stores`, { skip: former === undefined && noHistory(VERSION) }, () => {
  let redis: TestRedis;

  before(async () => {
    redis = await startServer();
  });
  after(async () => {
    await redis.stop();
    former?.remove();
  });

  async function answersOf(t: TestContext, redisUrl: string | undefined) {
    const stores: ReplayStore[] = [];
    const dataDirectory = temporaryDirectory();
    let passedMs = 0;
    const path = 'gateway/idempotency/open-store.ts';
    const { openAnswerStore } = await (former as FormerTree).load<{ openAnswerStore: OpenFormerStore }>(path);
    const options = { redisUrl, dataDirectory, acceptOneWay: false, now: () => Date.now() + passedMs, onChange() {} };
    const present =
      redisUrl === undefined
        ? createSqliteReplayStore({ ...options, directory: dataDirectory })
        : await createRedisReplayStore({ ...options, url: redisUrl });
    for (const store of [present, await openAnswerStore(options)]) {
      t.after(() => store.close());
      stores.push({ ...store, begin: async (...given) => named(await store.begin(...given)) });
    }
    return {
      stores,
      /** Ends all leases. */
      async pass(ms: number) {
        passedMs += ms;
        if (redisUrl === undefined) return;
        const client = lookInside(redisUrl);
        for (const name of await client.keys('idem:*')) await client.pexpire(name, (await client.pttl(name)) - ms);
        client.disconnect();
      },
    };
  }

  for (const kind of ['embedded', 'redis'] as const) {
    for (const [writer, reader, one, other] of orders) {
      it(`answers and claims, ${kind}: ${writer} writes, ${reader} reads`, async (t) => {
        const { stores, pass } = await answersOf(t, kind === 'redis' ? redis.url : undefined);
        const [write, read] = [stores[one], stores[other]] as [ReplayStore, ReplayStore];
        const base = newAnswerKey();
        const key = (digest: string) => ({ ...base, digest });
        const begin = (store: ReplayStore, digest: string, more: Parameters<typeof claimOf>[3] = {}) =>
          store.begin(key(digest), claimOf('f', store === write ? 'writer' : 'reader', LEASE_MS, more));
        const outcome = Buffer.from(
          '{"kind":"answer","requestId":"writer","status":200,"headers":[]}\n\x00\xff é',
          'latin1',
        );
        for (const digest of ['done', 'empty', 'gone', 'lost', 'running', 'again']) await begin(write, digest);
        await write.finish(key('done'), 'writer', outcome, RETENTION);
        await write.finish(key('empty'), 'writer', undefined, RETENTION);
        await write.forget(key('gone'), 'writer');
        await write.giveUp(key('lost'), 'writer', RETENTION);

        assert.deepEqual(await begin(read, 'done'), { state: 'done', outcome });
        assert.deepEqual(await begin(read, 'empty'), { state: 'done', outcome: undefined });
        assert.deepEqual(await begin(read, 'gone'), { state: 'started' });
        const unknown = { state: 'unknown', owner: 'writer', sentAtMs: SENT_AT_MS, upstream: 'things' };
        assert.deepEqual(await begin(read, 'lost'), unknown);
        assert.deepEqual(await begin(read, 'running'), { state: 'running' });
        assert.equal((await read.begin(key('done'), claimOf('another', 'reader', LEASE_MS))).state, 'different');

        await pass(LEASE_MS + 1);
        assert.deepEqual(await begin(read, 'running'), unknown);
        assert.deepEqual(await begin(read, 'again', { runsAgain: true }), { state: 'started' });
        await write.finish(key('again'), 'writer', outcome, RETENTION);
        assert.deepEqual(await begin(write, 'again'), { state: 'running' }, 'its owner is another one now');
        await write.finish(key('running'), 'writer', outcome, RETENTION);
        assert.deepEqual(await begin(read, 'running'), { state: 'done', outcome }, 'the owner continued');
      });

      it(`what an organization may store, ${kind}: ${writer} stores first`, async (t) => {
        const { stores } = await answersOf(t, kind === 'redis' ? redis.url : undefined);
        const [write, read] = [stores[one], stores[other]] as [ReplayStore, ReplayStore];
        const key = newAnswerKey();
        const narrow = { ...RETENTION, organizationBytesMax: 2000 };
        for (const [digest, store] of [
          ['first', write],
          ['second', read],
        ] as const) {
          await store.begin({ ...key, digest }, claimOf('f', digest, LEASE_MS));
          await store.finish({ ...key, digest }, digest, Buffer.alloc(1500, 'x'), narrow);
        }
        const outcomes = await Promise.all(
          ['first', 'second'].map((digest) => read.begin({ ...key, digest }, claimOf('f', 'me', LEASE_MS))),
        );
        assert.deepEqual(
          outcomes.map((begun) => 'outcome' in begun && begun.outcome?.length),
          [1500, undefined],
        );
      });

      it(`organizations, keys and audit log, ${kind}: ${writer} writes, ${reader} reads`, async (t) => {
        const directory = temporaryDirectory();
        const own = kind === 'redis' ? await startServer() : undefined;
        t.after(() => own?.stop());
        const stores: KeyStore[] = [];
        const [sqlite, onRedis] = [
          await both(presentKeys, 'gateway/auth/store/sqlite/store.ts'),
          await both(presentRedisKeys, 'gateway/auth/store/redis/store.ts'),
        ];
        for (const index of [0, 1] as const) {
          const options = { pepperFingerprint, now: Date.now };
          const store =
            own === undefined
              ? sqlite[index].createSqliteKeyStore({ directory, ...options })
              : await onRedis[index].openRedisStore({ url: own.url, ...options });
          t.after(() => store.close());
          stores.push(store);
        }
        const [write, read] = [stores[one], stores[other]] as [KeyStore, KeyStore];
        for (const id of ['org_acme', 'org_other']) await write.organizations.create(organization({ id }), 'writer');
        await setTier(write, 'premium');
        await write.organizations.suspend('org_other', 'writer');
        const kept = [issue().record, issue({ scopes: ['jobs:read'] }).record, issue().record];
        for (const key of kept) await write.keys.create(key);
        const [first, second, third] = kept as [(typeof kept)[0], (typeof kept)[0], (typeof kept)[0]];
        await write.keys.revoke(first.id, 'writer', "a customer's laptop");
        await write.keys.rotate(second.id, issue().record, Date.now() + 60_000);
        await write.keys.noteUses(new Map([[third.id, 1_700_000_000_000]]));
        // A change that the former version does not make, and reads: it takes the records as they are, and knows no such kind.
        if (write.keys.change !== undefined) {
          const patch = { name: 'ü', scopes: ['jobs:read'], allowedCidrs: ['192.0.2.1'], expiresAtMs: undefined };
          await write.keys.change(third.id, { ...patch, expiresAtMs: Date.now() + 60_000 }, 'writer');
          await write.keys.change(third.id, patch, { by: 'writer', requestId: 'req_1' });
          await write.organizations.change('org_acme', { contacts: ['ops@example.com'] }, 'writer');
        }
        await noteReload(write);

        assert.deepEqual(await read.organizations.list(), await write.organizations.list());
        assert.deepEqual(await read.keys.list(), await write.keys.list());
        assert.deepEqual(await read.audit.list({ limit: 50 }), await write.audit.list({ limit: 50 }));
        const found = await read.keys.findByDigest(third.digest);
        assert.deepEqual([found?.key.id, found?.organization.tier], [third.id, 'premium']);
        await read.keys.revoke(third.id, 'reader', undefined);
        assert.ok((await write.keys.get(third.id))?.revokedAtMs);
        await write.instances.report({ id: 'a', host: 'one', pid: 1, startedAtMs: 1, position: 2, graceMs: 60_000 });
        assert.deepEqual(
          (await read.instances.list()).map(({ id, position }) => [id, position]),
          [['a', 2]],
        );
      });

      it(`uses of deprecated operations, ${kind}: ${writer} writes, ${reader} adds`, async (t) => {
        const directory = temporaryDirectory();
        const [sqlite, onRedis] = [
          await both(presentUses, 'gateway/versions/sqlite-store.ts'),
          await both(presentRedisUses, 'gateway/versions/redis-store.ts'),
        ];
        const day = dayOf(Date.now());
        const organizationOfUse = `org_${randomUUID()}`;
        const stores: UseStore[] = [];
        for (const index of [one, other] as const) {
          const store =
            kind === 'embedded'
              ? sqlite[index].createSqliteUseStore(directory, Date.now)
              : await onRedis[index].createRedisUseStore(redis.url, Date.now);
          t.after(() => store.close());
          stores.push(store);
          await store.add([
            { day, organization: organizationOfUse, operation: 'listOld', calls: 2, lastAtMs: Date.now() },
          ]);
        }
        const listed = (await stores[1]?.list(day))?.filter((use) => use.organization === organizationOfUse);
        assert.deepEqual(
          listed?.map(({ calls }) => calls),
          [4],
        );
      });

      it(`certificates, ${kind}: ${writer} writes, ${reader} reads`, async (t) => {
        const directory = temporaryDirectory();
        const [sqlite, onRedis] = [
          await both(presentAcme, 'gateway/acme/sqlite-store.ts'),
          await both(presentRedisAcme, 'gateway/acme/redis-store.ts'),
        ];
        const open = async (index: 0 | 1) => {
          const store =
            kind === 'embedded'
              ? sqlite[index].createSqliteAcmeStore({ directory, now: Date.now })
              : await onRedis[index].openRedisAcmeStore(redis.url);
          t.after(() => store.close());
          return store;
        };
        const [write, read] = [await open(one), await open(other)];
        const name = `certificate ${randomUUID()}`;
        const token = (await write.take(60_000)) ?? 0;
        assert.equal(await read.take(60_000), undefined, 'the lease holds for both');
        assert.equal(await write.write(token, { [name]: '{"names":["api.example.com"]}' }), true);
        await write.release(token);
        assert.equal((await read.read()).get(name), '{"names":["api.example.com"]}');
      });
    }
  }

  for (const [holder, next, one, other] of orders) {
    it(`certificates, redis: a failover loses the lease of ${holder}, and ${next} alone has it then`, async (t) => {
      const versions = await both(presentRedisAcme, 'gateway/acme/redis-store.ts');
      const open = async (index: 0 | 1) => {
        const store = await versions[index].openRedisAcmeStore(redis.url);
        t.after(() => store.close());
        return store;
      };
      const [first, second] = [await open(one), await open(other)];
      const inside = lookInside(redis.url);
      t.after(() => inside.disconnect());
      const lease = '{gateway}:acme:lease';
      await inside.hset(lease, 'token', 4_000_000_000);
      await first.release((await first.take(60_000)) ?? 0);
      const before = await inside.hgetall(lease);
      const lost = (await first.take(60_000)) ?? 0;
      await inside.multi().del(lease).hset(lease, before).exec();
      const taken = (await second.take(60_000)) ?? 0;

      assert.equal(await first.confirm(lost, 60_000), false);
      assert.equal(await first.write(lost, { [randomUUID()]: 'of the first' }), false);
      await first.release(lost);
      assert.equal(await first.take(60_000), undefined, 'it is held by the second');
      assert.equal(await second.confirm(taken, 60_000), true);
      assert.equal(await second.write(taken, { [randomUUID()]: 'of the second' }), true);

      await second.release(taken);
      assert.notEqual(await first.take(1), undefined, 'it is free after its release');
      await eventually(async () => (await second.take(1)) !== undefined);
    });
  }

  for (const [writer, reader, one, other] of orders) {
    it(`generated secrets, embedded: ${writer} makes them, ${reader} reads them`, async (t) => {
      const dataDirectory = temporaryDirectory();
      const versions = await both(presentSecrets, 'gateway/config/secrets.ts');
      const open = (index: 0 | 1, redisUrl: string | undefined, directory = dataDirectory) =>
        versions[index].loadSecrets({ directory: undefined, environment: {}, dataDirectory: directory, redisUrl });
      const pepper = await open(one, undefined).keyPepper();
      assert.equal(await open(other, undefined).keyPepper(), pepper);
      const own = await startServer();
      t.after(() => own.stop());
      const shared = await open(one, own.url).keyPepper();
      assert.equal(await open(other, own.url, temporaryDirectory()).keyPepper(), shared);
    });
  }

  it('limits: what both admit together is never more than the limit', async (t) => {
    const stores: CounterStore[] = [];
    for (const { createRedisCounterStore } of await both(presentCounters, 'gateway/limits/redis/store.ts')) {
      const store = createRedisCounterStore({
        ...{ url: redis.url, deadlineMs: PATIENCE_MS, whenStoreIsAway: () => 'refuse', now: Date.now },
      });
      t.after(() => store.close());
      await eventually(async () => store.status().state === 'up');
      stores.push(store);
    }
    const charges = [2, 1].map((cost, at) => ({
      ...{
        counter: `rl:{${randomUUID()}}:${at}`,
        policy: `${at}`,
        requests: 150,
        windowSeconds: 600,
        windowMs: 600_000,
      },
      ...{ cost, enforce: true },
    }));
    const [first] = charges;
    const tag = first?.counter.match(/\{.*\}/)?.[0] ?? '';
    const shared = charges.map((charge) => {
      const counter = charge.counter.replace(/\{.*\}/, tag);
      // The version before calls the name `key`.
      return { ...charge, counter, key: counter };
    });
    const decisions = await Promise.all(Array.from({ length: 200 }, async (_, i) => stores[i % 2]?.decide(shared)));
    const admitted = decisions.filter((decision) => decision?.outcome === 'admitted');
    assert.deepEqual(
      [admitted.length, new Set(decisions.map((decision) => decision?.source))],
      [75, new Set(['redis'])],
    );
    const reads = await Promise.all(
      stores.map(async (store) => (await store.decide(shared.map((charge) => ({ ...charge, cost: 0 })))).states),
    );
    assert.deepEqual(
      reads[0]?.map(({ remaining }) => remaining),
      [0, 75],
    );
    assert.deepEqual(
      reads[1]?.map(({ remaining }) => remaining),
      [0, 75],
    );
  });

  it('failures of an address: both count in one counter', async (t) => {
    const [present, before] = (await both(presentFailures, 'gateway/limits/failure-counter.ts')).map(
      ({ openFailureCounters }) => {
        const counters = openFailureCounters(redis.url);
        t.after(() => counters.close());
        // The version before takes the rules themselves, and not the function.
        const rules = { failures: 4, windowSeconds: 60 };
        return counters.counter(
          'address',
          Object.assign(() => rules, rules),
        );
      },
    );
    // Until its connection is ready, each counts by itself.
    for (const counter of [present, before])
      await eventually(async () => (await counter?.count(randomUUID()))?.leftMs !== undefined);
    const address = randomUUID();
    const usedUp = [];
    for (const counter of [present, before, present, before]) usedUp.push((await counter?.count(address))?.isUsedUp);
    assert.deepEqual(usedUp, [false, false, false, true]);
  });
});
