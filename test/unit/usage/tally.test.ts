// Requests are counted by organization, key, operation, class of status and UTC hour, in bounded memory.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createTally, type TalliedCount, type TallyOptions } from '../../../gateway/usage/tally.ts';
import { LIMIT_RUNS } from '../limits/scenarios.ts';
import { callerOf, ended, HOUR_MS, NOW_MS, operationOf } from './samples.ts';

const list = operationOf('listThings');
const create = operationOf('createThing');
const hourOf = (atMs: number) => Math.floor(atMs / HOUR_MS) * HOUR_MS;
const total = (counts: readonly TalliedCount[]) => counts.reduce((sum, { requests }) => sum + requests, 0);

function tallyAt(nowMs = NOW_MS, more: Partial<TallyOptions> = {}) {
  const clock = { nowMs };
  const told = { pairs: 0, full: 0 };
  const tally = createTally({
    now: () => clock.nowMs,
    onPair() {
      told.pairs += 1;
    },
    onFull() {
      told.full += 1;
    },
    ...more,
  });
  return { ...tally, take: () => [...tally.take()], clock, told };
}

describe('a tally', () => {
  it('separates keys, operations and status classes only', () => {
    const { count, take } = tallyAt();
    const caller = callerOf('key_1');
    for (const status of [200, 201, 404, 429, 499, 503]) count(ended(caller, list, status));
    count(ended(caller, create, 201));
    // The caller was read anew.
    count(ended(callerOf('key_1'), list, 200));
    count(ended(callerOf('key_1', 'org_b'), list, 101));
    count(ended(callerOf('user:7', 'org_a', 'idp'), undefined, 302));
    const rows = take().map(({ organization, key, operation, statusClass, requests }) =>
      [organization, key, operation, statusClass, requests].join(' '),
    );
    assert.deepEqual(rows.sort(), [
      'org_a idp:user:7  3 1',
      'org_a key_1 createThing 2 1',
      'org_a key_1 listThings 2 1',
      'org_a key_1 listThings 2 2',
      'org_a key_1 listThings 4 3',
      'org_a key_1 listThings 5 1',
      'org_b key_1 listThings 1 1',
    ]);
  });

  it('counts nothing of a caller without an organization', () => {
    const { count, take, told } = tallyAt();
    count(ended(undefined, list, 200));
    count(ended({ ...callerOf('anonymous'), organization: undefined }, list, 200));
    assert.deepEqual([take(), told.pairs], [[], 0]);
  });

  it('counts a status that has no class as 5xx', () => {
    const { count, take } = tallyAt();
    const caller = callerOf('key_1');
    for (const status of [0, 99, 600, 999, Number.NaN]) count(ended(caller, list, status));
    assert.deepEqual(
      take().map(({ statusClass, requests }) => [statusClass, requests]),
      [[5, 5]],
    );
  });

  it('begins a new hour with its first millisecond, and continues a former hour after the clock was set back', () => {
    const border = hourOf(NOW_MS) + HOUR_MS;
    const { count, take, clock } = tallyAt(border - 1);
    const caller = callerOf('key_1');
    for (const atMs of [border - 1, border, border + HOUR_MS, border - 1, border, border - 50 * HOUR_MS]) {
      clock.nowMs = atMs;
      count(ended(caller, list, 200));
    }
    assert.deepEqual(
      take().map(({ hourMs, requests }) => [(hourMs - border) / HOUR_MS, requests]),
      [
        [-1, 2],
        [0, 2],
        [1, 1],
        [-50, 1],
      ],
    );
  });

  it('begins anew after each take', () => {
    const { count, take, size, told } = tallyAt();
    const caller = callerOf('key_1');
    count(ended(caller, list, 200));
    count(ended(caller, list, 500));
    assert.deepEqual([size(), told.pairs], [1, 1]);
    assert.equal(total(take()), 2);
    assert.deepEqual([size(), take()], [0, []]);
    count(ended(caller, list, 200));
    assert.deepEqual([total(take()), told.pairs], [1, 2]);
  });

  it('asks for a flush when it is full, and has room after that', () => {
    const taken: TalliedCount[] = [];
    const tally = tallyAt(NOW_MS, { pairsMax: 10, onFull: () => taken.push(...tally.take()) });
    for (let index = 0; index < 95; index += 1) tally.count(ended(callerOf(`key_${index}`), list, 200));
    assert.equal(taken.length, 90);
    assert.deepEqual([tally.size(), tally.losses()], [5, { folded: 0, lost: 0 }]);
    assert.ok([...taken, ...tally.take()].every(({ key, requests }) => key !== '' && requests === 1));
  });

  it('folds requests without room by organization and status class, and still counts known pairs', () => {
    const { count, take, losses, told } = tallyAt(NOW_MS, { pairsMax: 2 });
    const known = callerOf('key_1');
    count(ended(known, list, 200));
    count(ended(known, create, 200));
    for (let index = 0; index < 5; index += 1) count(ended(callerOf(`key_x${index}`, `org_${index % 2}`), list, 400));
    count(ended(known, list, 200));
    const rows = take().map(({ organization, key, requests }) => [organization, key, requests].join(' '));
    assert.deepEqual(rows, ['org_a key_1 2', 'org_a key_1 1', 'org_0  3', 'org_1  2']);
    assert.deepEqual([told.full, losses()], [5, { folded: 5, lost: 0 }]);
  });

  it('counts the requests that it could not count as lost', () => {
    const { count, take, losses, size } = tallyAt(NOW_MS, { pairsMax: 0, foldedMax: 3 });
    for (let index = 0; index < 10; index += 1) count(ended(callerOf('key_1', `org_${index}`), list, 200));
    assert.deepEqual([size(), losses()], [3, { folded: 3, lost: 7 }]);
    assert.equal(total(take()), 3);
  });

  it('takes bounded memory for any number of keys, and loses none of their requests', () => {
    const keys = 200_000 * LIMIT_RUNS;
    const { count, take, size, losses } = tallyAt();
    const before = memory();
    // Each is garbage as soon as it is folded.
    for (let index = 0; index < keys; index += 1) count(ended(callerOf(`key_${index}`), list, 200));
    const grown = memory() - before;
    assert.ok(size() <= 10_001, `${size()} entries`);
    // 10,000 pairs with their callers, which have a memory of their own. All keys would take 20 times as much.
    assert.ok(grown < 40_000_000, `${grown} bytes`);
    assert.deepEqual(losses(), { folded: keys - 10_000, lost: 0 });
    assert.equal(total(take()), keys);
  });

  it('keeps names that are members of every object apart', () => {
    const { count, take } = tallyAt();
    const names = ['__proto__', 'constructor', 'toString', ''];
    for (const name of names) count(ended(callerOf(name, name || 'org_a'), operationOf(name), 200));
    assert.deepEqual(
      take().map(({ key, operation }) => [key, operation]),
      names.map((name) => [name, name]),
    );
  });
});

function memory(): number {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  return process.memoryUsage().heapUsed;
}
