import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { createRefusalCache, type RefusalCache } from '../../../gateway/limits/refusal-cache.ts';
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
let cache: RefusalCache;
beforeEach(() => {
  nowMs = 77.25;
  cache = createRefusalCache(() => nowMs);
});

describe('a known refusal', () => {
  it('holds until its wait is over, and not a millisecond longer', () => {
    cache.put(charges, refusal);
    nowMs += 4_999;
    assert.equal(cache.get(charges)?.outcome, 'refused');
    nowMs += 1;
    assert.equal(cache.get(charges), undefined);
    assert.equal(cache.get(charges), undefined);
  });

  it('returns the remaining wait, and the time at which the store would have decided', () => {
    cache.put(charges, refusal);
    nowMs += 2_000.4;
    const later = cache.get(charges);
    assert.equal(later?.waitMs, 2_999);
    assert.deepEqual(
      later?.states.map(({ resetMs }) => resetMs),
      [2_999, 0],
    );
    assert.equal(later?.decidedAtMs, 1_002_001);
    assert.equal(later?.source, 'known');
    assert.deepEqual(later?.violated, ['organization']);
  });

  it('covers exactly these charges: new rules and other operations go to the store', () => {
    cache.put(charges, refusal);
    assert.equal(cache.get([charge({ key: 'rl:{org_a}:organization' })]), undefined);
  });

  it('gives way to a later one', () => {
    cache.put(charges, refusal);
    nowMs += 5_000;
    assert.equal(cache.get(charges), undefined);
    cache.put(charges, { ...refusal, waitMs: 100 });
    assert.equal(cache.get(charges)?.waitMs, 100);
  });

  it('is forgotten when counters were reset, and can be known anew', () => {
    cache.put(charges, refusal);
    cache.clear();
    assert.equal(cache.get(charges), undefined);
    cache.put(charges, refusal);
    assert.equal(cache.get(charges)?.outcome, 'refused');
  });

  it('is never made of an admission, nor of a verdict while the store is away', () => {
    for (const outcome of ['admitted', 'undecided'] as const) {
      cache.put(charges, { ...refusal, outcome });
      assert.equal(cache.get(charges), undefined);
    }
  });
});
