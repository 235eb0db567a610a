// `npm run bench:overload`: loads an upstream of 500 requests a second with five times as many. Exits with 1 if it serves
// less than four fifths of its capacity, or if requests to another upstream suffer.

import { parseArgs } from 'node:util';
import { describeMachine } from './machine.ts';
import { type Figures, overloadTrial } from './overload/trial.ts';
import { printTable, sentenceOf } from './print.ts';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '10' },
    'per-second': { type: 'string', default: '2500' },
    organizations: { type: 'string', default: '5' },
    /** Members of the entry of the upstream as JSON, to try other rules. */
    entry: { type: 'string', default: '{}' },
    json: { type: 'boolean', default: false },
    markdown: { type: 'boolean', default: false },
  },
});

const figures: Figures = await overloadTrial({
  durationMs: Number(values.seconds) * 1000,
  eachMs: 10,
  perSecond: Number(values['per-second']),
  busyOrganizations: Number(values.organizations),
  entry: JSON.parse(values.entry) as object,
});

if (values.json) process.stdout.write(`${JSON.stringify({ ...describeMachine(), figures })}\n`);
else {
  process.stdout.write(`${sentenceOf(describeMachine())}.\n\n`);
  printTable(
    Object.entries(figures).map(([figure, value]) => ({ figure, value: String(value) })),
    values.markdown,
  );
}
process.exitCode = figures.goodputPerSecond >= 0.8 * figures.peakPerSecond && figures.recoveredAfterMs < 5000 ? 0 : 1;
