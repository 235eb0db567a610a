// `node bench/limits-cost.ts`: the cost of the limit stage for a gateway on Redis, as the difference of CPU per request between gateways
// with and without limits, beside the same difference for a plain RateLimiterRedis in its place.

import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { connectRedis, type Redis } from '../gateway/redis/client.ts';
import { temporaryDirectory } from '../test/support/directory.ts';
import { startServer } from '../test/support/redis.ts';
import { type Contestant, rest, startPinned, stop, wake } from './contestants.ts';
import { runLoad } from './load.ts';
import { runPaced } from './paced.ts';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '7' },
    seconds: { type: 'string', default: '3' },
    connections: { type: 'string', default: '64' },
    /** 0: all that the gateway can do. */
    'per-second': { type: 'string', default: '8000' },
  },
});
const rounds = Number(values.rounds);
const durationMs = Number(values.seconds) * 1000;
const connections = Number(values.connections);
const perSecond = Number(values['per-second']);

const path = (file: string) => fileURLToPath(new URL(file, import.meta.url));
const median = (numbers: readonly number[]) => [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;
const round1 = (number: number) => Math.round(number * 10) / 10;

interface Variant {
  readonly name: string;
  readonly limits: { readonly tiers: { readonly premium?: object } };
  readonly nodeOptions: string;
}

const TIERS = { premium: { requests: 1_000_000 } };
const VARIANTS: readonly Variant[] = [
  { name: 'no limits', limits: { tiers: {} }, nodeOptions: '' },
  { name: 'limit stage', limits: { tiers: TIERS }, nodeOptions: '' },
  { name: 'RateLimiterRedis', limits: { tiers: TIERS }, nodeOptions: `--import ${path('limits-plain.ts')}` },
];

interface Sample {
  readonly cpuMicros: number;
  readonly perSecond: number;
  readonly perCommand: number;
}

interface Gateway extends Omit<Contestant, 'keys'> {
  readonly samples: Sample[];
}

/** After it was held still, for its connection to Redis to be found in order again. */
const WARM_UP_MS = 1000;

const redis = await startServer();
const observer = connectRedis({ url: redis.url });
const UPSTREAM_PORT = 18_571;
const upstream = await startPinned('upstream.ts', [String(UPSTREAM_PORT)], 1, UPSTREAM_PORT);
const directory = temporaryDirectory();

/** The configuration of a gateway, written out. */
function environmentOf({ name, limits, nodeOptions }: Variant, port: number): NodeJS.ProcessEnv {
  const home = join(directory, name.replaceAll(' ', '-'));
  mkdirSync(home);
  const write = (file: string, content: object) => writeFileSync(join(home, file), JSON.stringify(content));
  write('gateway.yaml', {});
  write('upstreams.yaml', {
    upstreams: { platform: { contracts: ['v1/*.yaml'], live: `http://127.0.0.1:${UPSTREAM_PORT}` } },
  });
  write('limits.yaml', limits);
  return {
    HOST: '127.0.0.1',
    PORT: String(port),
    ADMIN_PORT: '0',
    GATEWAY_CONFIG: home,
    GATEWAY_DATA: join(home, 'data'),
    REDIS_URL: redis.url,
    NODE_OPTIONS: nodeOptions,
  };
}

/** One key of each organization, which all variants know: they share the Redis. */
function seed(environment: NodeJS.ProcessEnv): string[] {
  const printed = execFileSync(
    path('../bin/gateway'),
    ['seed', '--organizations', '1000', '--tier', 'premium', '--json'],
    { env: { ...process.env, ...environment }, encoding: 'utf8', maxBuffer: 1e8 },
  );
  const lines = printed.trim().split('\n');
  return lines.map((line) => (JSON.parse(line) as { key: string }).key);
}

/** User and system time of a process so far, all threads (Linux: /proc, in clock ticks of 10 ms). */
function cpuMicrosOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10_000;
}

/** Scripts run so far: nearly all of them are decisions. */
async function commandsOf(client: Redis): Promise<number> {
  const counts = (await client.info('commandstats')).matchAll(/cmdstat_eval(?:sha)?:calls=(\d+)/g);
  return [...counts].reduce((sum, [, calls]) => sum + Number(calls), 0);
}

async function sample(port: number, pid: number, requests: readonly Buffer[], forMs: number): Promise<Sample> {
  const [cpuBefore, commandsBefore] = [cpuMicrosOf(pid), await commandsOf(observer)];
  const load = { port, connections, durationMs: forMs, requests };
  const { answers, seconds, statuses } = await (perSecond === 0 ? runLoad(load) : runPaced({ ...load, perSecond }));
  if (statuses[200] !== answers) throw new Error(`answered ${JSON.stringify(statuses)}`);
  const commands = (await commandsOf(observer)) - commandsBefore;
  return {
    cpuMicros: (cpuMicrosOf(pid) - cpuBefore) / answers,
    perSecond: answers / seconds,
    perCommand: answers / Math.max(1, commands),
  };
}

const gateways: Gateway[] = [];
let keys: string[] = [];
for (const [index, variant] of VARIANTS.entries()) {
  const port = 18_572 + index;
  const environment = environmentOf(variant, port);
  const child = await startPinned('../bin/gateway', ['start'], 0, port, environment);
  gateways.push({ name: variant.name, port, process: child, samples: [] });
  // Where nothing is limited there is no tier to be in.
  if (keys.length === 0 && variant.limits.tiers.premium !== undefined) keys = seed(environment);
}
// Beside others that only wait, a gateway is dearer than alone.
gateways.forEach(rest);

for (let round = -1; round < rounds; round += 1) {
  for (const gateway of gateways) {
    const { port, process: child, samples } = gateway;
    const requests = keys.map((key) =>
      Buffer.from(
        `GET /v1/customers?limit=20 HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${key}\r\n\r\n`,
      ),
    );
    wake(gateway);
    await runLoad({ port, connections, durationMs: WARM_UP_MS, requests });
    const taken = await sample(port, child.pid as number, requests, durationMs);
    rest(gateway);
    // The first round is for the compilers.
    if (round >= 0) samples.push(taken);
  }
}

process.stdout.write(
  `Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model}; ${rounds} rounds of ${values.seconds} s, ${connections} connections, ${perSecond || 'all possible'} requests a second\n`,
);
const noLimits = gateways[0]?.samples ?? [];
console.table(
  gateways.map(({ name, samples }) => {
    // Per round, so that a disturbance of the machine affects both sides of a difference.
    const differences = samples.map(({ cpuMicros }, round) => cpuMicros - (noLimits[round]?.cpuMicros ?? 0));
    return {
      stage: name,
      'CPU µs/request': round1(median(samples.map(({ cpuMicros }) => cpuMicros))),
      difference: round1(median(differences)),
      spread: `${round1(Math.min(...differences))}–${round1(Math.max(...differences))}`,
      'requests/s': Math.round(median(samples.map(({ perSecond }) => perSecond))),
      'requests/command': round1(median(samples.map(({ perCommand }) => perCommand))),
    };
  }),
);

for (const { process: child } of gateways) await stop(child);
observer.disconnect();
await redis.stop();
upstream.kill('SIGTERM');
