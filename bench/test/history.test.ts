// Earlier runs, and whether a run is dearer than they were.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { CONTESTANTS } from '../contestants/list.ts';
import { path } from '../contestants.ts';
import { changesSince, type HistoryLine, linesOf, readHistory, writeHistory } from '../history.ts';
import { describeMachine } from '../machine.ts';
import { resultsOf } from '../results.ts';

const machine = { node: 'v24.21.0', cpu: 'a CPU', cores: 2, pinned: true, commit: 'abc', date: '2026-11-23' };

function lineWith(ratio: number, others: Partial<HistoryLine> = {}): HistoryLine {
  const { pinned: _, ...run } = machine;
  const kind = { manner: 'anew', contestant: 'gateway-redis', scenario: 'GET list' } as const;
  return { ...run, ...kind, cpuMicros: 50, ratio, low: ratio, high: ratio, confidence: 0.9, ...others };
}

const sample = (cpuMicros: number) => ({ cpuMicros, perSecond: 1, busy: 1, added: undefined });

test('a run leaves a line for each contestant and scenario, with its ratio to the floor and the interval', () => {
  const taken = [
    { id: 'floor', contestant: 'the floor', samples: [40, 80, 40].map(sample), peakBytes: 0 },
    { id: 'gateway-redis', contestant: 'the gateway', samples: [60, 130, 56].map(sample), peakBytes: 0 },
  ];
  const [, line] = linesOf(machine, resultsOf('anew', 'GET list', taken, true));
  assert.deepEqual(line, lineWith(1.5, { cpuMicros: 60, low: 1.4, high: 1.625, confidence: 0.75 }));
});

test('a run without the floor leaves no lines', () => {
  const taken = [{ id: 'gateway-redis', contestant: 'the gateway', samples: [sample(40)], peakBytes: 0 }];
  assert.deepEqual(linesOf(machine, resultsOf('anew', 'GET list', taken, false)), []);
});

test('the history is read as it was written', () => {
  const lines = [lineWith(1.5), lineWith(1.6)];
  assert.deepEqual(readHistory(writeHistory(lines)), lines);
  assert.deepEqual(readHistory(''), []);
});

test('a line that is none is named by its number', () => {
  const good = writeHistory([lineWith(1.5)]);
  assert.throws(() => readHistory(`${good}not JSON\n`), /^Error: Line 2 /);
  assert.throws(() => readHistory(`${good}${good}{"cpu":"a CPU"}\n`), /^Error: Line 3 /);
});

test('a ratio is a regression when it is more than 5 % above the median of the earlier ones', () => {
  const earlier = [1.4, 1.0, 1.2].map((ratio) => lineWith(ratio));
  const holdsAt = (ratio: number) => changesSince(earlier, [lineWith(ratio)]).map(({ holds }) => holds);
  assert.deepEqual(holdsAt(1.26), [true]);
  assert.deepEqual(holdsAt(1.27), [false]);
  assert.deepEqual(holdsAt(0.6), [true]);
  const [change] = changesSince(earlier, [lineWith(1.5)]);
  assert.deepEqual([change?.earlier, change?.runs, change?.changePercent], [1.2, 3, 25]);
});

test('absolute times do not count', () => {
  const [change] = changesSince([lineWith(1.2, { cpuMicros: 20 })], [lineWith(1.2, { cpuMicros: 90 })]);
  assert.equal(change?.holds, true);
});

test('only lines of the same CPU model, contestant, scenario and manner are compared', () => {
  const others = [{ cpu: 'another' }, { contestant: 'gateway-embedded' }, { scenario: 'POST 1 kB' }];
  for (const other of [...others, { manner: 'in turn' } as const]) {
    assert.deepEqual(changesSince([lineWith(1, other)], [lineWith(2)]), []);
  }
});

test('the recorded history is whole', () => {
  let text = '';
  try {
    text = readFileSync(path('history.jsonl'), 'utf8');
  } catch {
    // Nothing has been recorded yet.
  }
  for (const { contestant } of readHistory(text))
    assert.ok(
      CONTESTANTS.some(({ id }) => id === contestant),
      contestant,
    );
});

test('the machine is described by the name of its CPU', () => {
  assert.match(describeMachine().cpu, /\S/);
});
