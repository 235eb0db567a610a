// Refusals are counted one by one, and reported once per overload: when it begins and when it is over.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createShedding } from '../../../gateway/overload/shedding.ts';

test('each upstream and the gateway itself have separate overloads, each reported at its beginning and end', (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  let now = 0;
  const told: unknown[] = [];
  const counted: string[] = [];
  const shedding = createShedding({
    onBegin: (...what) => told.push(['begins', ...what]),
    onEnd: (...what) => told.push(['ends', ...what]),
    onShed: (reason) => counted.push(reason),
    now: () => now,
  });
  const pass = (ms: number) => {
    now += ms;
    t.mock.timers.tick(ms);
  };

  shedding.note('upstream_queue', 'books');
  pass(1000);
  shedding.note('upstream_wait', 'books');
  shedding.note('in_flight');
  assert.deepEqual(told.splice(0), [
    ['begins', 'books', 'upstream_queue'],
    ['begins', undefined, 'in_flight'],
  ]);
  assert.deepEqual(
    [shedding.isShedding('books'), shedding.isShedding(), shedding.isShedding('other')],
    [true, true, false],
  );

  for (let index = 0; index < 3; index += 1) {
    pass(1500);
    shedding.note('in_flight');
  }
  assert.deepEqual(told.splice(0), [['ends', 'books', 2, 1000]]);
  assert.deepEqual([shedding.isShedding('books'), shedding.isShedding()], [false, true]);

  pass(1500);
  pass(500);
  assert.deepEqual(told.splice(0), [['ends', undefined, 4, 4500]]);
  shedding.note('in_flight');
  assert.deepEqual(told.splice(0), [['begins', undefined, 'in_flight']]);
  assert.deepEqual(counted, ['upstream_queue', 'upstream_wait', ...Array(5).fill('in_flight')]);
  shedding.stop();
  pass(10_000);
  assert.deepEqual(told, []);
});
