// An organization over its limit costs Redis one command, not one per attempt, and is admitted at the same moment as without this.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { connectRedis } from '../../../gateway/redis/client.ts';
import { startRedis } from '../../support/redis.ts';
import { createSkip } from '../../support/skip.ts';
import { START_MS } from '../../unit/limits/scenarios.ts';
import { countOf, limitOf, openStore } from './outage.ts';

/** In the place of the clock of Redis. */
let clockMs = START_MS;

const redis = await startRedis();
const observer = connectRedis({ url: redis.url });
const serverClock = () => clockMs;
const one = await openStore(redis.url, { deadlineMs: 5_000, serverClock });
const other = await openStore(redis.url, { deadlineMs: 5_000, serverClock });
after(async () => {
  await Promise.all([one.store.close(), other.store.close()]);
  observer.disconnect();
  await redis.stop();
});

/** How often the script ran so far. */
async function decisions(): Promise<number> {
  return Number(/cmdstat_evalsha:calls=(\d+)/.exec(await observer.info('commandstats'))?.[1] ?? 0);
}

test('a thousand attempts over the limit are one command', async () => {
  const charges = limitOf(10);
  assert.equal(countOf((await one.ask(charges, 10)).verdicts, 'admitted'), 10);
  assert.equal(countOf((await one.ask(charges, 1)).verdicts, 'refused'), 1);
  const before = await decisions();
  const again = (await one.ask(charges, 1_000)).verdicts;
  assert.equal(again.filter(({ source }) => source === 'known').length, 1_000);
  assert.ok((await decisions()) - before <= 1);
});

test('a known refusal ends with the wait: then exactly the limit is admitted again, over all instances', async (context) => {
  const charges = limitOf(5);
  await one.ask(charges, 6);
  const [refused] = (await other.ask(charges, 1)).verdicts;
  assert.equal(refused?.outcome, 'refused');
  const waitMs = refused?.waitMs ?? 0;
  clockMs += waitMs;
  createSkip(context)(waitMs);
  const again = await Promise.all([one.ask(charges, 5), other.ask(charges, 5)]);
  assert.equal(countOf([...again[0].verdicts, ...again[1].verdicts], 'admitted'), 5);
});
