// New tokens of a session wait in the process that has them until Redis is back, however long that takes.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { LiveSessions } from '../../gateway/sessions/live/live-sessions.ts';
import { openRedisSessionStore } from '../../gateway/sessions/store/redis/redis-session-store.ts';
import { createKeyRing } from '../../gateway/shared/stores/seal.ts';
import { Deployment } from './deployment.ts';
import { World } from './engine/world.ts';

const HASH = 'hash of the cookie';
const ACCESS_LIVES_MS = 30_000;
const AWAY_MS = 15 * 60_000;

/**
 * One process with one session, which has begun.
 *
 * @param onFirst called when the first refresh token has been redeemed
 * @param isLost whether the answer to that is lost
 */
async function begin(lagMs: number, onFirst: (deployment: Deployment) => void, isLost = false) {
  const world = new World({ seed: 'outage' });
  const redeemed: (string | undefined)[] = [];
  let signIn: (() => Promise<unknown>) | undefined;
  let request: (() => Promise<unknown>) | undefined;
  const deployment = new Deployment(world, 1, (_place, { machine }, connect) => {
    const keys = createKeyRing(() => ['a secret of sixteen letters'], 'simulation', machine);
    const tokens = () => ({
      ...{ accessToken: `access ${redeemed.length}`, refreshToken: `refresh ${redeemed.length}`, idToken: undefined },
      accessLivesMs: ACCESS_LIVES_MS,
    });
    void openRedisSessionStore({ url: 'redis://simulated', keys, connect, machine }).then((store) => {
      const sessions = new LiveSessions({
        ...{ store, max: 10, machine },
        async redeem(_session, { refreshToken }, { announce }) {
          assert.equal(await announce(), true);
          redeemed.push(refreshToken);
          if (redeemed.length === 1) onFirst(deployment);
          if (isLost) return { kind: 'away', redeemed: 'unknown', reason: 'the connection broke' };
          return { kind: 'tokens', tokens: tokens() };
        },
        reuseMsOf: () => 0,
        discard: () => assert.fail('the tokens are handed back'),
      });
      signIn = async () => {
        const session = {
          ...{ id: 'ses_1', hash: HASH, provider: 'main', subject: 'ada', providerSid: 'sid', organization: 'org_a' },
          ...{ claims: {}, device: 'simulated', idleMs: 2 * AWAY_MS, livesMs: 4 * AWAY_MS },
        };
        return store.create(session, tokens(), { begunAtMs: await store.nowMs(), perPersonMax: 10 });
      };
      request = async () => {
        const session = await sessions.find(HASH);
        return session && sessions.fresh(session);
      };
    });
  });
  deployment.redis.lag(lagMs);
  await world.run(1000);
  const begun = signIn?.();
  await world.run(5000);
  assert.ok(await begun);
  await world.run(5000 + ACCESS_LIVES_MS);
  return { world, redeemed, request: () => request?.() };
}

it('a Redis that has lost the lease, and is away for a quarter of an hour, gets the new tokens', async () => {
  const { world, redeemed, request } = await begin(1000, ({ redis }) => {
    redis.stop();
    redis.world.after(AWAY_MS, () => redis.start('all but the tail'));
  });
  const first = request();
  await world.run(100_000);
  assert.equal(await first, 'away');
  await world.run(AWAY_MS + 100_000);
  const second = request();
  await world.run(AWAY_MS + 200_000);
  assert.equal(((await second) as { readonly generation?: number }).generation, 2);
  assert.deepEqual(redeemed, ['refresh 0', 'refresh 1']);
});

for (const afterMs of [1000, 2500, 3500, 4500]) {
  it(`a replica that lags by 3 s and takes over ${afterMs / 1000} s after a refresh gets the new tokens`, async () => {
    const { world, redeemed, request } = await begin(3000, ({ redis }) => {
      redis.world.after(afterMs, () => redis.failOver(0));
    });
    const first = request();
    await world.run(70_000);
    assert.equal(((await first) as { readonly generation?: number }).generation, 1);
    const second = request();
    await world.run(90_000);
    assert.equal(((await second) as { readonly generation?: number }).generation, 2);
    assert.deepEqual(redeemed, ['refresh 0', 'refresh 1']);
  });
}

for (const afterMs of [500, 2500, 4500]) {
  it(`a token whose answer is lost is not sent again after a failover ${afterMs / 1000} s later`, async () => {
    const failOver = ({ redis }: Deployment) => void redis.world.after(afterMs, () => redis.failOver(0));
    const { world, redeemed, request } = await begin(3000, failOver, true);
    const first = request();
    await world.run(50_000);
    assert.equal(await first, 'away');
    const second = request();
    await world.run(120_000);
    assert.notEqual(typeof (await second), 'object');
    assert.deepEqual(redeemed, ['refresh 0']);
  });
}
