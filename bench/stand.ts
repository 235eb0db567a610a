// One gateway with everything on, before the upstream and on a Redis of its own, for measurements of it alone.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../test/support/redis.ts';
import { startGateway } from './contestants/gateway.ts';
import { type Contestant, startPinned, stop } from './contestants.ts';
import { cores, pin } from './machine.ts';
import { startPinnedRedis } from './pinned-redis.ts';

export interface StandOptions {
  /** Embedded stores instead of Redis. */
  readonly embedded?: boolean;
  /** How long the upstream's page is made. */
  readonly pageBytes?: number;
  /** More members of its entry in upstreams.yaml. */
  readonly entry?: object;
  /** More of the gateway's environment, once its working directory is known. */
  environment?(directory: string): NodeJS.ProcessEnv;
}

export interface Stand {
  readonly gateway: Contestant;
  /** Gone afterwards. */
  readonly directory: string;
}

export async function withGateway<T>(options: StandOptions, act: (stand: Stand) => Promise<T>): Promise<T> {
  pin(process.pid, cores.client);
  const directory = mkdtempSync(join(tmpdir(), 'gateway-bench-'));
  const redis = await startPinnedRedis();
  const upstreamPort = await freePort();
  const { embedded = false, pageBytes = 0, entry = {}, environment = () => ({}) } = options;
  const upstreamArguments = [String(upstreamPort), String(pageBytes)];
  const upstream = await startPinned('upstream.ts', upstreamArguments, cores.upstream, upstreamPort);
  const surroundings = {
    upstreamUrl: `http://127.0.0.1:${upstreamPort}`,
    redisUrl: redis.url,
    directory,
    port: await freePort(),
    keys: [],
  };
  const gateway = await startGateway(surroundings, {
    name: 'gateway',
    ...(embedded ? {} : { redisUrl: redis.url }),
    entry,
    environment: environment(directory),
  });
  try {
    return await act({ gateway, directory });
  } finally {
    await Promise.all([redis.stop(), stop(gateway.process), stop(upstream)]);
    rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
  }
}
