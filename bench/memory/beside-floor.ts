// The gateway and the floor for memory, each started anew, alone, on the same upstream.

import { join } from 'node:path';
import { freePort } from '../../test/support/free-port.ts';
import { entryOf, FLOOR, GATEWAY } from '../contestants/list.ts';
import { type Contestant, stop } from '../contestants.ts';
import { type Ground, withGround } from '../ground.ts';
import { strangeKey } from '../sample-keys.ts';

interface BesideFloor<T> {
  readonly floor: T;
  readonly gateway: T;
}

/** Gives what an act takes of the one, and then of the other, once for each round. */
export function besideFloor<T>(
  rounds: number,
  act: (contestant: Contestant, ground: Ground) => Promise<T>,
  environment?: (directory: string) => NodeJS.ProcessEnv,
): Promise<BesideFloor<T>[]> {
  return withGround({}, async (ground) => {
    const redisUrl = await ground.startRedis();
    const keys = Array.from({ length: 1000 }, strangeKey);
    const prepare = async (id: string) =>
      entryOf(id).prepare({
        ...ground,
        redisUrl,
        directory: join(ground.directory, id),
        port: await freePort(),
        keys,
        environment: environment?.(ground.directory) ?? {},
      });
    const prepared = { floor: await prepare(FLOOR), gateway: await prepare(GATEWAY) };
    const lived = async (side: keyof typeof prepared): Promise<T> => {
      const contestant = await prepared[side].start();
      try {
        return await act(contestant, ground);
      } finally {
        await stop(contestant.process);
      }
    };
    const taken: BesideFloor<T>[] = [];
    for (let round = 0; round < rounds; round += 1) {
      taken.push({ floor: await lived('floor'), gateway: await lived('gateway') });
    }
    return taken;
  });
}
