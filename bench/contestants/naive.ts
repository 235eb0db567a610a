// The naive composition: see naive-proxy.ts. Its keys are in Redis before it starts.

import { Redis } from 'ioredis';
import { type Contestant, type Surroundings, startNodeProxy } from '../contestants.ts';
import { storedNameOf } from './naive-keys.ts';

export async function startNaive(surroundings: Surroundings): Promise<Contestant> {
  const { keys, port, redisUrl } = surroundings;
  const redis = new Redis(redisUrl);
  await redis.mset(...keys.flatMap((key, index) => [storedNameOf(key), `org_${index}`]));
  redis.disconnect();
  const child = await startNodeProxy('naive-proxy.ts', surroundings, redisUrl);
  return { name: 'naive composition of the packages', port, keys, process: child };
}
