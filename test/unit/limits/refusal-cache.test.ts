import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import type { ChargeMemory, LimitDecision } from '../../../gateway/limits/counters/counter-store.ts';
import { createRefusalCache, type RefusalCache } from '../../../gateway/limits/counters/refusal-cache.ts';

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

const createNotes = (): ChargeMemory => ({ sharedCharges: [], encoded: '', refusal: undefined });

let nowMs = 0;
let cache: RefusalCache;
let notes: ChargeMemory;
beforeEach(() => {
  notes = createNotes();
  nowMs = 77.25;
  cache = createRefusalCache(() => nowMs);
});

describe('a known refusal', () => {
  it('holds until its wait is over, and not a millisecond longer', () => {
    cache.put(notes, refusal);
    nowMs += 4_999;
    assert.equal(cache.get(notes)?.outcome, 'refused');
    nowMs += 1;
    assert.equal(cache.get(notes), undefined);
    assert.equal(cache.get(notes), undefined);
  });

  it('is not kept if it waits for longer than its window: the clock of Redis is set back, and may be right again at once', () => {
    cache.put(notes, { ...refusal, waitMs: 60_001 });
    assert.equal(cache.get(notes), undefined);
    cache.put(notes, { ...refusal, waitMs: 60_000 });
    assert.equal(cache.get(notes)?.outcome, 'refused');
  });

  it('returns the remaining wait, and the time at which the store would have decided', () => {
    cache.put(notes, refusal);
    nowMs += 2_000.4;
    const later = cache.get(notes);
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
    cache.put(notes, refusal);
    assert.equal(cache.get(createNotes()), undefined);
  });

  it('gives way to a later one', () => {
    cache.put(notes, refusal);
    nowMs += 5_000;
    assert.equal(cache.get(notes), undefined);
    cache.put(notes, { ...refusal, waitMs: 100 });
    assert.equal(cache.get(notes)?.waitMs, 100);
  });

  it('is forgotten when counters were reset, and can be known anew', () => {
    cache.put(notes, refusal);
    cache.clear();
    assert.equal(cache.get(notes), undefined);
    cache.put(notes, refusal);
    assert.equal(cache.get(notes)?.outcome, 'refused');
  });

  it('is never made of an admission, nor of a verdict while the store is away', () => {
    for (const outcome of ['admitted', 'undecided'] as const) {
      cache.put(notes, { ...refusal, outcome });
      assert.equal(cache.get(notes), undefined);
    }
  });
});
