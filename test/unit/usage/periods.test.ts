// Hours, days and months in UTC, and the spans that they are stored in.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import {
  PERIOD_UNITS,
  periodAtPlace,
  periodEnd,
  periodStart,
  periodsBefore,
  placeInSpan,
  spanAt,
} from '../../../gateway/usage/periods.ts';
import { createRandom } from '../../chaos/random.ts';

const iso = (atMs: number) => new Date(atMs).toISOString();

it('a period includes its first millisecond, and not the first millisecond of the next period', () => {
  const atMs = Date.parse('2028-02-29T23:59:59.999Z');
  assert.deepEqual(
    PERIOD_UNITS.map((unit) => [iso(periodStart(unit, atMs)), iso(periodEnd(unit, atMs))]),
    [
      ['2028-02-29T23:00:00.000Z', '2028-03-01T00:00:00.000Z'],
      ['2028-02-29T00:00:00.000Z', '2028-03-01T00:00:00.000Z'],
      ['2028-02-01T00:00:00.000Z', '2028-03-01T00:00:00.000Z'],
    ],
  );
  for (const unit of PERIOD_UNITS) assert.equal(periodStart(unit, atMs + 1), periodEnd(unit, atMs));
});

it('at random moments, a span has its periods one after the other, and each has its place', () => {
  const random = createRandom(30);
  for (let run = 0; run < 2000; run += 1) {
    const atMs = random.between(Date.UTC(1970, 0), Date.UTC(2100, 0));
    for (const unit of PERIOD_UNITS) {
      const span = spanAt(unit, atMs);
      const startMs = periodStart(unit, atMs);
      assert.ok(span.startMs <= startMs && startMs <= atMs && atMs < periodEnd(unit, atMs));
      assert.ok(periodEnd(unit, atMs) <= span.endMs);
      assert.equal(periodAtPlace(span, placeInSpan(unit, startMs)), startMs);
      assert.ok(iso(atMs).startsWith(span.name));
      assert.equal(spanAt(unit, span.endMs).startMs, span.endMs);
    }
  }
});

it('going back by months keeps to their first days', () => {
  const atMs = Date.parse('2027-03-31T10:00:00Z');
  assert.equal(iso(periodsBefore('month', atMs, 1)), '2027-02-01T00:00:00.000Z');
  assert.equal(iso(periodsBefore('month', atMs, 15)), '2025-12-01T00:00:00.000Z');
  assert.equal(iso(periodsBefore('day', atMs, 30)), '2027-03-01T00:00:00.000Z');
  assert.equal(iso(periodsBefore('hour', atMs, 24)), '2027-03-30T10:00:00.000Z');
});
