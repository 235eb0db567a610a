// `npm run bench`: the cost of a request in the gateway, and the wait that it adds, beside everything it could be compared with, measured
// in one run. Only ratios mean something: absolute figures are those of one machine on one day. Ends with 1 if the gateway has become
// dearer than in the earlier runs of history.jsonl on the same model of CPU.

import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { compare } from './compare.ts';
import { CONTESTANTS, entryOf, FLOOR } from './contestants/list.ts';
import { path } from './contestants.ts';
import { goalsOf } from './goals.ts';
import { changesSince, DEARER_MAX, linesOf, readHistory, writeHistory } from './history.ts';
import { describeMachine } from './machine.ts';
import { printTable, type Row, sentenceOf } from './print.ts';
import type { Manner, Result } from './results.ts';
import { SCENARIOS, scenarioOf } from './scenarios.ts';
import { round } from './statistics.ts';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string' },
    seconds: { type: 'string' },
    connections: { type: 'string', default: '64' },
    /** Ids, separated by commas. */
    only: { type: 'string', default: CONTESTANTS.map(({ id }) => id).join(',') },
    /** Of "in turn" and "anew". */
    manner: { type: 'string', default: 'in turn,anew' },
    /** Names, separated by commas. */
    scenarios: { type: 'string', default: SCENARIOS.map(({ name }) => name).join(',') },
    quick: { type: 'boolean', default: false },
    /** Adds the run to the history. */
    record: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    markdown: { type: 'boolean', default: false },
  },
});

/** A process has compiled its hot code by then; what it has not is a part of its cost. */
const WARM_UP_MS = 3000;
const HISTORY = path('history.jsonl');
const rounds = Number(values.rounds ?? (values.quick ? 2 : 5));
const seconds = Number(values.seconds ?? (values.quick ? 1 : 3));
const connections = Number(values.connections);
const manners = values.manner.split(',').map(mannerOf);
const asked = values.scenarios.split(',').map(scenarioOf);
const chosen = values.only.split(',').map((id) => entryOf(id).id);
if (values.record && values.quick) throw new Error('--record: a quick run is too short to compare later ones with.');
if (values.record && !chosen.includes(FLOOR)) throw new Error(`--record: without ${FLOOR} there are no ratios.`);

const note = (text: string) => void process.stderr.write(`${text}\n`);
const progress = (text: string) => void (process.stderr.isTTY && process.stderr.write(`\r\u001b[K${text}`));

const taking = CONTESTANTS.filter((entry) => {
  if (!chosen.includes(entry.id)) return false;
  const remedy = entry.missing();
  if (remedy !== undefined) note(`${entry.id} does not take part. To have it: ${remedy}`);
  return remedy === undefined;
});

const machine = describeMachine();
const durationMs = seconds * 1000;
const results = await compare(taking, {
  manners,
  scenarios: asked,
  rounds,
  durationMs,
  warmUpMs: WARM_UP_MS,
  connections,
  progress,
});
progress('');
const goals = goalsOf(results);
const lines = linesOf(machine, results);
const earlier = existsSync(HISTORY) ? readHistory(readFileSync(HISTORY, 'utf8')) : [];
const changes = changesSince(earlier, lines).filter(({ contestant }) => entryOf(contestant).isGateway);
if (values.record) appendFileSync(HISTORY, writeHistory(lines));

if (values.json) {
  process.stdout.write(`${JSON.stringify({ ...machine, rounds, seconds, connections, results, goals, changes })}\n`);
} else printAll();
// A short run is for looking: its medians are those of chance.
process.exitCode = values.quick || changes.every(({ holds }) => holds) ? 0 : 1;

function mannerOf(text: string): Manner {
  if (text === 'in turn' || text === 'anew') return text;
  throw new Error(`--manner ${text}: there are "in turn" and "anew".`);
}

function printAll(): void {
  process.stdout.write(
    `${sentenceOf(machine)}; median of ${rounds} rounds of ${seconds} s (least–greatest), ${connections} connections.\n\n`,
  );
  const titleOf = ({ scenario, manner }: Result) => `${scenario}, ${manner}`;
  for (const title of new Set(results.map(titleOf))) {
    process.stdout.write(`${values.markdown ? `**${title}**\n` : title}\n`);
    printTable(results.filter((result) => titleOf(result) === title).map(toRow), values.markdown);
  }
  const yesOrNo = <T extends { readonly holds: boolean }>({ holds, ...row }: T) => ({
    ...row,
    holds: holds ? 'yes' : 'NO',
  });
  if (goals.length > 0) printTable(goals.map(yesOrNo), values.markdown);
  if (changes.length === 0) {
    process.stdout.write(`The history has no earlier run on this model of CPU: ${machine.cpu}.\n`);
    return;
  }
  process.stdout.write(`× floor beside the median of earlier runs on ${machine.cpu}, at most ${DEARER_MAX} of it:\n`);
  printTable(changes.map(yesOrNo), values.markdown);
}

function toRow(result: Result): Row {
  const withSpread = (value: number | undefined, range: string | undefined) =>
    value === undefined ? undefined : `${value} (${range})`;
  const { timesFloor, timesFloorInterval: interval } = result;
  return {
    contestant: result.contestant,
    'CPU µs/request': withSpread(result.cpuMicros, result.cpuSpread),
    '× floor': withSpread(
      timesFloor && round(timesFloor, 2),
      interval && `${interval.low.toFixed(2)}–${interval.high.toFixed(2)}`,
    ),
    'requests/s': withSpread(result.perSecond, result.perSecondSpread),
    'core %': result.busyPercent,
    'added p50 ms': withSpread(result.addedP50Ms, result.addedP50Spread),
    'added p99 ms': withSpread(result.addedP99Ms, result.addedP99Spread),
    'peak MiB': result.peakMiB,
  };
}
