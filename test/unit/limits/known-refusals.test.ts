import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { createKnownRefusals, type KnownRefusals } from '../../../gateway/limits/known-refusals.ts';
import type { LimitDecision } from '../../../gateway/limits/store.ts';
import { charge } from './scenarios.ts';

const charges = [charge({ key: 'rl:{org_a}:organization' })];
const state = (policy: string, remaining: number, resetMs: number) => ({
  policy,
  limit: 100,
  windowSeconds: 60,
  remaining,
  resetMs,
});
const refusal: LimitDecision = {
  outcome: 'refused',
  states: [state('organization', 0, 5_000), state('exports', 3, 1_000)],
  violated: ['organization'],
  shadowRefusals: [],
  waitMs: 5_000,
  decidedAtMs: 1_000_000,
  source: 'redis',
};

let nowMs = 0;
let known: KnownRefusals;
beforeEach(() => {
  nowMs = 77.25;
  known = createKnownRefusals(() => nowMs);
});

describe('a known refusal', () => {
  it('holds until its wait is over, and not a millisecond longer', () => {
    known.note(charges, refusal);
    nowMs += 4_999;
    assert.equal(known.find(charges)?.outcome, 'refused');
    nowMs += 1;
    assert.equal(known.find(charges), undefined);
    assert.equal(known.find(charges), undefined);
  });

  it('tells the wait that is left, and the time at which the store would have decided', () => {
    known.note(charges, refusal);
    nowMs += 2_000.4;
    const later = known.find(charges);
    assert.equal(later?.waitMs, 2_999);
    assert.deepEqual(
      later?.states.map(({ resetMs }) => resetMs),
      [2_999, 0],
    );
    assert.equal(later?.decidedAtMs, 1_002_001);
    assert.equal(later?.source, 'known');
    assert.deepEqual(later?.violated, ['organization']);
  });

  it('is known of exactly these charges: new rules and other operations are asked about', () => {
    known.note(charges, refusal);
    assert.equal(known.find([charge({ key: 'rl:{org_a}:organization' })]), undefined);
  });

  it('gives way to a later one', () => {
    known.note(charges, refusal);
    nowMs += 5_000;
    assert.equal(known.find(charges), undefined);
    known.note(charges, { ...refusal, waitMs: 100 });
    assert.equal(known.find(charges)?.waitMs, 100);
  });

  it('is forgotten when counters were reset, and can be known anew', () => {
    known.note(charges, refusal);
    known.forgetAll();
    assert.equal(known.find(charges), undefined);
    known.note(charges, refusal);
    assert.equal(known.find(charges)?.outcome, 'refused');
  });

  it('is never made of an admission, nor of a verdict while the store is away', () => {
    for (const outcome of ['admitted', 'undecided'] as const) {
      known.note(charges, { ...refusal, outcome });
      assert.equal(known.find(charges), undefined);
    }
  });
});
