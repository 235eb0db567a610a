// Overload on one organization: several gateways as operators run them, on one Redis, and clients that never give up. The decisions are
// read from the access logs while they are written.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { temporaryDirectory } from '../test/support/directory.ts';
import { createInstallation } from '../test/support/process.ts';
import { startServer } from '../test/support/redis.ts';
import { startUpstream } from '../test/support/upstream.ts';
import { runLoad } from './load.ts';

export interface OverloadOptions {
  readonly instances: number;
  readonly clients: number;
  readonly requests: number;
  readonly windowSeconds: number;
  readonly durationMs: number;
  /** How long a client rests before it tries again. */
  readonly pauseMs: number;
}

export interface Decided {
  /** The store's clock at each admission, epoch milliseconds, ascending. */
  readonly admittedAtMs: readonly number[];
  readonly lastDecisionMs: number;
  /** Decisions by where they came from: `redis`, `known`, or the policy in force when Redis did not answer in time. */
  readonly sources: Readonly<Record<string, number>>;
  readonly statuses: Readonly<Record<string, number>>;
}

interface Gateway {
  readonly child: ChildProcess;
  readonly port: number;
  readonly lines: Interface;
}

const executable = fileURLToPath(new URL('../bin/gateway', import.meta.url));

/** Runs it from beginning to end. Nothing of it is left afterwards. */
export async function overload(options: OverloadOptions): Promise<Decided> {
  const redis = await startServer();
  const upstream = await startUpstream();
  const directory = temporaryDirectory();
  const { requests, windowSeconds } = options;
  writeConfiguration(directory, upstream.url, { tiers: { premium: { requests, windowSeconds } } });
  const common = { REDIS_URL: redis.url, GATEWAY_CONFIG: join(directory, 'config') };
  const installations = Array.from({ length: options.instances }, () => createInstallation(common));
  const record = createRecord();
  try {
    const key = await seedOne(installations[0] as (typeof installations)[0]);
    const gateways = await Promise.all(installations.map(({ environment }) => startLogging(environment)));
    for (const { lines } of gateways) lines.on('line', record.note);
    await Promise.all(gateways.map(({ port }) => offer(port, key, options)));
    await Promise.all(gateways.map(stop));
    return record.decided();
  } finally {
    for (const installation of installations) installation.remove();
    // Waiting for the server's end alone would not keep this process alive.
    await redis.stop();
    await upstream.close();
  }
}

function writeConfiguration(directory: string, upstream: string, limits: object): void {
  mkdirSync(join(directory, 'config'));
  const write = (file: string, content: object) =>
    writeFileSync(join(directory, 'config', file), JSON.stringify(content));
  write('gateway.yaml', { timeouts: { drainDelayMs: 0 } });
  write('upstreams.yaml', { upstreams: { platform: { contracts: ['v1/*.yaml'], live: upstream } } });
  write('limits.yaml', limits);
}

async function seedOne(installation: ReturnType<typeof createInstallation>): Promise<string> {
  const { stdout, stderr } = await installation.run('seed', '--organizations', '1', '--tier', 'premium', '--json');
  if (stdout === '') throw new Error(`No organization was made:\n${stderr}`);
  return (JSON.parse(stdout) as { key: string }).key;
}

/** A gateway with its address on its first line of output; all other lines are its log. */
async function startLogging(environment: NodeJS.ProcessEnv): Promise<Gateway> {
  const child = spawn(executable, ['start', '--json'], { env: environment, stdio: ['ignore', 'pipe', 'inherit'] });
  process.once('exit', () => child.kill('SIGKILL'));
  const lines = createInterface({ input: child.stdout });
  for await (const [line] of onLines(lines)) {
    const { port } = JSON.parse(line) as { port?: number };
    if (port !== undefined) return { child, port, lines };
  }
  throw new Error('A gateway did not start.');
}

async function* onLines(lines: Interface): AsyncGenerator<[string]> {
  for (;;) yield (await once(lines, 'line')) as [string];
}

async function stop({ child, lines }: Gateway): Promise<void> {
  const ended = Promise.all([once(child, 'exit'), once(lines, 'close')]);
  child.kill('SIGTERM');
  await ended;
}

async function offer(port: number, key: string, options: OverloadOptions): Promise<void> {
  const request = `GET /v1/customers HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${key}\r\n\r\n`;
  const connections = Math.round(options.clients / options.instances);
  const { durationMs, pauseMs } = options;
  await runLoad({ port, connections, durationMs, pauseMs, requests: [Buffer.from(request)] });
}

function createRecord() {
  const admittedAtMs: number[] = [];
  const sources: Record<string, number> = {};
  const statuses: Record<string, number> = {};
  let lastDecisionMs = 0;
  const count = (counts: Record<string, number>, name: string) => {
    counts[name] = (counts[name] ?? 0) + 1;
  };
  return {
    note(line: string): void {
      const { msg, stage, status, limit_source, decided_at } = JSON.parse(line);
      if (msg !== 'exchange') return;
      count(statuses, String(status));
      count(sources, String(limit_source));
      if (decided_at === undefined) return;
      lastDecisionMs = Math.max(lastDecisionMs, decided_at);
      // A request that passed the stage was admitted, even if it failed later.
      if (stage !== 'limit') admittedAtMs.push(decided_at);
    },
    decided: (): Decided => ({
      admittedAtMs: admittedAtMs.sort((one, other) => one - other),
      lastDecisionMs,
      sources,
      statuses,
    }),
  };
}
