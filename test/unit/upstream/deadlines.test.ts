// One clock for all that is under way: everything is looked at again and again, for exactly as long as it is there, and after the sockets.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type TestContext, test } from 'node:test';
import { createDeadlines } from '../../../gateway/upstream/attempts/deadlines.ts';
import { until } from '../../support/connection.ts';
import { createConnected, standStill } from '../../support/stand-still.ts';

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

test('everything is looked at once in a tenth of the shortest time, and never later than 50 ms', async (t) => {
  const pass = passingTime(t);
  for (const [shortestMs, everyMs] of [
    [5, 1],
    [200, 20],
    [30_000, 50],
  ] as const) {
    const watch = createDeadlines(shortestMs);
    const seen: string[] = [];
    const entries = ['one', 'two'].map((name) => watch.add({ look: () => void seen.push(name) }));
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

test('removed entries are not looked at any more, later ones are, and no timer runs while there are none', async (t) => {
  const pass = passingTime(t);
  const watch = createDeadlines(100);
  let looks = 0;
  const watched = {
    look() {
      looks += 1;
    },
  };
  const entry = watch.add(watched);
  await pass(10);
  watch.remove(entry);
  await pass(1000);
  assert.equal(looks, 1);
  const again = watch.add(watched);
  await pass(10);
  assert.equal(looks, 2);
  watch.remove(again);
});

test('an entry that removes another during the look affects no other', async (t) => {
  const pass = passingTime(t);
  const watch = createDeadlines(100);
  const looked: string[] = [];
  const first = watch.add({
    look() {
      looked.push('first');
      watch.remove(first);
    },
  });
  const second = watch.add({ look: () => void looked.push('second') });
  await pass(10);
  await pass(10);
  assert.deepEqual(looked, ['first', 'second', 'second']);
  watch.remove(second);
});

test('an upstream gets one interval more after a time in which the process stood still', async () => {
  const { near, far, close } = await createConnected();
  const seen: string[] = [];
  far.on('data', (bytes) => far.write(bytes));
  near.on('data', () => seen.push('answer'));
  const watch = createDeadlines(500);
  const entry = watch.add({ look: () => void seen.push('look') });
  await new Promise((resolve) => setImmediate(resolve));
  near.write('request');
  standStill(200);
  await until(() => seen.includes('look'));
  assert.equal(seen[0], 'answer');
  watch.remove(entry);
  close();
});

test('bytes that came while the process stood still are read before the look', async () => {
  const { near, far, close } = await createConnected();
  const seen: string[] = [];
  near.on('data', () => seen.push('bytes'));
  far.write('x');
  const watch = createDeadlines(10);
  const entry = watch.add({ look: () => void seen.push('look') });
  standStill(50);
  await Promise.all([once(near, 'data'), until(() => seen.includes('look'))]);
  assert.equal(seen[0], 'bytes');
  watch.remove(entry);
  close();
});
