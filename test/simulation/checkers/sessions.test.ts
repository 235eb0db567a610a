// What the checker of sessions takes for a fault of the gateway, and what it excuses.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Deployment, type Place } from '../deployment.ts';
import { World } from '../engine/world.ts';
import type { IdentityProvider, Redemption } from '../protocols/identity-provider.ts';
import { SessionChecker } from './sessions.ts';

const ID = 'ses_1';

function begin(reuseMs = 0) {
  const world = new World({ seed: 'sessions' });
  const deployment = new Deployment(world, 2, () => undefined);
  const [holder, other] = deployment.places as readonly [Place, Place];
  const attempts: Redemption[] = [];
  const provider: Pick<IdentityProvider, 'attemptsOf' | 'reuseMs'> = { attemptsOf: () => attempts, reuseMs };
  const checker = new SessionChecker(deployment, () => provider as IdentityProvider, 600_000);
  checker.created({ id: ID, sid: 'sid', person: 'ada', begunMs: 0 });

  /** A process sends the token, and gets its answer. */
  function redeem({ process }: Place): Redemption {
    const [atMs, receivedMs, answeredMs] = [world.now(), world.now(), world.now() + 100];
    const redemption = { session: ID, generation: 0, process, isLost: false, atMs, receivedMs, answeredMs };
    attempts.push(redemption);
    return redemption;
  }

  function cutOff({ process }: Place, forMs: number): void {
    deployment.redis.cut(process);
    world.after(forMs, () => deployment.redis.heal(process));
  }
  return { world, deployment, checker, holder, other, redeem, cutOff };
}

/**
 * The sentence on an end that comes some time after a refresh, whose process was cut off from the store.
 *
 * @param cutMs for how long it was cut off
 * @param reuseMs for how long the provider takes a token again
 */
async function onEndAfterCut(cutMs: number, endsAfterMs = 31_000, reuseMs = 0): Promise<string | undefined> {
  const { world, checker, holder, other, redeem, cutOff } = begin(reuseMs);
  await world.run(100_000);
  redeem(holder);
  cutOff(holder, cutMs);
  await world.run(100_000 + endsAfterMs);
  checker.refused({ place: other, process: other.process, id: ID, sentMs: world.now() }, '401 ended');
  return world.violation()?.message;
}

it('an end after the new tokens could be stored is a fault', async () => {
  assert.match((await onEndAfterCut(5000)) ?? '', /^gateway-2 says 401 ended of ses_1/);
});

it('new tokens whose only process is cut off from the store for half a minute are lost with their session', async () => {
  assert.equal(await onEndAfterCut(60_000), undefined);
});

it('where the provider takes a token again for a while, they are lost with that time', async () => {
  assert.equal(await onEndAfterCut(60_000, 21_000, 20_000), undefined);
  assert.match((await onEndAfterCut(60_000, 21_000, 0)) ?? '', /^gateway-2 says 401 ended of ses_1/, 'a long lease');
  assert.match(
    (await onEndAfterCut(10_000, 21_000, 20_000)) ?? '',
    /^gateway-2 says 401 ended of ses_1/,
    'back in time',
  );
});

/** The sentence on a second redemption after a failover that has lost the first one, whose process was cut off for so long. */
async function onSecondAfterCut(cutMs: number): Promise<string | undefined> {
  const { world, deployment, checker, holder, other, redeem, cutOff } = begin();
  await world.run(100_000);
  const first = redeem(holder);
  if (cutMs > 0) cutOff(holder, cutMs);
  deployment.redis.stop();
  deployment.redis.start('nothing');
  await world.run(109_000);
  checker.secondRedemption(first, redeem(other));
  return world.violation()?.message;
}

it('a token is redeemed a second time although its process could write the lease again: a fault', async () => {
  assert.match((await onSecondAfterCut(0)) ?? '', /^gateway-2 redeems ses_1 0 a second time/);
});

it('a lease that the store has lost, whose process is cut off from it, keeps nobody away', async () => {
  assert.equal(await onSecondAfterCut(8000), undefined);
});

/**
 * The sentence on a request that is accepted ten seconds after a failover has lost the end of its session, with something else out of
 * order.
 */
async function onLostEnd(where: 'inside' | 'outside'): Promise<string | undefined> {
  const { world, deployment, checker, holder, other } = begin();
  const { redis, disturbances } = deployment;
  await world.run(100_000);
  redis.lag(1000);
  redis.model.execute(['set', 'end', ID]);
  checker.endBegins(ID)(holder.process);
  await world.run(100_500);
  redis.failOver(0);
  disturbances.begin(where);
  await world.run(110_500);
  checker.accepted({ place: other, process: other.process, id: ID, sentMs: world.now() });
  return world.violation()?.message;
}

it('a provider that is slow excuses no session that goes on after its end, as a fault of the gateways may', async () => {
  assert.match((await onLostEnd('outside')) ?? '', /^gateway-2 accepts ses_1, 10500 ms after its end was confirmed/);
  assert.equal(await onLostEnd('inside'), undefined);
});
