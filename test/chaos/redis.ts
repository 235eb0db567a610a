// A Redis with persistence, behind a relay: it can be killed and comes back with its data, or with nothing.

import type { ChildProcess } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryDirectory } from '../support/directory.ts';
import { freePort } from '../support/free-port.ts';
import { end, spawnRedis } from '../support/redis.ts';
import { type Relay, startRelay } from './relay.ts';

export interface ChaosRedis {
  readonly url: string;
  readonly relay: Relay;
  kill(): Promise<void>;
  restart(memory: 'kept' | 'lost'): Promise<void>;
  freeze(): void;
  thaw(): void;
  stop(): Promise<void>;
}

export async function startRedisOnDisk(): Promise<ChaosRedis> {
  const directory = temporaryDirectory();
  const port = await freePort();
  const settings = [
    '--bind',
    '127.0.0.1',
    '--port',
    String(port),
    '--dir',
    directory,
    '--save',
    '',
    '--appendonly',
    'yes',
  ];
  const launch = () => spawnRedis(settings, 'Ready to accept connections');
  let server: ChildProcess = await launch();
  const relay = await startRelay(port);
  return {
    url: `redis://127.0.0.1:${relay.port}`,
    relay,
    async kill() {
      await Promise.all([end(server), relay.shut()]);
    },
    async restart(memory) {
      if (memory === 'lost') rmSync(join(directory, 'appendonlydir'), { recursive: true, force: true });
      server = await launch();
      await relay.open();
    },
    freeze: () => void server.kill('SIGSTOP'),
    thaw: () => void server.kill('SIGCONT'),
    async stop() {
      await relay.shut();
      await end(server);
    },
  };
}
