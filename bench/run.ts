// `npm run bench`: the cost of a request in the gateway, and the wait that it adds, beside everything it could be compared with, measured
// in turn in one run. Only ratios mean something: absolute figures are those of one machine on one day.

import { parseArgs } from 'node:util';
import { compare } from './compare.ts';
import { entries } from './contestants/list.ts';
import { goalsOf } from './goals.ts';
import { describeMachine } from './machine.ts';
import { printTable, type Row, sentenceOf } from './print.ts';
import type { Result } from './results.ts';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string' },
    seconds: { type: 'string' },
    connections: { type: 'string', default: '64' },
    /** Ids, separated by commas. */
    only: { type: 'string', default: entries.map(({ id }) => id).join(',') },
    quick: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    markdown: { type: 'boolean', default: false },
  },
});

/** With less, the contestants with more code are measured before it is compiled. */
const WARM_UP_MS = 3000;
const rounds = Number(values.rounds ?? (values.quick ? 2 : 5));
const seconds = Number(values.seconds ?? (values.quick ? 1 : 3));
const connections = Number(values.connections);
const chosen = values.only.split(',');
const unknown = chosen.filter((id) => !entries.some((entry) => entry.id === id));
if (unknown.length > 0) throw new Error(`--only ${unknown}: there are ${entries.map(({ id }) => id).join(', ')}.`);

const note = (text: string) => void process.stderr.write(`${text}\n`);
const progress = (text: string) => void (process.stderr.isTTY && process.stderr.write(`\r\u001b[K${text}`));

const taking = entries.filter((entry) => {
  if (!chosen.includes(entry.id)) return false;
  const remedy = entry.missing();
  if (remedy !== undefined) note(`${entry.id} does not take part. To have it: ${remedy}`);
  return remedy === undefined;
});

const results = await compare(taking, {
  rounds,
  durationMs: seconds * 1000,
  warmUpMs: WARM_UP_MS,
  connections,
  progress,
});
progress('');
const goals = goalsOf(results);

if (values.json) {
  process.stdout.write(`${JSON.stringify({ ...describeMachine(), rounds, seconds, connections, results, goals })}\n`);
} else {
  process.stdout.write(
    `${sentenceOf(describeMachine())}; median of ${rounds} rounds of ${seconds} s (least–greatest), ${connections} connections.\n\n`,
  );
  for (const scenario of new Set(results.map((result) => result.scenario))) {
    process.stdout.write(`${values.markdown ? `**${scenario}**\n` : scenario}\n`);
    printTable(results.filter((result) => result.scenario === scenario).map(toRow), values.markdown);
  }
  if (goals.length > 0) {
    const rows = goals.map(({ holds, ...goal }) => ({ ...goal, holds: holds ? 'yes' : 'NO' }));
    printTable(rows, values.markdown);
  }
}

function toRow(result: Result): Row {
  const withSpread = (value: number | undefined, range: string | undefined) =>
    value === undefined ? undefined : `${value} (${range})`;
  return {
    contestant: result.contestant,
    'CPU µs/request': withSpread(result.cpuMicros, result.cpuSpread),
    '× floor': result.timesFloor,
    'requests/s': withSpread(result.perSecond, result.perSecondSpread),
    'core %': result.busyPercent,
    'added p50 ms': withSpread(result.addedP50Ms, result.addedP50Spread),
    'added p99 ms': withSpread(result.addedP99Ms, result.addedP99Spread),
    'peak MiB': result.peakMiB,
  };
}
