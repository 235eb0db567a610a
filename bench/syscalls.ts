// `npm run bench:syscalls`: the system calls per request at full load of the gateway and of what it is compared with, by name. Unlike CPU
// time they hardly depend on the machine. Needs root and `perf` (Debian: linux-perf), whose tracepoints hardly slow the contestant down.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { freePort } from '../test/support/free-port.ts';
import { entryOf } from './contestants/list.ts';
import { type Contestant, pidsOf, stop } from './contestants.ts';
import { withGround } from './ground.ts';
import { runLoad } from './load.ts';
import { commandExists, describeMachine } from './machine.ts';
import { warmUp } from './measure.ts';
import { printTable, type Row, sentenceOf } from './print.ts';
import { strangeKey } from './sample-keys.ts';
import { requestsOf, type Scenario, scenarioOf, verify } from './scenarios.ts';
import { round } from './statistics.ts';
import { callsIn, summedCalls } from './syscalls/summary.ts';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '3' },
    connections: { type: 'string', default: '64' },
    scenario: { type: 'string', default: 'GET list' },
    only: { type: 'string', default: 'floor,gateway-redis,gateway-embedded,nginx-lua' },
    json: { type: 'boolean', default: false },
    markdown: { type: 'boolean', default: false },
  },
});

interface Counts {
  readonly contestant: string;
  /** By the name of the system call. */
  readonly perRequest: Readonly<Record<string, number>>;
}

/** A system call has a column if one of the contestants makes it so often per request. */
const SHOWN_MIN = 0.02;
const PERF_ATTACHES_MS = 500;

if (!commandExists('perf')) throw new Error('perf is missing: apt-get install linux-perf');
const scenario = scenarioOf(values.scenario);
const counts: Counts[] = [];
for (const id of values.only.split(',')) counts.push(await countCalls(id, scenario));
const rows = rowsOf(counts);

if (values.json) process.stdout.write(`${JSON.stringify({ ...describeMachine(), scenario: scenario.name, rows })}\n`);
else {
  process.stdout.write(`${sentenceOf(describeMachine())}; ${scenario.name}, system calls per request\n\n`);
  printTable(rows, values.markdown);
}

function countCalls(id: string, asked: Scenario): Promise<Counts> {
  return withGround({}, async (ground) => {
    const redisUrl = await ground.startRedis();
    const surroundings = { ...ground, redisUrl, port: await freePort(), keys: [strangeKey()] };
    const contestant = await entryOf(id).prepare(surroundings).start();
    try {
      await warmUp(contestant, asked, { connections: Number(values.connections), durationMs: 3000 });
      return await countUnderLoad(contestant, asked);
    } finally {
      await stop(contestant.process);
    }
  });
}

/** Outside the load an attached contestant does next to nothing, so what it does there needs no subtraction. */
async function countUnderLoad(contestant: Contestant, asked: Scenario): Promise<Counts> {
  const requests = requestsOf(asked, contestant.port, asked.keysOf(contestant));
  const tracer = await attach(pidsOf(contestant));
  const durationMs = Number(values.seconds) * 1000;
  const result = await runLoad({
    port: contestant.port,
    connections: Number(values.connections),
    durationMs,
    requests,
  });
  const threads = callsIn(await summaryOf(tracer));
  verify(contestant.name, asked, result, undefined);
  const sums = Object.entries(summedCalls(threads));
  return {
    contestant: contestant.name,
    perRequest: Object.fromEntries(sums.map(([name, calls]) => [name, calls / result.answers])),
  };
}

async function attach(pids: readonly number[]): Promise<ChildProcess> {
  const tracer = spawn('perf', ['trace', '--summary', '--pid', pids.join(',')], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  await sleep(PERF_ATTACHES_MS);
  if (tracer.exitCode !== null) throw new Error('perf cannot trace system calls here: it needs root and tracefs.');
  return tracer;
}

async function summaryOf(tracer: ChildProcess): Promise<string> {
  tracer.kill('SIGINT');
  const chunks: Buffer[] = [];
  tracer.stderr?.on('data', (chunk: Buffer) => chunks.push(chunk));
  await once(tracer, 'close');
  return Buffer.concat(chunks).toString();
}

/** Columns: every call that one of the contestants makes often, the most frequent first. */
function rowsOf(counts: readonly Counts[]): Row[] {
  const greatest = new Map<string, number>();
  for (const { perRequest } of counts) {
    for (const [name, calls] of Object.entries(perRequest))
      greatest.set(name, Math.max(calls, greatest.get(name) ?? 0));
  }
  const shown = [...greatest].filter(([, calls]) => calls >= SHOWN_MIN).sort(([, one], [, other]) => other - one);
  return counts.map(({ contestant, perRequest }) => {
    const all = Object.values(perRequest).reduce((sum, calls) => sum + calls, 0);
    const columns = shown.map(([name]) => [name, round(perRequest[name] ?? 0, 2)] as const);
    return { contestant, all: round(all, 2), ...Object.fromEntries(columns) };
  });
}
