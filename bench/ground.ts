// What measurements stand on: a directory, an upstream and Redis servers, all of their own and away from the contestant's core.

import { temporaryDirectory } from '../test/support/directory.ts';
import { freePort } from '../test/support/free-port.ts';
import type { TestRedis } from '../test/support/redis.ts';
import { path, startCommand, stop } from './contestants.ts';
import { CORES, hurry, pin } from './machine.ts';
import { startPinnedRedis } from './pinned-redis.ts';

export interface Ground {
  /** Gone afterwards. */
  readonly directory: string;
  readonly upstreamPort: number;
  readonly upstreamUrl: string;
  /** Gives the URL of one more server, which is empty. */
  startRedis(): Promise<string>;
}

export interface GroundOptions {
  /** How long the upstream's page is made. */
  readonly pageBytes?: number;
  /** Whether upstream and Redis go before the client where they share a core: for waits, which would count the client's turns. */
  readonly isPrompt?: boolean;
}

export async function withGround<T>(options: GroundOptions, act: (ground: Ground) => Promise<T>): Promise<T> {
  const { pageBytes = 0, isPrompt = false } = options;
  pin(process.pid, CORES.client);
  const directory = temporaryDirectory();
  const stores: TestRedis[] = [];
  const upstreamPort = await freePort();
  // Its main thread, which goes before others of its core, must not wait there for threads of the engine: it asks in a loop whether they
  // are done, and they would never run.
  const command = [
    process.execPath,
    '--single-threaded-gc',
    path('upstream.ts'),
    String(upstreamPort),
    String(pageBytes),
  ];
  const upstream = await startCommand(command, CORES.upstream, upstreamPort);
  if (isPrompt) hurry(upstream.pid as number);
  try {
    return await act({
      directory,
      upstreamPort,
      upstreamUrl: `http://127.0.0.1:${upstreamPort}`,
      async startRedis() {
        const redis = await startPinnedRedis(isPrompt);
        stores.push(redis);
        return redis.url;
      },
    });
  } finally {
    await Promise.all([stop(upstream), ...stores.map((redis) => redis.stop())]);
  }
}
