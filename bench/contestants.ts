// The contestants: each is a process of its own in front of the same upstream. How they are started and stopped is here; each has a file in
// contestants/.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { providePackages } from '../tools/provide-packages.ts';
import { CORES, pinned, processTree } from './machine.ts';

export interface Contestant {
  readonly name: string;
  readonly port: number;
  readonly process: ChildProcess;
  /** Keys of as many organizations; contestants without keys are sent the same bytes. */
  readonly keys: readonly string[];
  /** A key that is over its limit, where there is one. */
  readonly blockedKey?: string;
}

/** The environment that a contestant is started in. */
export interface Surroundings {
  readonly upstreamUrl: string;
  readonly redisUrl: string;
  /** A directory of its own. */
  readonly directory: string;
  readonly port: number;
  /** The key for contestants that do not issue keys, to send or to accept. */
  readonly keys: readonly string[];
  /** More of the environment of its process. */
  readonly environment?: NodeJS.ProcessEnv;
  /** The file that its output goes to. Default: it is thrown away. */
  readonly output?: string;
}

/** A contestant with all that it needs to be started. */
export interface Prepared {
  /** Starts it; again once it has been stopped. */
  start(): Promise<Contestant>;
}

/** No started process outlives the measurement, however it ends. */
const children: ChildProcess[] = [];
process.once('exit', () => {
  for (const child of children) signal(child, 'SIGKILL');
});
for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => process.exit(1));

/** Absolute, of a file beside this one. */
export const path = (file: string) => fileURLToPath(new URL(file, import.meta.url));

/** Starts a file of this directory on one core, where the machine lets us choose, and waits until it listens on its port. */
export async function startPinned(
  file: string,
  args: readonly string[],
  core: number,
  port: number,
  environment: NodeJS.ProcessEnv = {},
  output?: string,
): Promise<ChildProcess> {
  // The gateway as operators start it; its wrapper replaces itself by Node, so the process stays the same.
  const command = file.endsWith('.ts') ? [process.execPath, path(file)] : [path(file)];
  return startCommand([...command, ...args], core, port, environment, output);
}

/** Starts any program on one core, and waits until it listens on its port. */
export async function startCommand(
  command: readonly string[],
  core: number,
  port: number,
  environment: NodeJS.ProcessEnv = {},
  output = '/dev/null',
): Promise<ChildProcess> {
  const [program, ...args] = pinned(command, core) as [string, ...string[]];
  const outputFile = openSync(output, 'a');
  const child = spawn(program, args, {
    env: { ...process.env, ...environment },
    stdio: ['ignore', outputFile, 'inherit'],
  });
  closeSync(outputFile);
  children.push(child);
  for (let attempt = 0; attempt < 300 && child.exitCode === null; attempt++) {
    if (await answers(port)) return child;
    await sleep(100);
  }
  throw new Error(`${command.join(' ')} does not listen on port ${port}.`);
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}

/** Some of these proxies are made of packages that only benchmarks need. */
export function startNodeProxy(file: string, surroundings: Surroundings, ...args: string[]) {
  const { port, upstreamUrl, environment } = surroundings;
  providePackages('bench');
  return startPinned(`contestants/${file}`, [String(port), upstreamUrl, ...args], CORES.contestant, port, environment);
}

/** All processes of a contestant. */
export function pidsOf({ process: child }: Pick<Contestant, 'process'>): number[] {
  return processTree(child.pid as number);
}

/** Holds a contestant still while others are measured: one that only waits still wakes for its timers and takes caches away. */
export function rest({ process: child }: Pick<Contestant, 'process'>): void {
  signal(child, 'SIGSTOP');
}

export function wake({ process: child }: Pick<Contestant, 'process'>): void {
  signal(child, 'SIGCONT');
}

/** Wakes a contestant for an act, and holds it still afterwards. */
export async function awake<T>(contestant: Contestant, act: () => Promise<T>): Promise<T> {
  wake(contestant);
  const done = await act();
  rest(contestant);
  return done;
}

export async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  signal(child, 'SIGCONT');
  child.kill('SIGTERM');
  await ended;
}

/** To the process and all that it started. */
function signal(child: ChildProcess, name: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): void {
  if (child.exitCode !== null || child.signalCode !== null) return;
  for (const pid of processTree(child.pid as number)) process.kill(pid, name);
}
