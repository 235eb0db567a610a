// One clock for all that is under way: everything is looked at again and again, for exactly as long as it is there.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createDeadlines } from '../../../gateway/upstream/deadlines.ts';

test('everything is looked at once in a tenth of the shortest time, and never later than 50 ms', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  for (const [shortestMs, everyMs] of [
    [5, 1],
    [200, 20],
    [30_000, 50],
  ] as const) {
    const watch = createDeadlines(shortestMs);
    const seen: string[] = [];
    const entries = ['one', 'two'].map((name) => watch.add({ look: () => void seen.push(name) }));
    t.mock.timers.tick(everyMs - 1);
    assert.deepEqual(seen, []);
    t.mock.timers.tick(1);
    assert.deepEqual(seen, ['one', 'two']);
    t.mock.timers.tick(everyMs);
    assert.deepEqual(seen, ['one', 'two', 'one', 'two']);
    for (const entry of entries) watch.remove(entry);
    t.mock.timers.tick(everyMs);
  }
});

test('removed entries are not looked at any more, later ones are, and no timer runs while there are none', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const watch = createDeadlines(100);
  let looks = 0;
  const watched = {
    look() {
      looks += 1;
    },
  };
  const entry = watch.add(watched);
  t.mock.timers.tick(10);
  watch.remove(entry);
  t.mock.timers.tick(1000);
  assert.equal(looks, 1);
  const again = watch.add(watched);
  t.mock.timers.tick(10);
  assert.equal(looks, 2);
  watch.remove(again);
});

test('an entry that removes another during the look affects no other', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const watch = createDeadlines(100);
  const looked: string[] = [];
  const first = watch.add({
    look() {
      looked.push('first');
      watch.remove(first);
    },
  });
  const second = watch.add({ look: () => void looked.push('second') });
  t.mock.timers.tick(10);
  t.mock.timers.tick(10);
  assert.deepEqual(looked, ['first', 'second', 'second']);
  watch.remove(second);
});
