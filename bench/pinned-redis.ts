// A Redis server of the measurement's own, away from the contestant's core.

import { lookInside, startServer, type TestRedis } from '../test/support/redis.ts';
import { CORES, hurry, pin } from './machine.ts';

export async function startPinnedRedis(isPrompt = false): Promise<TestRedis> {
  const redis = await startServer();
  const client = lookInside(redis.url);
  const [, pid] = /process_id:(\d+)/.exec(await client.info('server')) ?? [];
  client.disconnect();
  pin(Number(pid), CORES.redis);
  if (isPrompt) hurry(Number(pid));
  return redis;
}
