// `npm run bench`: CPU microseconds per request of the gateway and of the floor, measured alternately in one run. Only the ratio means
// something: absolute figures are those of one machine on one day.

import { readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { startRedis } from '../test/support/redis.ts';
import { type Contestant, startFloor, startGateway, startPinned } from './contestants.ts';
import { runLoad } from './load.ts';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '3' },
    connections: { type: 'string', default: '64' },
    json: { type: 'boolean', default: false },
  },
});
const rounds = Number(values.rounds);
const durationMs = Number(values.seconds) * 1000;
const connections = Number(values.connections);

interface Sample {
  readonly cpuMicros: number;
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
}

interface Scenario {
  readonly name: string;
  readonly status: number;
  requestsFor(contestant: Contestant): Buffer[];
}

const body = JSON.stringify({
  name: 'Ada Vandermeer',
  email: 'ada@example.com',
  phone: '+15551000001',
  metadata: { note: 'x'.repeat(400), more: 'y'.repeat(450) },
});
const scenarios: readonly Scenario[] = [
  {
    name: 'GET list',
    status: 200,
    requestsFor: (contestant) => requests(contestant, 'GET /v1/customers?limit=20 HTTP/1.1', ''),
  },
  {
    name: 'POST 1 kB',
    status: 201,
    requestsFor: (contestant) => requests(contestant, 'POST /v1/customers HTTP/1.1', body),
  },
];

function requests({ keys, port }: Contestant, line: string, content: string): Buffer[] {
  const common = `${line}\r\nHost: 127.0.0.1:${port}\r\nAccept: application/json\r\nUser-Agent: bench\r\n`;
  const framing =
    content === '' ? '' : `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(content)}\r\n`;
  // The floor is sent the same bytes; it does not look at them.
  const sent = keys.length === 0 ? ['x'.repeat(46)] : keys;
  const authorizations = sent.map((key) => `Authorization: Bearer ${key}\r\n`);
  return authorizations.map((authorization) => Buffer.from(`${common}${authorization}${framing}\r\n${content}`));
}

/** User and system time of a process so far, all threads, in microseconds (Linux: /proc, in clock ticks of 10 ms). */
function cpuMicrosOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10_000;
}

async function sample(contestant: Contestant, scenario: Scenario, forMs: number): Promise<Sample> {
  const pid = contestant.process.pid as number;
  const before = cpuMicrosOf(pid);
  const result = await runLoad({
    port: contestant.port,
    connections,
    durationMs: forMs,
    requests: scenario.requestsFor(contestant),
  });
  const unexpected = Object.keys(result.statuses).filter((status) => Number(status) !== scenario.status);
  if (unexpected.length > 0)
    throw new Error(`${contestant.name}, ${scenario.name}: answered ${JSON.stringify(result.statuses)}`);
  const at = (share: number) => result.latencies[Math.floor(result.latencies.length * share)] ?? 0;
  return {
    cpuMicros: (cpuMicrosOf(pid) - before) / result.answers,
    perSecond: result.answers / result.seconds,
    p50: at(0.5),
    p99: at(0.99),
  };
}

const median = (numbers: readonly number[]) => [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;

const redis = await startRedis();
const upstreamPort = 18_471;
const upstream = await startPinned('upstream.ts', [String(upstreamPort)], 1, upstreamPort);
const upstreamUrl = `http://127.0.0.1:${upstreamPort}`;
const gateways = [
  (port: number) => startGateway('gateway: all on, Redis', port, upstreamUrl, redis.url),
  (port: number) => startGateway('gateway: all on, embedded', port, upstreamUrl),
];

const results: Record<string, unknown>[] = [];
// One gateway at a time beside the floor: a second one that only waits makes the first dearer by up to a third.
for (const [index, start] of gateways.entries()) {
  const floor = await startFloor(18_472 + 2 * index, upstreamUrl);
  const gateway = await start(18_473 + 2 * index);
  for (const scenario of scenarios) await compare(floor, gateway, scenario);
  for (const { process: child } of [floor, gateway]) {
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGTERM');
    await ended;
  }
}

async function compare(floor: Contestant, gateway: Contestant, scenario: Scenario): Promise<void> {
  const samples = new Map([floor, gateway].map((contestant) => [contestant, [] as Sample[]]));
  for (const contestant of samples.keys()) await sample(contestant, scenario, 2000);
  for (let round = 0; round < rounds; round++) {
    for (const [contestant, taken] of samples) taken.push(await sample(contestant, scenario, durationMs));
  }
  const floorMicros = median((samples.get(floor) ?? []).map(({ cpuMicros }) => cpuMicros));
  for (const [contestant, taken] of samples) {
    const micros = taken.map(({ cpuMicros }) => cpuMicros);
    results.push({
      scenario: scenario.name,
      contestant: contestant.name,
      'CPU µs/request': round1(median(micros)),
      spread: `${round1(Math.min(...micros))}–${round1(Math.max(...micros))}`,
      '× floor': Math.round((median(micros) / floorMicros) * 100) / 100,
      'requests/s': Math.round(median(taken.map(({ perSecond }) => perSecond))),
      'p50 ms': round1(median(taken.map(({ p50 }) => p50))),
      'p99 ms': round1(median(taken.map(({ p99 }) => p99))),
    });
  }
}

function round1(number: number): number {
  return Math.round(number * 10) / 10;
}

if (values.json)
  process.stdout.write(
    `${JSON.stringify({ node: process.version, cpu: cpus()[0]?.model, rounds, connections, results })}\n`,
  );
else {
  process.stdout.write(
    `Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model}; ${rounds} rounds of ${values.seconds} s, ${connections} connections\n`,
  );
  console.table(results);
}

upstream.kill('SIGTERM');
await redis.stop();
