// Three targets of one upstream, each a process behind a relay of its own.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { freePort } from '../support/free-port.ts';
import { end } from '../support/redis.ts';
import { type Relay, startRelay } from './relay.ts';

export interface Target {
  /** The way to it that the gateway takes. */
  readonly relay: Relay;
  /** The process itself, for callers that reach it without the relay. */
  readonly port: number;
  /** Without a warning; the port has no listener until it is restarted. */
  kill(): Promise<void>;
  restart(): Promise<void>;
  /** It does not answer, and its connections stay. */
  freeze(): void;
  thaw(): void;
  stop(): Promise<void>;
}

const program = fileURLToPath(new URL('target.ts', import.meta.url));

/** @param journal where what they have in common lies */
export async function startTarget(journal: string): Promise<Target> {
  const port = await freePort();
  let process = await launch(port, journal);
  const relay = await startRelay(port);
  return {
    relay,
    port,
    async kill() {
      await Promise.all([end(process), relay.shut()]);
    },
    async restart() {
      process = await launch(port, journal);
      await relay.open();
    },
    freeze: () => void process.kill('SIGSTOP'),
    thaw: () => void process.kill('SIGCONT'),
    async stop() {
      await relay.shut();
      await end(process);
    },
  };
}

async function launch(port: number, journal: string): Promise<ChildProcess> {
  const args = ['--disable-warning=ExperimentalWarning', program, String(port), journal];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(() => Promise.reject(new Error('A target ended before it listened.'))),
  ]);
  return child;
}
