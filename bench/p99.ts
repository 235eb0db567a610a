// `npm run bench:p99`: the wait in the 99th percentile that the gateway, everything on, with Redis or its own stores, adds to that of the floor, in pairs at a
// fixed rate of half the gateway's maximum. Ends with 1 if the median of the differences is above its bound.

import { parseArgs } from 'node:util';
import { EMBEDDED_GATEWAY, GATEWAY } from './contestants/list.ts';
import { describeMachine } from './machine.ts';
import { measureTails, type Tails } from './pairs/measure-tails.ts';
import { differed, type Side } from './pairs/paired.ts';
import { printTable, sentenceOf } from './print.ts';
import { median, round } from './statistics.ts';

const { values } = parseArgs({
  options: {
    pairs: { type: 'string', default: '10' },
    seconds: { type: 'string', default: '6' },
    'warm-up-seconds': { type: 'string', default: '3' },
    connections: { type: 'string', default: '64' },
    /** With its own stores in place of Redis. */
    embedded: { type: 'boolean', default: false },
    /** Default: half of the gateway's maximum. */
    'per-second': { type: 'string' },
    'added-max-ms': { type: 'string', default: '2' },
    json: { type: 'boolean', default: false },
    markdown: { type: 'boolean', default: false },
  },
});
const addedMaxMs = Number(values['added-max-ms']);
const note = (text: string) => void (values.json || process.stdout.write(`${text}\n`));

const machine = describeMachine();
note(`${sentenceOf(machine)}; milliseconds\n`);
let rate = 0;
const tails = await measureTails({
  candidate: values.embedded ? EMBEDDED_GATEWAY : GATEWAY,
  pairs: Number(values.pairs),
  durationMs: Number(values.seconds) * 1000,
  warmUpMs: Number(values['warm-up-seconds']) * 1000,
  connections: Number(values.connections),
  ...(values['per-second'] === undefined ? {} : { perSecond: Number(values['per-second']) }),
  noteRate(perSecond) {
    rate = Math.round(perSecond);
    note(`${rate} requests a second`);
  },
  note: (number, { p50, p99, busy }) =>
    note(
      `pair ${number + 1}: floor p50 ${round(p50.baseline, 2)}, p99 ${round(p99.baseline, 2)}, ${percent(busy.baseline)} busy; ` +
        `gateway p50 ${round(p50.candidate, 2)}, p99 ${round(p99.candidate, 2)}, ${percent(busy.candidate)} busy; ` +
        `p99 ${signed(p99.candidate - p99.baseline)}`,
    ),
});

const rows = (['p50', 'p99'] as const).map((percentile) => toRow(percentile, tails));
const added = differed(tails.map(({ p99 }) => p99));
const holds = added.median <= addedMaxMs;
if (values.json) {
  process.stdout.write(`${JSON.stringify({ ...machine, perSecond: rate, addedMaxMs, added, holds, tails })}\n`);
} else {
  note('');
  printTable(rows, values.markdown);
  const busy = (side: Side) => percent(median(tails.map((one) => one.busy[side])));
  note(`\nOf its core, the floor took ${busy('baseline')}, the gateway ${busy('candidate')}.`);
  note(`The gateway adds at most ${addedMaxMs} ms at the 99th percentile: ${holds ? 'yes' : 'NO'}.`);
}
process.exitCode = holds ? 0 : 1;

function toRow(percentile: 'p50' | 'p99', taken: readonly Tails[]) {
  const pairs = taken.map((one) => one[percentile]);
  const { median: middle, interval } = differed(pairs);
  return {
    wait: percentile,
    pairs: pairs.length,
    'floor ms': round(median(pairs.map(({ baseline }) => baseline)), 2),
    'gateway ms': round(median(pairs.map(({ candidate }) => candidate)), 2),
    'median of the differences': signed(middle),
    interval: `${signed(interval.low)} to ${signed(interval.high)} (${round(interval.confidence * 100, 1)} %)`,
  };
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}

function signed(ms: number): string {
  return `${ms < 0 ? '−' : '+'}${Math.abs(ms).toFixed(2)}`;
}
