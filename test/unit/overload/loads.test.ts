// Requests in progress of organizations: never more than counted, never counted after their end.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Caller } from '../../../gateway/exchange/caller.ts';
import { newCallerMemory } from '../../../gateway/exchange/caller-memory.ts';
import type { Reservation } from '../../../gateway/exchange/exchange.ts';
import { Loads } from '../../../gateway/overload/loads.ts';

const of = (id: string) => ({ organization: { id }, memory: newCallerMemory() }) as unknown as Caller;
const reservation = (): Reservation => ({ load: undefined, bytesHeld: 0 });

test('an organization has a bounded number of requests in progress, independent of others', () => {
  const loads = new Loads();
  const [first, second] = [reservation(), reservation()];
  assert.deepEqual([loads.begin(first, of('a'), 2), loads.begin(second, of('a'), 2)], [true, true]);
  assert.equal(loads.begin(reservation(), of('a'), 2), false);
  assert.equal(loads.begin(reservation(), of('b'), 2), true);
  loads.end(first);
  assert.equal(loads.begin(reservation(), of('a'), 2), true);
});

test('callers of one organization count together, also when it was forgotten in between', () => {
  const loads = new Loads();
  const [early, late] = [of('a'), of('a')];
  const first = reservation();
  loads.begin(first, early, 2);
  loads.end(first);
  for (let count = 0; count < 5000; count += 1) {
    const other = reservation();
    loads.begin(other, of(`other ${count}`), 1);
    loads.end(other);
  }
  assert.deepEqual(
    [late, early, late].map((one) => loads.begin(reservation(), one, 2)),
    [true, true, false],
  );
});

test('a caller without an organization counts alone', () => {
  const loads = new Loads();
  const caller = { organization: undefined, subject: 'a subject' } as unknown as Caller;
  assert.equal(loads.begin(reservation(), caller, 1), true);
  assert.equal(loads.begin(reservation(), caller, 1), false);
  assert.equal(loads.begin(reservation(), { ...caller, subject: 'another' }, 1), true);
});

test('bytes are bounded in all and per organization, and the bytes of a refused request count until it has ended', () => {
  const loads = new Loads();
  const [first, second, third] = [reservation(), reservation(), reservation()];
  for (const [one, name] of [
    [first, 'a'],
    [second, 'a'],
    [third, 'b'],
  ] as const)
    loads.begin(one, of(name), 10);
  assert.equal(loads.hold(first, 60, 100, 60), true);
  assert.equal(loads.hold(second, 1, 100, 60), false, 'more than its organization may have');
  assert.equal(loads.hold(third, 40, 100, 60), false, 'more than there may be');
  loads.end(second);
  assert.equal(loads.hold(third, 0, 100, 60), true);
  assert.equal(loads.bytesHeld(), 100);
});

test('a request that has ended or never began counts nothing, and ends once', () => {
  const loads = new Loads();
  const [ended, refused] = [reservation(), reservation()];
  loads.begin(ended, of('a'), 1);
  loads.hold(ended, 10, 100, 100);
  loads.end(ended);
  loads.end(ended);
  loads.end(refused);
  assert.equal(loads.hold(ended, 1000, 100, 100), true);
  assert.equal(loads.bytesHeld(), 0);
  assert.equal(loads.begin(reservation(), of('a'), 1), true);
});

test('with very many organizations, those that have something in progress are not forgotten', () => {
  const loads = new Loads();
  loads.begin(reservation(), of('kept'), 1);
  for (let index = 0; index < 10_000; index += 1) {
    const one = reservation();
    loads.begin(one, of(`org_${index}`), 1);
    loads.end(one);
  }
  assert.equal(loads.begin(reservation(), of('kept'), 1), false);
});

test('after any sequence of requests, all is zero when none is in progress', () => {
  const exchange = fc.record({ name: fc.constantFrom('a', 'b'), bytes: fc.array(fc.nat(50), { maxLength: 4 }) });
  fc.assert(
    fc.property(fc.array(exchange, { maxLength: 30 }), (exchanges) => {
      const loads = new Loads();
      const reservations = exchanges.map(({ name, bytes }) => {
        const one = reservation();
        if (loads.begin(one, of(name), 5)) for (const some of bytes) loads.hold(one, some, 200, 100);
        return one;
      });
      assert.equal(
        loads.bytesHeld(),
        reservations.reduce((sum, { bytesHeld, load }) => sum + (load ? bytesHeld : 0), 0),
      );
      for (const one of reservations) loads.end(one);
      assert.equal(loads.bytesHeld(), 0);
      for (let index = 0; index < 5; index += 1) assert.equal(loads.begin(reservation(), of('a'), 5), true);
    }),
  );
});
