// Instances on one Redis order once. A successor continues the order of an instance that was killed at any step, and an instance that was
// paused does nothing after its successor has begun.

import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { describe, it } from 'node:test';
import type { AcmeStore } from '../../../gateway/acme/acme-store.ts';
import { askGateways } from '../../../gateway/acme/asking.ts';
import { change } from '../../../gateway/acme/records.ts';
import { openRedisAcmeStore } from '../../../gateway/acme/redis-acme-store.ts';
import type { AcmeRequest } from '../../support/acme-door.ts';
import { closesAfterAll, closesAfterEach } from '../../support/closing.ts';
import { startPebble } from '../../support/pebble.ts';
import { apartAt, startRedis, wipe } from '../../support/redis.ts';
import { until } from './acme-gateway.ts';
import { startKeeper, type TestKeeper, type TestKeeperOptions } from './keepers.ts';

const start = closesAfterEach();
let url: string;

const opened = closesAfterAll();
const redis = await opened(startRedis());
const pebble = await opened(startPebble());

/** Starts instances on a store of their own; validations go to all of them in turn. */
async function instances(
  count: number,
  certificates: readonly (readonly string[])[],
  options: Pick<TestKeeperOptions, 'leaseMs'> = {},
): Promise<TestKeeper[]> {
  url = apartAt(redis.url);
  const all = await Promise.all(
    Array.from({ length: count }, () => start(startKeeper({ url, pebble, certificates, ...options }))),
  );
  pebble.validateAt({ tls: all.map(({ port }) => port) });
  return all;
}

const untilShown = (keeper: TestKeeper, count = 1) => until(keeper.shown, (shown) => shown.length === count);

/** The kinds of the records that are left. */
async function recordsLeft(): Promise<string[]> {
  const store = await openRedisAcmeStore(url);
  try {
    return [...new Set([...(await store.read()).keys()].map((name) => name.split(' ')[0] ?? ''))].sort();
  } finally {
    store.close();
  }
}

it('several instances that start at once order once, and any of them answers', async () => {
  const orders = pebble.count('order-plz');
  const accounts = pebble.count('sign-me-up');
  // No instance dies here, so no lease may end before its holder has finished.
  const all = await instances(3, [['a.test', 'b.test', 'c.test', 'd.test'], ['e.test']], { leaseMs: 20_000 });
  const shown = await Promise.all(all.map((one) => untilShown(one, 2)));
  assert.equal(new Set(shown.map(String)).size, 1);
  assert.equal(pebble.count('order-plz') - orders, 2);
  assert.equal(pebble.count('sign-me-up') - accounts, 1);
  const issued = all.flatMap(({ events }) => events);
  assert.deepEqual(
    issued.map(({ kind }) => kind),
    ['issued', 'issued'],
  );
});

/** Requests of an order, how often each was sent before, and whether the instance dies before or after the server has it. */
const moments: readonly (readonly ['at' | 'after', path: string, earlier: number])[] = [
  ['at', 'sign-me-up', 0],
  ['after', 'order-plz', 0],
  ['at', 'chalZ', 0],
  ['after', 'chalZ', 0],
  ['at', 'finalize-order', 0],
  ['after', 'finalize-order', 0],
  ['at', 'certZ', 0],
];

describe('the instance that orders is killed', () => {
  for (const [when, path, earlier] of moments) {
    it(`${when} ${path}, and its successor finishes the order`, async () => {
      const [first, second] = (await instances(2, [['a.test']])) as [TestKeeper, TestKeeper];
      const orders = pebble.count('order-plz');
      let seen = 0;
      // The instance that sends is the one that has the lease.
      const isHolder = (one: TestKeeper) => one.requests() > 0;
      const strike = (request: AcmeRequest) => {
        if (request.path !== path || seen++ !== earlier) return;
        const holder = isHolder(first) ? first : second;
        // A balancer takes the instance out.
        pebble.validateAt({ tls: [(holder === first ? second : first).port] });
        if (when === 'at') holder.kill();
        else setImmediate(holder.kill);
      };
      pebble.onRequest = strike;
      const survivor = await until(
        () => [first, second].find((one) => one.shown().length === 1),
        (one) => one !== undefined,
      );
      pebble.onRequest = undefined;
      assert.ok(survivor !== undefined);
      await until(recordsLeft, (left) => left.join() === 'account,certificate,renewal,seal');
      // An order whose address the killed instance did not come to store is lost; any other one is continued.
      const isLost = path === 'order-plz';
      assert.ok(pebble.count('order-plz') - orders <= (isLost ? 2 : 1));
    });
  }
});

