// A command that has a timeout gets its reply also if this process stood still until the timeout was over; without a reply it fails.

import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { createCalls } from '../../../gateway/limits/counters/redis/calls.ts';
import { encodeCharges } from '../../../gateway/limits/counters/redis/window-script.ts';
import { connectRedis, type Redis } from '../../../gateway/redis/client.ts';
import { apartAt, startRedis, startRelay } from '../../support/redis.ts';
import { standStill } from '../../support/stand-still.ts';

const TIMEOUT_MS = 200;

async function connected(url: string, options: object = { commandTimeoutMs: TIMEOUT_MS }): Promise<Redis> {
  const ready = Promise.withResolvers<void>();
  const opened = connectRedis({ url, ...options, onReady: ready.resolve });
  await ready.promise;
  return opened;
}

const redis = await startRedis();
/** In this process: a reply takes several of its turns. */
const relay = await startRelay(apartAt(redis.url));
const [client, relayed] = await Promise.all([connected(redis.url), connected(relay.url)]);
after(async () => {
  client.disconnect();
  relayed.disconnect();
  await relay.stop();
  await redis.stop();
});

/** Timers are next behind this, and sockets after them. */
const beforeTimers = () => new Promise((resolve) => setImmediate(resolve));

/** On a busy machine the reply may not come at once. */
async function onceOfSeveral(attempt: () => Promise<void>): Promise<void> {
  for (let left = 4; left > 0; left -= 1) {
    try {
      return await attempt();
    } catch {
      // Another attempt follows, and the last one decides.
    }
  }
  await attempt();
}

describe('a command', () => {
  it('gets the reply that came while this process stood still', async () => {
    await beforeTimers();
    const reply = client.set('some', 'thing');
    standStill(2 * TIMEOUT_MS);
    assert.equal(await reply, 'OK');
  });

  it('gets the reply that comes at once after a time in which this process stood still', () =>
    onceOfSeveral(async () => {
      await beforeTimers();
      const reply = relayed.set('some', 'thing');
      standStill(2 * TIMEOUT_MS);
      assert.equal(await reply, 'OK');
    }));

  it('fails without a reply in time', async () => {
    redis.pause();
    try {
      await assert.rejects(client.get('some'), { message: 'Command timed out' });
    } finally {
      redis.resume();
    }
  });
});

it('a connection is not given up for a time in which this process stood still', async () => {
  const patient = await connected(redis.url, { silenceMaxMs: TIMEOUT_MS });
  await beforeTimers();
  const reply = patient.set('some', 'thing');
  standStill(2 * TIMEOUT_MS);
  assert.equal(await reply, 'OK');
  patient.disconnect();
});

it('the decision about a request comes at once after a time in which this process stood still', () =>
  onceOfSeveral(theDecisionComes));

async function theDecisionComes(): Promise<void> {
  const patient = await connected(relay.url, {});
  const calls = createCalls(patient, TIMEOUT_MS, () => undefined);
  const charge = {
    policy: 'a',
    requests: 5,
    windowSeconds: 60,
    windowMs: 60_000,
    cost: 1,
    enforce: true,
    counter: 'b',
  };
  const decide = () => calls.run(0, encodeCharges([charge]));
  // Loads the script.
  await decide();
  await beforeTimers();
  const decision = decide();
  standStill(2 * TIMEOUT_MS);
  await decision.finally(() => patient.disconnect());
}
