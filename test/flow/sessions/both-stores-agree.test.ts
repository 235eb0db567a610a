// Sessions in SQLite and in Redis: the same promises, tried on both.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { IDLE_SLACK_MS, USE_GRAIN } from '../../../gateway/sessions/store/record.ts';
import { openRedisSessionStore } from '../../../gateway/sessions/store/redis/redis-session-store.ts';
import { SENDERS_MAX } from '../../../gateway/sessions/store/senders.ts';
import type {
  RefreshLease,
  RefreshTake,
  Session,
  SessionStore,
} from '../../../gateway/sessions/store/session-store.ts';
import { createSqliteSessionStore } from '../../../gateway/sessions/store/sqlite/sqlite-session-store.ts';
import { createKeyRing } from '../../../gateway/shared/stores/seal.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { lookInside, startRedis, type TestRedis } from '../../support/redis.ts';
import { boundsAt, newSession, ring, SECRET, signIn, tokens } from './store-samples.ts';

const LEASE_MS = 5000;
const TERMS = { forMs: LEASE_MS, notAfterMs: Number.MAX_SAFE_INTEGER, reuseMs: 0 };
const MINUTE_MS = 60_000;

interface Opened {
  readonly store: SessionStore;
  /** Opens the same data with other keys. */
  again(secrets: readonly string[]): Promise<SessionStore>;
  /** Everything that is stored, as bytes. */
  dump(): Promise<Buffer>;
  /** Damages what never changes of a session. */
  damage(session: Session): Promise<void>;
  close(): Promise<void>;
}

async function openSqlite(): Promise<Opened> {
  const directory = temporaryDirectory();
  const open = (keys = ring) => createSqliteSessionStore({ directory, keys, now: Date.now });
  const store = open();
  return {
    store,
    again: async (secrets) => open(createKeyRing(() => secrets, 'tests of sessions')),
    dump: async () =>
      Buffer.concat(['sessions.db', 'sessions.db-wal'].map((file) => readFileSync(join(directory, file)))),
    async damage({ hash }) {
      const { DatabaseSync } = await import('node:sqlite');
      const database = new DatabaseSync(join(directory, 'sessions.db'));
      database.prepare('UPDATE sessions SET fixed = substr(fixed, 2) WHERE hash = ?').run(hash);
      database.close();
    },
    async close() {
      await store.close();
    },
  };
}

async function openRedis(): Promise<Opened> {
  const redis: TestRedis = await startRedis();
  const open = (keys = ring) => openRedisSessionStore({ url: redis.url, keys });
  const store = await open();
  const inside = lookInside(redis.url);
  const prefix = new URL(redis.url).searchParams.get('keyPrefix') ?? '';
  return {
    store,
    again: (secrets) => open(createKeyRing(() => secrets, 'tests of sessions')),
    async dump() {
      const names = await inside.keys(`${prefix}*`);
      const values = await Promise.all(names.map((name) => inside.dumpBuffer(name)));
      const texts = await Promise.all(
        names.map(async (name) =>
          (await inside.type(name)) === 'hash' ? JSON.stringify(await inside.hgetall(name)) : '',
        ),
      );
      return Buffer.concat([
        ...values.map((value) => value ?? Buffer.alloc(0)),
        Buffer.from([...names, ...texts].join('\n')),
      ]);
    },
    async damage({ hash }) {
      await inside.hset(`${prefix}{gateway}:sessions:s:${hash}`, 'fixed', '{"provider":');
    },
    async close() {
      inside.disconnect();
      await store.close();
      await redis.stop();
    },
  };
}

