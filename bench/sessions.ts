// `npm run bench:sessions`: the cost of a request with a session relative to one with a key, at a gateway with everything on, and that of a
// key where people can sign in relative to one where they cannot. Ends with 1 if a median of the ratios within the rounds is above its
// bound.

import { parseArgs } from 'node:util';
import { describeMachine } from './machine.ts';
import { type Comparison, compared } from './pairs/paired.ts';
import { printTable, sentenceOf } from './print.ts';
import { type Costs, KINDS, type Kind, measureSessions } from './sessions/measure-sessions.ts';
import { median, round } from './statistics.ts';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '7' },
    seconds: { type: 'string', default: '4' },
    /** How often a round goes to all contestants and back. */
    turns: { type: 'string', default: '4' },
    'warm-up-seconds': { type: 'string', default: '3' },
    connections: { type: 'string', default: '64' },
    /** Of "redis" and "embedded". */
    stores: { type: 'string', default: 'redis,embedded' },
    'session-max': { type: 'string', default: '1.15' },
    'key-max': { type: 'string', default: '1.03' },
    json: { type: 'boolean', default: false },
    markdown: { type: 'boolean', default: false },
  },
});

interface Ratio {
  readonly of: Kind;
  readonly to: Kind;
  /** Undefined: only to look at. */
  readonly most: number | undefined;
}

const RATIOS: readonly Ratio[] = [
  { of: 'session', to: 'key', most: Number(values['session-max']) },
  { of: 'key', to: 'key, no sessions', most: Number(values['key-max']) },
  { of: 'key', to: 'floor', most: undefined },
  { of: 'session', to: 'floor', most: undefined },
];

const note = (text: string) => void (values.json || process.stdout.write(`${text}\n`));
note(
  `${sentenceOf(describeMachine())}; CPU µs/request, ${values.rounds} rounds of ${values.seconds} s, ${values.connections} connections.\n`,
);
const results = [];
for (const store of values.stores.split(',').map(storeOf)) {
  const byScenario = await measureSessions({
    embedded: store === 'embedded',
    rounds: Number(values.rounds),
    durationMs: Number(values.seconds) * 1000,
    turns: Number(values.turns),
    warmUpMs: Number(values['warm-up-seconds']) * 1000,
    connections: Number(values.connections),
    note: (scenario, number, costs) =>
      note(
        `${store}, round ${number + 1}, ${scenario}: ${KINDS.map((kind) => `${kind} ${round(costs[kind], 1)}`).join(' · ')}`,
      ),
  });
  for (const [scenario, costs] of byScenario)
    results.push({ store, scenario, costs, comparisons: comparisonsOf(costs) });
}

if (values.json) process.stdout.write(`${JSON.stringify({ ...describeMachine(), results })}\n`);
else {
  note('');
  printTable(results.flatMap(toCostRows), values.markdown);
  printTable(results.flatMap(toRatioRows), values.markdown);
}
process.exitCode = results.every(({ comparisons }) => comparisons.every(holds)) ? 0 : 1;

function storeOf(text: string): 'redis' | 'embedded' {
  if (text === 'redis' || text === 'embedded') return text;
  throw new Error(`--stores ${text}: there are redis and embedded.`);
}

type Compared = Ratio & Comparison;

function comparisonsOf(costs: readonly Costs[]): readonly Compared[] {
  return RATIOS.map((ratio) => ({
    ...ratio,
    ...compared(
      `${ratio.of} / ${ratio.to}`,
      costs.map((one) => ({ baseline: one[ratio.to], candidate: one[ratio.of] })),
    ),
  }));
}

function holds({ medianRatio, most }: Compared): boolean {
  return most === undefined || medianRatio <= most;
}

interface Result {
  readonly store: string;
  readonly scenario: string;
  readonly costs: readonly Costs[];
  readonly comparisons: readonly Compared[];
}

function toCostRows({ store, scenario, costs }: Result) {
  const medians = KINDS.map((kind) => [kind, round(median(costs.map((one) => one[kind])), 1)]);
  return [{ store, scenario, ...Object.fromEntries(medians) }];
}

function toRatioRows({ store, scenario, comparisons }: Result) {
  return comparisons.map((comparison) => {
    const { scenario: ratio, medianRatio, most, interval } = comparison;
    return {
      ...{ store, scenario, ratio, median: round(medianRatio, 3) },
      interval: `${round(interval.low, 3)}–${round(interval.high, 3)} (${round(interval.confidence * 100, 1)} %)`,
      'at most': most,
      holds: most === undefined ? '' : holds(comparison) ? 'yes' : 'NO',
    };
  });
}