it('an instance that is stopped waits for the answer to its order, and its successor continues the order', async () => {
  const [first, second] = (await instances(2, [['a.test']], { leaseMs: 20_000 })) as [TestKeeper, TestKeeper];
  const orders = pebble.count('order-plz');
  const ended = Promise.withResolvers<TestKeeper>();
  pebble.onRequest = ({ path }) => {
    if (path !== 'order-plz') return;
    pebble.onRequest = undefined;
    const [holder, successor] = first.requests() > 0 ? [first, second] : [second, first];
    pebble.validateAt({ tls: [successor.port] });
    void holder.close().then(() => ended.resolve(successor));
  };
  await untilShown(await ended.promise);
  assert.equal(pebble.count('order-plz') - orders, 1);
});

it('an instance that was paused sends and writes nothing after its successor has begun', async () => {
  const [first, second] = (await instances(2, [['a.test']])) as [TestKeeper, TestKeeper];
  const paused = Promise.withResolvers<{ holder: TestKeeper; resume: () => void; sent: number }>();
  pebble.onRequest = ({ path }) => {
    if (path !== 'chalZ') return;
    pebble.onRequest = undefined;
    const holder = first.requests() > 0 ? first : second;
    paused.resolve({ holder, resume: holder.pause(), sent: holder.requests() });
  };
  const { holder, resume, sent } = await paused.promise;
  const successor = holder === first ? second : first;
  const [serial] = await untilShown(successor);
  // The last thing that is due; any instance may ask for it.
  await until(recordsLeft, (left) => left.includes('renewal'));
  resume();
  assert.deepEqual(await untilShown(holder), [serial]);
  assert.equal(holder.requests(), sent);
  assert.deepEqual(holder.events, []);
  assert.deepEqual(await untilShown(successor), [serial]);
});

it('an instance with another certificate_key does not start, and orders nothing', async () => {
  const [first] = (await instances(1, [['a.test']])) as [TestKeeper];
  await untilShown(first);
  const orders = pebble.count('order-plz');
  const other = startKeeper({ url, pebble, certificates: [['a.test']], secret: 'another secret of this one' });
  await assert.rejects(other, /encrypted with another certificate_key/);
  assert.equal(pebble.count('order-plz'), orders);
});

it('a store that has lost everything gets the certificate back, and nothing is ordered', async () => {
  const [first] = (await instances(1, [['a.test']])) as [TestKeeper];
  const shown = await untilShown(first);
  await until(recordsLeft, (left) => left.includes('renewal'));
  const orders = pebble.count('order-plz');
  await wipe(url);
  await until(recordsLeft, (left) => left.includes('certificate'));
  assert.deepEqual(first.shown(), shown);
  assert.equal(pebble.count('order-plz'), orders);
});

it('an instance whose clock is years ahead holds up no attempt of the others', async (test) => {
  test.after(() => {
    pebble.fault = undefined;
  });
  url = apartAt(redis.url);
  const certificates = [['a.test']];
  pebble.fault = ({ path }) => (path === 'order-plz' ? { status: 503, type: 'serverInternal' } : undefined);
  const fast = await start(startKeeper({ url, pebble, certificates, aheadMs: 2000 * 86_400_000 }));
  const [{ failure } = { failure: undefined }] = await until(
    () => fast.keeper.kept(),
    ([kept]) => kept?.failure !== undefined,
  );
  assert.ok((failure?.nextAtMs ?? 0) < Date.now() + 120_000, 'by the clock of Redis');
  pebble.fault = undefined;
  // As an instance of the version before has left it.
  await write((records) => ({ ...records, nextAtMs: Date.now() + 2000 * 86_400_000 }), 'attempts');
  const usual = await start(startKeeper({ url, pebble, certificates }));
  pebble.validateAt({ tls: [usual.port, fast.port] });
  await untilShown(usual);
});