for (const [name, open] of [
  ['SQLite', openSqlite],
  ['Redis', openRedis],
] as const) {
  describe(`sessions in ${name}`, () => {
    let opened: Opened;
    let store: SessionStore;
    before(async () => {
      opened = await open();
      ({ store } = opened);
    });
    after(() => opened.close());

    it('a session is found by its hash and its id, with its tokens', async () => {
      const fresh = newSession();
      const stored = await store.create(fresh, tokens(), await boundsAt(store));
      assert.ok(stored);
      const { cookie: _cookie, livesMs, ...given } = fresh;
      assert.deepEqual(await store.find(fresh.hash), { ...stored, ...given });
      assert.deepEqual(await store.get(fresh.id), stored);
      assert.equal(stored.endsAtMs - stored.createdAtMs, livesMs);
      assert.equal(stored.accessEndsAtMs - stored.createdAtMs, 300_000);
      const { accessLivesMs: _lives, ...plain } = tokens();
      assert.deepEqual(store.openTokens(stored), plain);
      assert.equal(await store.find('unknown'), undefined);
      assert.equal(await store.get('ses_unknown'), undefined);
      const few = await signIn(store, {}, tokens('few', { refreshToken: undefined, idToken: undefined }));
      assert.equal(few.refreshable, false);
      assert.equal(store.openTokens(few).refreshToken, undefined);
    });

    it('a stolen copy shows no token and no cookie; keys are rotated', async () => {
      const fresh = newSession({ providerSid: 'sid of a stolen copy' });
      const before = await store.create(fresh, tokens('stolen'), await boundsAt(store));
      assert.ok(before);
      const copy = await opened.dump();
      assert.ok(copy.includes(before.hash), 'the copy has the session');
      for (const secret of [fresh.cookie, 'token-stolen', Buffer.from('token-stolen').toString('base64').slice(2, -3)])
        assert.ok(!copy.includes(secret), `the copy has ${secret}`);
      const rotated = await opened.again(['a newer secret for tokens', SECRET]);
      const without = await opened.again(['a newer secret for tokens']);
      assert.equal(rotated.openTokens(before).accessToken, tokens('stolen').accessToken);
      assert.throws(() => without.openTokens(before), /cannot be decrypted: no key in session_keys/);
      const after = await signIn(rotated, {}, tokens('later'));
      assert.equal(without.openTokens(after).accessToken, tokens('later').accessToken);
      assert.throws(() => store.openTokens({ ...after, sealedTokens: before.sealedTokens }), /cannot be decrypted/);
      await rotated.close();
      await without.close();
    });

    it('damaged bytes are an outage, and no missing session', async () => {
      const session = await signIn(store);
      await opened.damage(session);
      await assert.rejects(async () => store.find(session.hash));
    });

    it('a session can be ended as long as an instance may know of a use that is not written', async () => {
      const session = await signIn(store, { idleMs: -USE_GRAIN.most });
      assert.equal((await store.end(session.id, 'operator'))?.id, session.id);
    });

    it('sessions end by themselves: absolutely, and when they are idle', async () => {
      const short = await signIn(store, { livesMs: 300 });
      const idle = await signIn(store, { idleMs: 350 - IDLE_SLACK_MS });
      const used = await signIn(store, { idleMs: 1600 - IDLE_SLACK_MS });
      assert.ok(await store.find(short.hash));
      await sleep(500);
      assert.equal(await store.find(short.hash), undefined);
      assert.equal(await store.get(idle.id), undefined);
      assert.equal(await store.find(idle.hash), undefined);
      await store.touch(new Map([[used.hash, await store.nowMs()]]));
      await sleep(1300);
      assert.ok(await store.find(used.hash), 'a use prolongs a session');
      assert.deepEqual(await store.list({ organization: idle.organization }, { limit: 10 }), []);
    });

    it('the last use never goes back, is never in the future, and revives nothing', async () => {
      const session = await signIn(store);
      await sleep(5);
      const nowMs = await store.nowMs();
      await store.touch(new Map([[session.hash, nowMs + 3_600_000]]));
      const used = await store.find(session.hash);
      assert.ok(used && used.usedAtMs > session.usedAtMs && used.usedAtMs < nowMs + MINUTE_MS);
      await store.touch(
        new Map([
          [session.hash, nowMs - 1000],
          ['unknown', nowMs],
        ]),
      );
      assert.deepEqual(await store.find(session.hash), used);
      await store.end(session.id, 'operator');
      await store.touch(new Map([[session.hash, nowMs]]));
      assert.equal(await store.find(session.hash), undefined);
    });

    it('an end is final, is reported once, and is in the log of ends', async () => {
      const session = await signIn(store);
      const { latest } = await store.ends.since(0, 1);
      assert.deepEqual(await store.end(session.id, 'signed_out'), session);
      assert.equal(await store.end(session.id, 'operator'), undefined);
      assert.equal(await store.find(session.hash), undefined);
      const { changes, latest: after, nowMs } = await store.ends.since(latest, 10);
      assert.equal(after, latest + 1);
      assert.ok(Math.abs(nowMs - Date.now()) < 5000);
      const { atMs, ...end } = changes[0] ?? { atMs: 0 };
      assert.deepEqual(end, { sequence: after, id: session.id, hash: session.hash, reason: 'signed_out' });
      assert.ok(Math.abs(atMs - nowMs) < 5000);
      assert.deepEqual((await store.ends.since(after, 10)).changes, []);
    });

    it('ends are announced', async () => {
      const session = await signIn(store);
      const heard = Promise.withResolvers<void>();
      let isReady = false;
      const stop = store.ends.subscribe(() => {
        if (isReady) heard.resolve();
      });
      await sleep(100);
      isReady = true;
      await store.end(session.id, 'operator');
      await heard.promise;
      stop();
    });

    it('a logout token ends the sessions of its sid, or of its subject, and is taken once', async () => {
      const provider = 'main';
      const rememberUntilMs = (await store.nowMs()) + MINUTE_MS;
      const logout = (jti: string, of: { sid?: string; subject?: string }) =>
        store.endByProvider({ provider, sid: of.sid, subject: of.subject, jti, rememberUntilMs });
      const one = await signIn(store, { subject: 'twice', providerSid: 'sid one' });
      const two = await signIn(store, { subject: 'twice', providerSid: 'sid two' });
      const other = await signIn(store, { subject: 'other', providerSid: 'sid one', provider: 'second' });
      assert.deepEqual(await logout('a', { sid: 'sid one', subject: 'twice' }), [one]);
      assert.equal(await logout('a', { subject: 'twice' }), undefined);
      assert.ok(await store.find(two.hash), 'a replayed token ends nothing');
      assert.deepEqual(await logout('b', { subject: 'twice' }), [two]);
      assert.deepEqual(await logout('c', { sid: 'unknown' }), []);
      assert.ok(await store.find(other.hash), 'another provider has names of its own');
    });

    it('a logout wins against a login in progress', async () => {
      const provider = 'main';
      const rememberUntilMs = (await store.nowMs()) + MINUTE_MS;
      const early = await boundsAt(store);
      await store.endByProvider({ provider, sid: 'racing', subject: undefined, jti: 'r1', rememberUntilMs });
      const bySid = newSession({ providerSid: 'racing' });
      assert.equal(await store.create(bySid, tokens(), await boundsAt(store)), undefined);
      assert.equal(await store.find(bySid.hash), undefined);
      await store.endByProvider({ provider, sid: undefined, subject: 'racer', jti: 'r2', rememberUntilMs });
      await store.endSubject(provider, 'removed', 'operator');
      for (const subject of ['racer', 'removed'])
        assert.equal(await store.create(newSession({ subject }), tokens(), early), undefined);
      await sleep(2);
      const again = await store.create(newSession({ subject: 'racer' }), tokens(), await boundsAt(store));
      assert.ok(again, 'a login that began afterwards succeeds');
      const begunAtMs = (await store.nowMs()) - 16 * MINUTE_MS;
      assert.equal(await store.create(newSession(), tokens(), { begunAtMs, perPersonMax: 1 }), undefined);
      const future = { begunAtMs: (await store.nowMs()) + MINUTE_MS, perPersonMax: 1 };
      assert.equal(await store.create(newSession(), tokens(), future), undefined);
    });

    it('a person has a bounded number of sessions, and the oldest ones end first', async () => {
      const bounds = await boundsAt(store, { perPersonMax: 2 });
      const made: Session[] = [];
      for (let index = 0; index < 4; index += 1) {
        const session = await store.create(newSession({ subject: 'many' }), tokens(), bounds);
        made.push(session as Session);
        await sleep(2);
      }
      const left = await store.list({ person: { provider: 'main', subject: 'many' } }, { limit: 10 });
      assert.deepEqual(left, made.slice(2));
      const { changes } = await store.ends.since(((await store.ends.since(0, 1)).latest as number) - 1, 10);
      assert.equal(changes[0]?.reason, 'replaced');
      assert.deepEqual(await store.endSubject('main', 'many', 'operator'), made.slice(2));
    });

    it('of the sessions of a person, another login ends those whose last use is longest ago', async () => {
      const bounds = await boundsAt(store, { perPersonMax: 3 });
      const signInAgain = async () => {
        await sleep(2);
        return (await store.create(newSession({ subject: 'busy' }), tokens(), bounds)) as Session;
      };
      const [first, second, third] = [await signInAgain(), await signInAgain(), await signInAgain()];
      await sleep(2);
      const usedAtMs = await store.nowMs();
      await store.touch(new Map([first, third].map(({ hash }) => [hash, usedAtMs])));
      const fourth = await signInAgain();
      const idsLeft = async () =>
        (await store.list({ person: { provider: 'main', subject: 'busy' } }, { limit: 10 })).map(({ id }) => id);
      assert.deepEqual(await idsLeft(), [first.id, third.id, fourth.id]);
      // A lower bound ends several: those with the earliest uses, and of equal ones the earlier logins.
      const last = await store.create(
        newSession({ subject: 'busy' }),
        tokens(),
        await boundsAt(store, { perPersonMax: 2 }),
      );
      assert.deepEqual(await idsLeft(), [fourth.id, last?.id]);
      assert.equal(await store.find(second.hash), undefined);
    });

    it('the next part of a list begins after its last session', async () => {
      const made: Session[] = [];
      for (let index = 0; index < 7; index += 1) made.push(await signIn(store, { organization: 'listed' }));
      await store.end((made[3] as Session).id, 'operator');
      const wanted = made.toSpliced(3, 1).toSorted((a, b) => a.createdAtMs - b.createdAtMs || (a.id < b.id ? -1 : 1));
      const found: Session[] = [];
      for (let after: Session | undefined; ; after = found.at(-1)) {
        const page = await store.list({ organization: 'listed' }, { after, limit: 2 });
        found.push(...page);
        if (page.length < 2) break;
      }
      assert.deepEqual(found, wanted);
    });

    describe('a refresh', () => {
      const leaseIn = (taken: RefreshTake) => {
        if (taken.state !== 'taken') assert.fail(`the lease is ${taken.state}`);
        return taken.lease;
      };
      /** A refresh whose first holder has sent the token and is gone. A second one has the lease now. */
      const beginTwice = async (terms: typeof TERMS) => {
        const session = await signIn(store);
        const first = leaseIn(await store.refreshes.take(session, 'one', terms));
        await store.refreshes.renew(first, 30, 0);
        await sleep(60);
        return { session, first, second: leaseIn(await store.refreshes.take(session, 'two', terms)) };
      };

      it('has one holder, and the others get the successor', async () => {
        const session = await signIn(store);
        const lease = leaseIn(await store.refreshes.take(session, 'one', TERMS));
        const held = await store.refreshes.take(session, 'two', TERMS);
        assert.ok(held.state === 'held' && held.endsInMs > LEASE_MS - 2000 && held.endsInMs <= LEASE_MS);
        assert.deepEqual(leaseIn(await store.refreshes.take(session, 'one', TERMS)), lease);
        assert.equal(await store.refreshes.renew(lease, LEASE_MS, undefined), true);
        const next = await store.refreshes.replaceTokens(lease, tokens('second', { accessLivesMs: 600_000 }));
        assert.equal(next?.generation, 1);
        assert.equal(next?.accessLivesMs, 600_000);
        assert.equal(store.openTokens(next as Session).refreshToken, tokens('second').refreshToken);
        assert.deepEqual(await store.refreshes.take(session, 'two', TERMS), {
          state: 'succeeded',
          session: next,
        });
        assert.deepEqual(await store.find(session.hash), next);
        assert.equal(await store.refreshes.renew(lease, LEASE_MS, undefined), false);
      });

      it('written twice is written once, and late it changes nothing', async () => {
        const session = await signIn(store);
        const first = leaseIn(await store.refreshes.take(session, 'one', TERMS));
        const second = await store.refreshes.replaceTokens(first, tokens('second'));
        assert.deepEqual(await store.refreshes.replaceTokens(first, tokens('second')), second);
        const next = leaseIn(await store.refreshes.take(second as Session, 'two', TERMS));
        assert.ok(next.fence > first.fence);
        assert.equal((await store.refreshes.replaceTokens(first, tokens('late')))?.generation, 1);
        await store.refreshes.release(first);
        await store.refreshes.giveUp(first);
        assert.equal((await store.refreshes.take(second as Session, 'three', TERMS)).state, 'held');
        const third = await store.refreshes.replaceTokens(next, tokens('third'));
        assert.equal(store.openTokens(third as Session).accessToken, tokens('third').accessToken);
      });

      it('whose token may have been sent is never begun again, and may still succeed', async () => {
        const session = await signIn(store);
        const lease = leaseIn(await store.refreshes.take(session, 'one', TERMS));
        assert.equal(await store.refreshes.renew(lease, 30, 0), true);
        await sleep(60);
        assert.equal((await store.refreshes.take(session, 'two', TERMS)).state, 'unknown');
        assert.equal((await store.refreshes.replaceTokens(lease, tokens('second')))?.generation, 1);
        const another = await signIn(store);
        const given = leaseIn(await store.refreshes.take(another, 'one', TERMS));
        await store.refreshes.renew(given, LEASE_MS, 0);
        await store.refreshes.giveUp(given);
        assert.equal((await store.refreshes.take(another, 'two', TERMS)).state, 'unknown');
      });

      it('whose token was not sent is begun by the next, and its former holder must not send any more', async () => {
        const session = await signIn(store);
        const first = leaseIn(await store.refreshes.take(session, 'one', { ...TERMS, forMs: 30 }));
        await sleep(60);
        const second = leaseIn(await store.refreshes.take(session, 'two', TERMS));
        assert.ok(second.fence > first.fence);
        assert.equal(await store.refreshes.renew(first, LEASE_MS, 0), false);
        assert.equal(await store.refreshes.renew(second, LEASE_MS, 0), true);
        await store.refreshes.release(first);
        assert.equal((await store.refreshes.take(session, 'three', TERMS)).state, 'held');
      });

      it('is begun again while the provider takes the token again, counted from the first sending', async () => {
        const terms = { ...TERMS, reuseMs: 300 };
        const { session, first, second } = await beginTwice(terms);
        assert.equal(await store.refreshes.renew(second, LEASE_MS, 0), true);
        // Its own attempt has not reached the provider. That of the first one may have.
        await store.refreshes.release(second);
        const third = leaseIn(await store.refreshes.take(session, 'three', terms));
        await sleep(300);
        assert.equal(await store.refreshes.renew(third, LEASE_MS, 0), false, 'it is too late to send it');
        await store.refreshes.release(third);
        assert.equal((await store.refreshes.take(session, 'four', terms)).state, 'unknown');
        const late = await store.refreshes.replaceTokens(first, tokens('late'));
        assert.equal(late?.generation, 1, 'no other owner may have sent it');
        assert.equal(store.openTokens(late as Session).accessToken, tokens('late').accessToken);
        const next = leaseIn(await store.refreshes.take(late as Session, 'five', terms));
        assert.ok(next.fence > third.fence);
      });

      it('that another owner may have sent, too, has the successor of the later holder', async () => {
        const terms = { ...TERMS, reuseMs: 300 };
        const { session, first, second } = await beginTwice(terms);
        assert.equal(await store.refreshes.renew(second, LEASE_MS, 0), true);
        const early = await store.refreshes.replaceTokens(first, tokens('early'));
        assert.deepEqual(early, await store.find(session.hash));
        assert.equal(early?.generation, 0, 'the fence is compared');
        assert.equal((await store.refreshes.replaceTokens(second, tokens('second')))?.generation, 1);
      });

      it('is begun once more when all that announced the token have not sent it, the first one after it lost its lease', async () => {
        const terms = { ...TERMS, reuseMs: 300 };
        const { session, first, second } = await beginTwice(terms);
        assert.equal(await store.refreshes.renew(second, LEASE_MS, 0), true);
        await store.refreshes.release(first);
        await sleep(320);
        await store.refreshes.release(second);
        assert.equal((await store.refreshes.take(session, 'three', terms)).state, 'taken');
      });

      it('is not begun once more after the first one has not sent it, but another one may have', async () => {
        const terms = { ...TERMS, reuseMs: 300 };
        const { session, first, second } = await beginTwice(terms);
        assert.equal(await store.refreshes.renew(second, LEASE_MS, 0), true);
        await store.refreshes.release(first);
        await sleep(320);
        await store.refreshes.giveUp(second);
        assert.equal((await store.refreshes.take(session, 'three', terms)).state, 'unknown');
      });

      it('remembers that there were senders when there are too many to list', async () => {
        const terms = { ...TERMS, reuseMs: 60_000 };
        const session = await signIn(store);
        const leases: RefreshLease[] = [];
        for (let index = 0; index < SENDERS_MAX / 36 + 2; index += 1) {
          const lease = leaseIn(await store.refreshes.take(session, randomUUID(), terms));
          assert.equal(await store.refreshes.renew(lease, LEASE_MS, 0), true);
          await store.refreshes.giveUp(lease);
          leases.push(lease);
        }
        for (const lease of leases) await store.refreshes.release(lease);
        assert.equal((await store.refreshes.take(session, 'last', TERMS)).state, 'unknown');
      });

      it('that is begun again in time may be answered later: its lease does not end before', async () => {
        const terms = { ...TERMS, reuseMs: 300 };
        const { session, second } = await beginTwice(terms);
        const sentAt = performance.now();
        assert.equal(await store.refreshes.renew(second, LEASE_MS, 0), true);
        await sleep(320);
        assert.equal(await store.refreshes.renew(second, LEASE_MS, performance.now() - sentAt), true);
        assert.equal((await store.refreshes.take(session, 'three', terms)).state, 'held');
        assert.equal((await store.refreshes.replaceTokens(second, tokens('second')))?.generation, 1);
      });

      it('that was given back is begun by the next, with a larger fence', async () => {
        const session = await signIn(store);
        const first = leaseIn(await store.refreshes.take(session, 'one', TERMS));
        await store.refreshes.release(first);
        const second = leaseIn(await store.refreshes.take(session, 'two', TERMS));
        assert.ok(second.fence > first.fence);
        await store.refreshes.release(first);
        assert.equal(await store.refreshes.renew(first, LEASE_MS, undefined), false);
        assert.equal((await store.refreshes.take(session, 'three', TERMS)).state, 'held');
        await store.refreshes.replaceTokens(first, tokens('of the first'));
        assert.deepEqual(await store.find(session.hash), session, 'the fence is compared');
      });

      it('that is asked for too late takes nothing', async () => {
        const session = await signIn(store);
        const late = await store.refreshes.take(session, 'one', { ...TERMS, notAfterMs: (await store.nowMs()) - 1 });
        assert.deepEqual(late, { state: 'late' });
        leaseIn(await store.refreshes.take(session, 'two', { ...TERMS, notAfterMs: (await store.nowMs()) + 1000 }));
      });

      it('of an ended session changes nothing', async () => {
        const session = await signIn(store);
        const lease = leaseIn(await store.refreshes.take(session, 'one', TERMS));
        await store.end(session.id, 'signed_out');
        assert.equal(await store.refreshes.renew(lease, LEASE_MS, undefined), false);
        assert.equal(await store.refreshes.replaceTokens(lease, tokens('second')), undefined);
        assert.equal(await store.find(session.hash), undefined);
        assert.deepEqual(await store.refreshes.take(session, 'two', TERMS), {
          state: 'ended',
        });
      });
    });
  });
}
