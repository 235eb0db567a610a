// Two trees side by side: the order of their measurement, the result of the samples, and the origin of the other tree.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { path } from '../contestants.ts';
import { compared, costOf, differed, orderOf } from '../pairs/paired.ts';
import { checkOut } from '../pairs/tree.ts';

test('a drift of the machine that is steady does not favour a side', () => {
  for (const pair of [0, 1]) {
    const dearer = orderOf(pair).map((side, index) => ({ side, cpuMicros: 50 + index, perSecond: 1000 }));
    const slicesOf = (side: string) => dearer.filter((slice) => slice.side === side);
    assert.equal(costOf(slicesOf('baseline')), costOf(slicesOf('candidate')));
  }
  assert.notEqual(orderOf(0)[0], orderOf(1)[0]);
});

test('a slice counts by its requests', () => {
  const slices = [
    { cpuMicros: 100, perSecond: 1000 },
    { cpuMicros: 50, perSecond: 3000 },
  ];
  assert.equal(costOf(slices), 62.5);
});

test('trees are compared by the ratios within pairs, so that a slow minute of the machine does not count', () => {
  const pairs = [40, 80, 40, 400, 40].map((baseline) => ({ baseline, candidate: baseline * 1.1 }));
  const { medianRatio, interval } = compared('GET list', pairs);
  for (const ratio of [medianRatio, interval.low, interval.high]) assert.ok(Math.abs(ratio - 1.1) < 1e-9, `${ratio}`);
});

test('an addition is compared by the differences within pairs, with the interval of their median', () => {
  // The machine holds both sides of a pair up, some pairs more than others; the candidate adds 1 to 10 ms by itself.
  const pairs = [30, 4, 80, 12, 5, 6, 7, 8, 9, 10].map((baseline, index) => ({
    baseline,
    candidate: baseline + index + 1,
  }));
  const { median, interval } = differed(pairs);
  assert.equal(median, 5.5);
  assert.deepEqual([interval.low, interval.high, Math.round(interval.confidence * 1000)], [2, 9, 979]);
});

test('a tree is that of its commit, has packages, and leaves nothing behind', () => {
  const git = (...args: string[]) => execFileSync('git', args, { cwd: path('..'), encoding: 'utf8' });
  const tree = checkOut('HEAD');
  const file = 'gateway/main.ts';
  assert.equal(readFileSync(join(tree.directory, file), 'utf8'), git('show', `HEAD:${file}`));
  assert.ok(existsSync(join(tree.directory, 'node_modules/node/bin/node')));
  assert.ok(git('worktree', 'list').includes(tree.commit));
  tree.remove();
  assert.ok(!existsSync(tree.directory));
  assert.equal(git('worktree', 'list', '--porcelain').includes(tree.directory), false);
  assert.ok(existsSync(path('../node_modules/node')), 'the packages of this tree stay');
});

test('a name that git does not know is refused', () => {
  assert.throws(() => checkOut('no-such-commit'), /no-such-commit/);
});
