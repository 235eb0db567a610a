// `npm run bench:pairs -- --baseline COMMIT`: the cost of a request in the gateway of this working tree relative to that commit, everything
// on, with Redis. Both alternate in one run. Ends with 1 if a median of the paired ratios is above its bound.

import { parseArgs } from 'node:util';
import { path } from './contestants.ts';
import { describeMachine } from './machine.ts';
import { measurePairs } from './pairs/measure-pairs.ts';
import { type Comparison, ratioOf } from './pairs/paired.ts';
import { checkOut } from './pairs/tree.ts';
import { printTable } from './print.ts';
import { median, round } from './statistics.ts';

const { values } = parseArgs({
  options: {
    /** Any git name of a commit. */
    baseline: { type: 'string', default: 'HEAD' },
    pairs: { type: 'string', default: '10' },
    seconds: { type: 'string', default: '3' },
    'warm-up-seconds': { type: 'string', default: '3' },
    connections: { type: 'string', default: '64' },
    'ratio-max': { type: 'string', default: '1.03' },
    json: { type: 'boolean', default: false },
    markdown: { type: 'boolean', default: false },
  },
});
const ratioMax = Number(values['ratio-max']);
const note = (text: string) => void (values.json || process.stdout.write(`${text}\n`));

const machine = describeMachine();
const tree = checkOut(values.baseline);
note(
  `${machine.date}, commit ${machine.commit} against ${tree.commit}, Node ${machine.node}, ` +
    `${machine.cores} cores (${machine.cpu}), ${machine.pinned ? 'pinned' : 'not pinned'}; CPU µs/request\n`,
);
const comparisons = await measurePairs({
  trees: { baseline: tree.directory, candidate: path('..') },
  pairs: Number(values.pairs),
  durationMs: Number(values.seconds) * 1000,
  warmUpMs: Number(values['warm-up-seconds']) * 1000,
  connections: Number(values.connections),
  note(scenario, number, pair) {
    const { baseline, candidate } = pair;
    note(
      `pair ${number + 1}, ${scenario}: ${round(baseline, 1)} before, ${round(candidate, 1)} after, × ${ratioOf(pair).toFixed(3)}`,
    );
  },
});
tree.remove();

if (values.json) {
  process.stdout.write(`${JSON.stringify({ ...machine, baseline: tree.commit, ratioMax, comparisons })}\n`);
} else {
  note('');
  printTable(comparisons.map(toRow), values.markdown);
}
process.exitCode = comparisons.every(({ medianRatio }) => medianRatio <= ratioMax) ? 0 : 1;

function toRow({ scenario, pairs, medianRatio, interval }: Comparison) {
  const { low, high, confidence } = interval;
  return {
    scenario,
    pairs: pairs.length,
    'before µs': round(median(pairs.map(({ baseline }) => baseline)), 1),
    'after µs': round(median(pairs.map(({ candidate }) => candidate)), 1),
    'median ratio': round(medianRatio, 3),
    interval: `${round(low, 3)}–${round(high, 3)} (${round(confidence * 100, 1)} %)`,
    [`at most ${ratioMax}`]: medianRatio <= ratioMax ? 'yes' : 'NO',
  };
}
