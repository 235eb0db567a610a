// `node bench/limits-redis.ts`: the load of limits on a Redis server: memory per organization, and time per decision.

import type { Charge } from '../gateway/limits/counters/counter-store.ts';
import { createRedisCounterStore } from '../gateway/limits/counters/redis/redis-counter-store.ts';
import { connectRedis } from '../gateway/redis/client.ts';
import { startServer } from '../test/support/redis.ts';

const ORGANIZATIONS = 1000;
const WINDOW_MS = 60_000;
/** A busy window has so many entries; 1 % more for one that is being left. */
const ENTRIES = 100;

const redis = await startServer();
const observer = connectRedis({ url: redis.url });
let clockMs = Date.now();
const settings = { url: redis.url, whenStoreIsAway: () => 'refuse' as const, now: Date.now, deadlineMs: 5000 };
const store = createRedisCounterStore({ ...settings, serverClock: () => clockMs });
await store.firstAttempt;

const limits = Array.from({ length: ORGANIZATIONS }, (_, index): readonly Charge[] => [
  {
    counter: `rl:{org_${String(index).padStart(20, '0')}}:organization`,
    policy: 'organization',
    requests: 1_000_000,
    windowSeconds: WINDOW_MS / 1000,
    windowMs: WINDOW_MS,
    cost: 1,
    enforce: true,
  },
]);

const read = async (section: string, pattern: RegExp) => Number(pattern.exec(await observer.info(section))?.[1] ?? 0);
const usedMemory = () => read('memory', /used_memory:(\d+)/);
const scriptMicros = () => read('commandstats', /cmdstat_evalsha:calls=\d+,usec=(\d+)/);

/** Decisions in commands of so many; the store makes one command of the decisions of one turn. */
async function decide(perCommand: number): Promise<void> {
  for (let first = 0; first < ORGANIZATIONS; first += perCommand) {
    await Promise.all(limits.slice(first, first + perCommand).map((charges) => store.decide(charges)));
  }
}

await decide(200);
const idle = await usedMemory();
process.stdout.write(`one request: ${await observer.memory('USAGE', limits[0]?.[0]?.counter ?? '')} bytes\n`);
for (let entry = 1; entry < ENTRIES; entry += 1) {
  clockMs += WINDOW_MS / ENTRIES;
  await decide(200);
  if (entry === ENTRIES / 2 - 1 || entry === ENTRIES - 1) {
    const each = Math.round(((await usedMemory()) - idle) / ORGANIZATIONS);
    const share = Math.round(((entry + 1) * 100) / ENTRIES);
    process.stdout.write(`window ${share} % full: ${each} bytes more per organization\n`);
  }
}
for (const perCommand of [1, 8, 64]) {
  const taken: number[] = [];
  for (let round = 0; round < 5; round += 1) {
    const before = await scriptMicros();
    for (let turn = 0; turn < 5; turn += 1) await decide(perCommand);
    taken.push(((await scriptMicros()) - before) / (5 * ORGANIZATIONS));
  }
  const micros = Math.min(...taken);
  const perSecond = Math.round(1e6 / micros);
  process.stdout.write(`${perCommand} per command: ${micros.toFixed(1)} µs of Redis each, ${perSecond} a second\n`);
}
await store.close();
await redis.stop();
observer.disconnect();
