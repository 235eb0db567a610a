// Three instances over one Redis: each refresh token is redeemed once, requests do not wait while the access token lives, and an end holds
// everywhere within a second.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { LiveSessions } from '../../../gateway/sessions/live/live-sessions.ts';
import type { RefreshedSession } from '../../../gateway/sessions/refresh/refresher.ts';
import { openRedisSessionStore } from '../../../gateway/sessions/store/redis/redis-session-store.ts';
import type { Session, SessionStore } from '../../../gateway/sessions/store/session-store.ts';
import { createKeyRing } from '../../../gateway/shared/stores/seal.ts';
import { until } from '../../support/connection.ts';
import { startRedis, type TestRedis } from '../../support/redis.ts';
import { createModelProvider, type ModelProvider } from './model-provider.ts';
import { ring, signIn, tokens } from './store-samples.ts';

/** Of an access token. The refresh begins a quarter before its end: two seconds, in which a busy machine runs the tests, too. */
const LIVES_MS = 8000;
const DUE_MS = 6050;

interface Gateway {
  readonly store: SessionStore;
  readonly sessions: LiveSessions;
}

describe('sessions of three instances', { concurrency: true }, () => {
  let redis: TestRedis;
  /** One for each session, by its hash: the tests run at once. */
  const providers = new Map<string, ModelProvider>();
  const providerOf = ({ hash }: Session) => providers.get(hash) as ModelProvider;
  const gateways: Gateway[] = [];

  before(async () => {
    redis = await startRedis();
    for (let index = 0; index < 3; index += 1) {
      const store = await openRedisSessionStore({ url: redis.url, keys: ring });
      const sessions = new LiveSessions({
        ...{ store, max: 1000 },
        redeem: (session, given, redemption) => providerOf(session).redeem(session, given, redemption),
        reuseMsOf: (session) => providerOf(session).reuseMs,
        discard: (session, given) => providerOf(session).discard(session, given),
      });
      gateways.push({ store, sessions });
    }
  });
  after(async () => {
    for (const { store, sessions } of gateways) {
      await sessions.close();
      await store.close();
    }
    await redis.stop();
  });

  const [one, two, three] = [0, 1, 2].map((index) => () => gateways[index] as Gateway) as [
    () => Gateway,
    () => Gateway,
    () => Gateway,
  ];
  async function begin(accessLivesMs: number, changes = {}) {
    const session = await signIn(one().store, changes, tokens('first', { accessLivesMs }));
    const provider = createModelProvider();
    providers.set(session.hash, provider);
    return { session, hash: session.hash, provider };
  }
  /** As a request does it. */
  async function request({ sessions }: Gateway, hash: string): Promise<RefreshedSession | undefined> {
    const session = await sessions.find(hash);
    return session && sessions.fresh(session);
  }
  const requests = (count: number, hash: string) =>
    Promise.all(Array.from({ length: count }, (_, index) => request(gateways[index % 3] as Gateway, hash)));
  const generationsOf = (results: readonly (RefreshedSession | undefined)[]) => [
    ...new Set(results.map((result) => (typeof result === 'object' ? result.generation : result))),
  ];

  it('200 requests after the end of the access token wait for one redemption', async () => {
    const { hash, provider } = await begin(1);
    await sleep(5);
    assert.deepEqual(generationsOf(await requests(200, hash)), [1]);
    assert.equal(provider.redeemed.length, 1);
    assert.deepEqual(generationsOf(await requests(30, hash)), [1]);
    assert.equal(provider.redeemed.length, 1);
  });

  it('200 requests before its end do not wait, and get the successor afterwards', async () => {
    const { hash, provider } = await begin(LIVES_MS);
    await sleep(DUE_MS);
    const answer = Promise.withResolvers<void>();
    provider.answersAfter = answer.promise;
    assert.deepEqual(generationsOf(await requests(200, hash)), [0], 'none waits for the provider');
    answer.resolve();
    await until(async () => isDeepStrictEqual(generationsOf(await requests(30, hash)), [1]));
    assert.equal(provider.redeemed.length, 1);
  });

  it('invalid_grant ends the session everywhere', async () => {
    const { hash, provider } = await begin(1);
    await sleep(5);
    provider.disturbance = { kind: 'ended' };
    assert.deepEqual(generationsOf(await requests(6, hash)), ['ended']);
    // Each instance hears of the end, and knows the session until then.
    await until(async () => (await requests(6, hash)).every((result) => result === undefined));
    assert.equal(provider.redeemed.length, 1);
  });

  it('a provider that is away ends nothing, and is tried again', async () => {
    const { hash, provider } = await begin(1);
    await sleep(5);
    provider.disturbance = { kind: 'away', redeemed: 'no', reason: 'it refuses connections' };
    assert.deepEqual(generationsOf(await requests(6, hash)), ['away']);
    provider.disturbance = undefined;
    await sleep(1100);
    assert.deepEqual(generationsOf(await requests(6, hash)), [1]);
    assert.equal(provider.redeemed.length, 1);
  });

  it('a lost answer is not asked for again: the session lives as long as its access token', async () => {
    const { hash, provider } = await begin(LIVES_MS);
    await sleep(DUE_MS);
    provider.disturbance = { kind: 'away', redeemed: 'unknown', reason: 'the connection broke' };
    assert.deepEqual(generationsOf(await requests(6, hash)), [0]);
    await sleep(300);
    provider.disturbance = undefined;
    assert.deepEqual(generationsOf(await requests(6, hash)), [0]);
    await sleep(LIVES_MS - DUE_MS);
    assert.deepEqual(
      generationsOf(await requests(6, hash)).filter((state) => typeof state === 'number'),
      [],
    );
    await until(async () => isDeepStrictEqual(generationsOf(await requests(6, hash)), [undefined]));
    assert.equal(provider.redeemed.length, 1);
  });

  it('a holder that is gone before it has sent the token costs nothing', async () => {
    const { session, hash, provider } = await begin(1);
    await sleep(5);
    const terms = { forMs: 400, notAfterMs: Number.MAX_SAFE_INTEGER, reuseMs: 0 };
    assert.equal((await one().store.refreshes.take(session, 'one that is killed', terms)).state, 'taken');
    assert.deepEqual(generationsOf(await requests(30, hash)), [1]);
    assert.equal(provider.redeemed.length, 1);
  });

  it('a lost answer is asked for again where the provider takes the token again', async () => {
    const { hash, provider } = await begin(1);
    provider.reuseMs = 60_000;
    await sleep(5);
    provider.disturbance = { kind: 'away', redeemed: 'unknown', reason: 'the connection broke' };
    assert.deepEqual(generationsOf(await requests(3, hash)), ['away']);
    provider.disturbance = undefined;
    await sleep(1100);
    assert.deepEqual(generationsOf(await requests(30, hash)), [1]);
    assert.equal(new Set(provider.redeemed).size, 1);
    assert.deepEqual(provider.alarms, []);
  });

  it('an instance that cannot decrypt the tokens leaves the refresh to the others, until the access token ends', async () => {
    const { session, hash, provider } = await begin(LIVES_MS);
    const store = await openRedisSessionStore({
      url: redis.url,
      keys: createKeyRing(() => ['some other secret'], 'test'),
    });
    const sessions = new LiveSessions({
      ...{ store, max: 10, redeem: () => assert.fail('it has no token'), reuseMsOf: () => 0 },
      discard: () => undefined,
    });
    const stranger = { store, sessions };
    await sleep(DUE_MS);
    assert.deepEqual(generationsOf([await request(stranger, hash)]), [0]);
    await sleep(100);
    assert.deepEqual(generationsOf([await request(one(), hash)]), [0]);
    while (provider.redeemed.length === 0) await sleep(5);
    const other = await begin(1);
    await sleep(5);
    assert.equal(await request(stranger, other.hash), 'ended');
    assert.equal((await one().store.find(hash))?.id, session.id);
    await sessions.close();
    await store.close();
  });

  it('an end is in force on all instances within a second, for requests and for open streams', async () => {
    const { session } = await begin(300_000);
    assert.deepEqual(generationsOf(await requests(3, session.hash)), [0]);
    const reasons = Promise.all(
      gateways.map(({ sessions }) => new Promise((resolve) => void sessions.onEnded(session, resolve))),
    );
    const left: Session[] = [];
    two().sessions.onEnded(session, () => left.push(session))();
    const began = performance.now();
    await one().sessions.end(session.id, 'signed_out');
    assert.equal(await one().sessions.find(session.hash), undefined);
    assert.deepEqual(await reasons, ['signed_out', 'signed_out', 'signed_out']);
    assert.ok(performance.now() - began < 1000);
    assert.deepEqual(generationsOf(await requests(3, session.hash)), [undefined]);
    assert.deepEqual(left, []);
    const late = await new Promise((resolve) => void three().sessions.onEnded(session, resolve));
    assert.equal(late, 'signed_out', 'a stream that opens late learns of it, too');
  });

  it('open streams end with the idle time, unless another instance sees a use', async () => {
    const { session } = await begin(300_000, { idleMs: 2400 });
    const ended = new Promise((resolve) => void one().sessions.onEnded(session, resolve));
    await sleep(1200);
    assert.ok(await two().sessions.use(session.hash));
    await sleep(1800);
    const isOpen = await Promise.race([ended.then(() => false), true]);
    assert.equal(isOpen, true, 'the use on another instance counts');
    assert.equal(await ended, 'expired');
  });

  it('tokens that come after the end are handed back', async () => {
    const { session, hash, provider } = await begin(1);
    await sleep(5);
    provider.thinksMs = 200;
    const waiting = request(two(), hash);
    while (provider.redeemed.length === 0) await sleep(5);
    await one().sessions.end(session.id, 'signed_out');
    assert.equal(await waiting, 'ended');
    assert.equal(provider.discarded.length, 1);
  });
});
