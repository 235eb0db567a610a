// `node bench/workers.ts`: CPU microseconds per request of the gateway with several workers against one, everything on, limits in Redis.
// They are started in turn and never wait beside each other; the cost of the primary counts too. All processes of the gateway are kept on
// one core where the machine allows it, so that both have the same to themselves.

import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { writeConfiguration } from '../test/support/configuration.ts';
import { temporaryDirectory } from '../test/support/directory.ts';
import { shippedContracts } from '../test/support/gateway.ts';
import { createInstallation } from '../test/support/process.ts';
import { startRedis } from '../test/support/redis.ts';
import { startPinned } from './contestants.ts';
import { runLoad } from './load.ts';
import { cpuMicrosOf, describeMachine, residentBytesOf } from './machine.ts';
import { sentenceOf } from './print.ts';
import { median, round, spread } from './statistics.ts';

const { values } = parseArgs({
  options: {
    workers: { type: 'string', default: '2' },
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '4' },
    connections: { type: 'string', default: '64' },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
if (values.help) {
  process.stdout.write('node bench/workers.ts [--workers 2] [--rounds 5] [--seconds 4] [--connections 64] [--json]\n');
  process.exit(0);
}
const connections = Number(values.connections);
const durationMs = Number(values.seconds) * 1000;
/** Each process compiles its hot code by itself, so several of them on one core take as many times as long. */
const WARM_UP_MS = 9000;
const UPSTREAM_PORT = 18_481;
const PORT = 18_482;
const ADMIN_PORT = 18_483;

interface Sample {
  readonly micros: number;
  readonly perSecond: number;
  /** Bytes of all processes together. */
  readonly resident: number;
}

/** The process that was started and its workers, once all of them take requests. */
async function pidsOf(child: ChildProcess, count: number): Promise<number[]> {
  for (;;) {
    const answer = await fetch(`http://127.0.0.1:${ADMIN_PORT}/status`);
    const { workers = [] } = (await answer.json()) as { workers?: { pid: number; state: string }[] };
    const serving = workers.filter(({ state }) => state === 'serving');
    if (count === 1 || serving.length === count) return [child.pid as number, ...serving.map(({ pid }) => pid)];
    await sleep(100);
  }
}

async function sample(count: number, requests: readonly Buffer[], environment: NodeJS.ProcessEnv): Promise<Sample> {
  const child = await startPinned('../bin/gateway', ['start'], 0, PORT, { ...environment, WORKERS: String(count) });
  const ended = once(child, 'exit');
  const pids = await pidsOf(child, count);
  const load = { port: PORT, connections, requests };
  await runLoad({ ...load, durationMs: WARM_UP_MS });
  const before = cpuMicrosOf(pids);
  const { answers, seconds, statuses } = await runLoad({ ...load, durationMs });
  const micros = (cpuMicrosOf(pids) - before) / answers;
  const resident = residentBytesOf(pids);
  child.kill('SIGTERM');
  await ended;
  if (Object.keys(statuses).join() !== '200') throw new Error(`${count} workers answered ${JSON.stringify(statuses)}`);
  return { micros, perSecond: answers / seconds, resident };
}

const directory = temporaryDirectory();
const redis = await startRedis();
const upstream = await startPinned('upstream.ts', [String(UPSTREAM_PORT)], cpus().length - 1, UPSTREAM_PORT);
writeConfiguration(directory, {
  upstreams: { platform: { contracts: ['v1/*.yaml'], live: `http://127.0.0.1:${UPSTREAM_PORT}` } },
});
const environment = {
  GATEWAY_CONFIG: join(directory, 'config'),
  GATEWAY_CONTRACTS: shippedContracts,
  GATEWAY_DATA: join(directory, 'data'),
  REDIS_URL: redis.url,
  HOST: '127.0.0.1',
  PORT: String(PORT),
  ADMIN_PORT: String(ADMIN_PORT),
};
try {
  const seed = createInstallation(environment);
  const seeded = await seed.run('seed', '--organizations', '1000', '--tier', 'premium', '--json');
  const keys = seeded.stdout.trim().split('\n');
  const requests = keys.map((line) => {
    const { key } = JSON.parse(line) as { key: string };
    const head = `GET /v1/customers?limit=20 HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: application/json\r\nUser-Agent: bench\r\n`;
    return Buffer.from(`${head}Authorization: Bearer ${key}\r\n\r\n`);
  });
  const counts = [1, Number(values.workers)];
  const samples = new Map(counts.map((count) => [count, [] as Sample[]]));
  for (let round = 0; round < Number(values.rounds); round += 1) {
    for (const [count, taken] of samples) taken.push(await sample(count, requests, environment));
  }
  const microsOf = (count: number) => (samples.get(count) ?? []).map(({ micros }) => micros);
  const rows = counts.map((count) => {
    const taken = samples.get(count) ?? [];
    const micros = microsOf(count);
    return {
      workers: count,
      'CPU µs/request': round(median(micros), 1),
      spread: spread(micros, 1),
      '× one': round(median(micros) / median(microsOf(1)), 2),
      'requests/s': Math.round(median(taken.map(({ perSecond }) => perSecond))),
      'MiB of all processes': Math.round(median(taken.map(({ resident }) => resident)) / 2 ** 20),
    };
  });
  const where = describeMachine();
  if (values.json) process.stdout.write(`${JSON.stringify({ ...where, rows })}\n`);
  else {
    process.stdout.write(`${sentenceOf(where)}\n`);
    console.table(rows);
  }
} finally {
  upstream.kill('SIGTERM');
  await redis.stop();
}
