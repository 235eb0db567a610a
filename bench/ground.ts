// What measurements stand on: a directory, an upstream and Redis servers, all of their own and away from the contestant's core.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../test/support/free-port.ts';
import type { TestRedis } from '../test/support/redis.ts';
import { startPinned, stop } from './contestants.ts';
import { cores, pin } from './machine.ts';
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
}

export async function withGround<T>(options: GroundOptions, act: (ground: Ground) => Promise<T>): Promise<T> {
  pin(process.pid, cores.client);
  const directory = mkdtempSync(join(tmpdir(), 'gateway-bench-'));
  const stores: TestRedis[] = [];
  const upstreamPort = await freePort();
  const upstreamArguments = [String(upstreamPort), String(options.pageBytes ?? 0)];
  const upstream = await startPinned('upstream.ts', upstreamArguments, cores.upstream, upstreamPort);
  try {
    return await act({
      directory,
      upstreamPort,
      upstreamUrl: `http://127.0.0.1:${upstreamPort}`,
      async startRedis() {
        const redis = await startPinnedRedis();
        stores.push(redis);
        return redis.url;
      },
    });
  } finally {
    await Promise.all([stop(upstream), ...stores.map((redis) => redis.stop())]);
    rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
  }
}
