// What is compared: each contestant is a process of its own in front of the same upstream.

import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

export interface Contestant {
  readonly name: string;
  readonly port: number;
  readonly process: ChildProcess;
  /** Keys of as many organizations; none where nobody asks for one. */
  readonly keys: readonly string[];
}

const path = (file: string) => fileURLToPath(new URL(file, import.meta.url));
const hasTaskset = commandExists('taskset');

export function commandExists(command: string): boolean {
  try {
    execFileSync('which', [command], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** Keeps a process on one core, where the machine lets us choose: contestants have core 0 for themselves. */
function pin(pid: number | undefined, core: number): void {
  if (hasTaskset) execFileSync('taskset', ['-a', '-p', '-c', String(core), String(pid)], { stdio: 'ignore' });
}

/** Starts a process on one core, where the machine lets us choose, and waits until it says that it is ready. */
export async function startPinned(
  file: string,
  args: readonly string[],
  core: number,
  port: number,
  environment: NodeJS.ProcessEnv = {},
): Promise<ChildProcess> {
  // The gateway as operators start it; its wrapper replaces itself by Node, so the process stays the same.
  const command = file.endsWith('.ts') ? [process.execPath, path(file)] : [path(file)];
  const child = spawn(command[0] as string, [...command.slice(1), ...args], {
    env: { ...process.env, ...environment },
    // What the gateway logs is written, and thrown away by the system.
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  pin(child.pid, core);
  for (let attempt = 0; attempt < 100 && child.exitCode === null; attempt++) {
    if (await answers(port)) return child;
    await sleep(100);
  }
  throw new Error(`${file} does not listen on port ${port}.`);
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}

export async function startFloor(port: number, upstream: string): Promise<Contestant> {
  return {
    name: 'floor: node:http + undici',
    port,
    process: await startPinned('floor.ts', [String(port), upstream], 0, port),
    keys: [],
  };
}

/** The gateway with everything on: a thousand organizations, log, metrics, limits in this process or in Redis. */
export async function startGateway(
  name: string,
  port: number,
  upstream: string,
  redisUrl?: string,
): Promise<Contestant> {
  const directory = mkdtempSync(join(tmpdir(), 'gateway-bench-'));
  mkdirSync(join(directory, 'config'));
  const write = (file: string, content: object) =>
    writeFileSync(join(directory, 'config', file), JSON.stringify(content));
  write('gateway.yaml', {});
  write('upstreams.yaml', { upstreams: { platform: { contracts: ['v1/*.yaml'], live: upstream } } });
  write('limits.yaml', { tiers: { premium: { requests: 1_000_000 } } });
  const environment = {
    HOST: '127.0.0.1',
    PORT: String(port),
    ADMIN_PORT: '0',
    GATEWAY_CONFIG: join(directory, 'config'),
    GATEWAY_DATA: join(directory, 'data'),
    REDIS_URL: redisUrl ?? '',
  };
  const seeded = execFileSync(
    path('../bin/gateway'),
    ['seed', '--organizations', '1000', '--tier', 'premium', '--json'],
    {
      env: { ...process.env, ...environment },
      encoding: 'utf8',
      maxBuffer: 1e8,
    },
  );
  const keys = seeded
    .trim()
    .split('\n')
    .map((line) => (JSON.parse(line) as { key: string }).key);
  const child = await startPinned('../bin/gateway', ['start'], 0, port, environment);
  return { name, port, process: child, keys };
}