it('an account that the server has lost is registered anew at once', async () => {
  const [first] = (await instances(1, [['a.test']])) as [TestKeeper];
  await untilShown(first);
  const [before] = first.shown();
  await write((account) => ({ ...account, url: `${account.url}00` }), 'account');
  const store = await openRedisAcmeStore(url);
  await store.put(change('asked', 'a.test', { kind: 'order', by: 'ada', atMs: Date.now() }));
  store.close();
  await until(first.shown, ([shown]) => shown !== before);
  assert.deepEqual(
    first.events.map(({ kind }) => kind),
    ['issued', 'issued'],
  );
});

it('a certificate that an operator revokes while its successor is ordered is revoked, and the successor stays', async () => {
  const [keeper] = (await instances(1, [['a.test']])) as [TestKeeper];
  await untilShown(keeper);
  const serial = () => new X509Certificate(keeper.keeper.shown()[0]?.certificate ?? '').serialNumber;
  const former = serial();
  const store = await openRedisAcmeStore(url);
  const held = Promise.withResolvers<void>();
  const isReached = new Promise<void>((resolve) => {
    pebble.onRequest = ({ path }) => path === 'finalize-order' && resolve();
  });
  pebble.hold = { path: 'finalize-order', until: held.promise };
  const ask = (kind: 'order' | 'revoke') => askGateways({ store, id: 'a.test', kind, by: 'ada', now: Date.now });
  const ordered = ask('order');
  await isReached;
  const revoked = ask('revoke');
  await until(recordsLeft, (left) => left.includes('revocation'));
  pebble.hold = undefined;
  pebble.onRequest = undefined;
  held.resolve();
  assert.deepEqual(await Promise.all([ordered, revoked]), [undefined, undefined]);
  store.close();
  assert.equal(await pebble.statusOf(former), 'Revoked');
  await until(serial, (shown) => shown !== former);
  assert.equal(await pebble.statusOf(serial()), 'Valid');
});

it('a request that the store has lost is not taken for granted', async () => {
  await instances(1, [['a.test']]);
  const store = await openRedisAcmeStore(url);
  await until(recordsLeft, (left) => left.includes('certificate'));
  const lost: AcmeStore = { ...store, put: () => undefined };
  for (const kind of ['order', 'revoke', 'account key'] as const)
    assert.match((await askGateways({ store: lost, id: 'a.test', kind, by: 'ada', now: Date.now })) ?? '', /has lost/);
  store.close();
});

it('an account whose latest key the store has lost is registered anew at once', async () => {
  const [keeper] = (await instances(1, [['a.test']])) as [TestKeeper];
  const [before] = await untilShown(keeper);
  const store = await openRedisAcmeStore(url);
  const ask = (id: string, kind: 'order' | 'account key') => askGateways({ store, id, kind, by: 'ada', now: Date.now });
  const former = [...(await store.read())].filter(([name]) => name.startsWith('account '));
  assert.equal(await ask('server', 'account key'), undefined);
  await store.put(Object.fromEntries(former));
  assert.equal(await ask('a.test', 'order'), undefined);
  await until(keeper.shown, ([shown]) => shown !== before);
  store.close();
});

/** Changes the one record of a kind. */
async function write(changed: (record: Record<string, unknown>) => object, kind: string): Promise<void> {
  const store = await openRedisAcmeStore(url);
  const [name, text] = [...(await store.read())].find(([one]) => one.startsWith(`${kind} `)) as [string, string];
  await store.put({ [name]: JSON.stringify(changed(JSON.parse(text))) });
  store.close();
}
