// How many retries an upstream may be sent.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { createRetryBudget, type RetryBudget } from '../../../gateway/upstream/attempts/retry-budget.ts';

/** How many can be taken now. */
function left(take: () => boolean): number {
  let taken = 0;
  while (taken < 1000 && take()) taken += 1;
  return taken;
}
const times = (count: number, what: () => void) => Array.from({ length: count }, what);

describe('a retry budget', () => {
  it('has three to begin with, and three more each second, never more at once', () => {
    let at = 0;
    const budget = createRetryBudget(10, () => at);
    assert.equal(left(budget.take), 3);
    at = 400;
    assert.equal(left(budget.take), 1);
    at = 60_000;
    assert.equal(left(budget.take), 3);
  });

  it('grows by its percentage of the requests', () => {
    const budget = createRetryBudget(10, () => 0);
    times(55, budget.noteRequest);
    assert.equal(left(budget.take), 5 + 3);
  });

  it('saves up a hundred', () => {
    const budget = createRetryBudget(500, () => 0);
    times(10_000, budget.noteRequest);
    assert.ok(left(budget.take) <= 100 + 5 + 3);
  });

  it('at 0 percent is the minimum of tokens', () => {
    const budget = createRetryBudget(0, () => 0);
    times(1000, budget.noteRequest);
    assert.equal(left(budget.take), 3);
  });

  it('lets answers pay for requests lost with their connection, and time where there are no answers', () => {
    const budget = createRetryBudget(0, () => 0);
    times(5, budget.noteAnswer);
    assert.equal(left(budget.takeForLost), 5 + 3);
    assert.equal(budget.take(), false);
  });

  it('is never overdrawn, in any order of events', () => {
    const step = fc.oneof(
      fc.constantFrom<keyof RetryBudget>('noteRequest', 'noteAnswer', 'take', 'takeForLost'),
      fc.integer({ min: 1, max: 2000 }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 300 }), fc.integer({ min: 0, max: 100 }), (steps, percent) => {
        let at = 0;
        let requests = 0;
        let answers = 0;
        let taken = 0;
        const budget = createRetryBudget(percent, () => at);
        for (const one of steps) {
          if (typeof one === 'number') at += one;
          else if (budget[one]() === true) taken += 1;
          if (one === 'noteRequest') requests += 1;
          if (one === 'noteAnswer') answers += 1;
          assert.ok(taken <= (requests * percent) / 100 + answers + 3 + (at / 1000) * 3 + 1e-6);
        }
      }),
    );
  });
});
