// One clock for all exchanges in progress: it checks each of them again and again while it is there, and after the sockets.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type TestContext, test } from 'node:test';
import type { Forwardable } from '../../../gateway/exchange/exchange.ts';
import { createDeadlines } from '../../../gateway/upstream/deadlines/deadlines.ts';
import { until } from '../../support/connection.ts';
import { createConnected, standStill } from '../../support/stand-still.ts';

const owner = (checkDeadlines: () => void) => ({
  checkDeadlines,
  clock: { unansweredSince: () => undefined },
  exchange: {} as Forwardable,
});

/** Lets a mocked time pass, and the turn in which its timers expire. */
function passingTime(test: TestContext): (ms: number) => Promise<void> {
  test.mock.timers.enable({ apis: ['setTimeout'] });
  let nowMs = 0;
  test.mock.method(performance, 'now', () => nowMs);
  return async (ms) => {
    nowMs += ms;
    test.mock.timers.tick(ms);
    await new Promise((resolve) => setImmediate(resolve));
  };
}

test('everything is checked once in a tenth of the shortest time, and never later than 50 ms', async (t) => {
  const pass = passingTime(t);
  for (const [shortestMs, everyMs] of [
    [5, 1],
    [200, 20],
    [30_000, 50],
  ] as const) {
    const watch = createDeadlines(shortestMs);
    const seen: string[] = [];
    const entries = ['one', 'two'].map((name) => watch.add(owner(() => void seen.push(name))));
    await pass(everyMs - 1);
    assert.deepEqual(seen, []);
    await pass(1);
    assert.deepEqual(seen, ['one', 'two']);
    await pass(everyMs);
    assert.deepEqual(seen, ['one', 'two', 'one', 'two']);
    for (const entry of entries) watch.remove(entry);
    await pass(everyMs);
  }
});

test('removed entries are no longer checked, later ones are, and no timer runs while there are none', async (t) => {
  const pass = passingTime(t);
  const watch = createDeadlines(100);
  let checks = 0;
  const watched = owner(() => {
    checks += 1;
  });
  const entry = watch.add(watched);
  await pass(10);
  watch.remove(entry);
  await pass(1000);
  assert.equal(checks, 1);
  const again = watch.add(watched);
  await pass(10);
  assert.equal(checks, 2);
  watch.remove(again);
});

test('an entry that removes another during the check affects no other', async (t) => {
  const pass = passingTime(t);
  const watch = createDeadlines(100);
  const checked: string[] = [];
  const first = watch.add(
    owner(() => {
      checked.push('first');
      watch.remove(first);
    }),
  );
  const second = watch.add(owner(() => void checked.push('second')));
  await pass(10);
  await pass(10);
  assert.deepEqual(checked, ['first', 'second', 'second']);
  watch.remove(second);
});

test('an upstream gets one interval more after a time in which the process stood still', async () => {
  const { near, far, close } = await createConnected();
  const seen: string[] = [];
  far.on('data', (bytes) => far.write(bytes));
  near.on('data', () => seen.push('answer'));
  const watch = createDeadlines(500);
  const entry = watch.add(owner(() => void seen.push('check')));
  await new Promise((resolve) => setImmediate(resolve));
  near.write('request');
  standStill(200);
  await until(() => seen.includes('check'));
  assert.equal(seen[0], 'answer');
  watch.remove(entry);
  close();
});

test('bytes that came while the process stood still are read before the check', async () => {
  const { near, far, close } = await createConnected();
  const seen: string[] = [];
  near.on('data', () => seen.push('bytes'));
  far.write('x');
  const watch = createDeadlines(10);
  const entry = watch.add(owner(() => void seen.push('check')));
  standStill(50);
  await Promise.all([once(near, 'data'), until(() => seen.includes('check'))]);
  assert.equal(seen[0], 'bytes');
  watch.remove(entry);
  close();
});
