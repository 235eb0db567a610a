// One gateway with everything on, before the upstream and on a Redis of its own, for measurements of it alone.

import { join } from 'node:path';
import { freePort } from '../test/support/free-port.ts';
import { prepareGateway } from './contestants/gateway.ts';
import { type Contestant, stop } from './contestants.ts';
import { type GroundOptions, withGround } from './ground.ts';

interface StandOptions extends GroundOptions {
  /** Embedded stores instead of Redis. */
  readonly embedded?: boolean;
  /** More members of its entry in upstreams.yaml. */
  readonly entry?: object;
  /** More of the gateway's environment, once its working directory is known. */
  environment?(directory: string): NodeJS.ProcessEnv;
  /** The name of the file in its directory that takes its log. Default: it is thrown away. */
  readonly output?: string;
}

export interface Stand {
  readonly gateway: Contestant;
  /** Gone afterwards. */
  readonly directory: string;
}

export function withGateway<T>(options: StandOptions, act: (stand: Stand) => Promise<T>): Promise<T> {
  return withGround(options, async ({ directory, upstreamUrl, startRedis }) => {
    const redisUrl = await startRedis();
    const { embedded = false, entry = {}, environment = () => ({}), output } = options;
    const to = output === undefined ? {} : { output: join(directory, output) };
    const prepared = prepareGateway(
      {
        upstreamUrl,
        redisUrl,
        directory,
        port: await freePort(),
        keys: [],
        environment: environment(directory),
        ...to,
      },
      { name: 'gateway', ...(embedded ? {} : { redisUrl }), entry },
    );
    const gateway = await prepared.start();
    try {
      return await act({ gateway, directory });
    } finally {
      await stop(gateway.process);
    }
  });
}
