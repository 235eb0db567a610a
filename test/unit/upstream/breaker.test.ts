// The circuit breaker of an upstream, under a clock that only the test moves.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import { type BreakerRules, type BreakerState, createBreaker } from '../../../gateway/upstream/breaker.ts';
import type { AttemptOutcome } from '../../../gateway/upstream/outcome.ts';

const rules: BreakerRules = { failurePercent: 50, requestsMin: 10, windowSeconds: 10, openSeconds: 5 };

function createScene(given: BreakerRules | 'off' = rules) {
  let nowMs = 123_456;
  const changes: BreakerState[] = [];
  const breaker = createBreaker(given, { clock: () => nowMs, onChange: (state) => changes.push(state) });
  return {
    breaker,
    changes,
    pass(ms: number) {
      nowMs += ms;
    },
    now: () => nowMs,
    end(outcome: AttemptOutcome, times = 1, sentAtMs = nowMs) {
      for (let i = 0; i < times; i++) breaker.ended(outcome, sentAtMs);
    },
  };
}

describe('the breaker of an upstream', () => {
  it('opens when half of enough requests have failed, and reports for how long', () => {
    const { breaker, changes, end, pass } = createScene();
    end('answered', 5);
    end('failed', 4);
    assert.equal(breaker.admit(), 0);
    end('failed');
    assert.deepEqual(changes, ['open']);
    assert.equal(breaker.admit(), 5000);
    pass(4999);
    assert.equal(breaker.admit(), 1);
    assert.equal(breaker.state(), 'open');
  });

  it('does not open for faults of single requests, and closes for them', () => {
    const { breaker, end, pass } = createScene();
    end('erred', 100);
    assert.equal(breaker.state(), 'closed');
    end('failed', 100);
    assert.equal(breaker.state(), 'open');
    pass(5000);
    assert.equal(breaker.admit(), 0);
    end('erred');
    assert.equal(breaker.state(), 'closed', 'an upstream that answers with errors is up');
  });

  it('stays closed below the share, and below the number', () => {
    const { breaker, end } = createScene();
    end('failed', 9);
    assert.equal(breaker.state(), 'closed');
    const other = createScene();
    other.end('answered', 11);
    other.end('failed', 10);
    assert.equal(other.breaker.state(), 'closed');
  });

  it('forgets the results that have left the window, and only those', () => {
    const { breaker, end, pass } = createScene();
    end('failed', 9);
    pass(8900);
    assert.equal(breaker.state(), 'closed');
    end('answered');
    assert.equal(breaker.state(), 'closed', 'nothing opens it but a failure');
    pass(2000);
    end('failed', 8);
    assert.equal(breaker.state(), 'closed', 'the nine are forgotten');
    end('failed', 1);
    assert.equal(breaker.state(), 'open');
  });

  it('lets three requests try at once when its time is over, and closes on the first answer', () => {
    const { breaker, changes, end, pass } = createScene();
    end('failed', 10);
    pass(5000);
    assert.equal(breaker.state(), 'half_open');
    assert.deepEqual(
      [1, 2, 3, 4].map(() => breaker.admit()),
      [0, 0, 0, 1000],
    );
    end('abandoned');
    assert.equal(breaker.admit(), 0, 'an end without a result makes room for another');
    end('answered');
    assert.deepEqual(changes, ['open', 'half_open', 'closed']);
    end('failed', 9);
    assert.equal(breaker.state(), 'closed', 'it begins anew');
  });

  it('opens again when a trial fails; requests that end while it is open change nothing', () => {
    const { breaker, end, pass } = createScene();
    end('failed', 10);
    end('answered', 3);
    assert.equal(breaker.state(), 'open');
    pass(5000);
    assert.equal(breaker.admit(), 0);
    end('failed');
    assert.equal(breaker.admit(), 5000);
  });

  it('ignores the end of requests that were sent before it opened', () => {
    const { breaker, end, pass, now } = createScene();
    const before = now();
    end('failed', 10);
    pass(5000);
    assert.deepEqual(
      [1, 2, 3].map(() => breaker.admit()),
      [0, 0, 0],
    );
    for (const outcome of ['abandoned', 'failed', 'answered'] as const) end(outcome, 5, before);
    assert.equal(breaker.state(), 'half_open');
    assert.equal(breaker.admit(), 1000, 'they make no room for further trials');
    end('answered');
    assert.equal(breaker.state(), 'closed');
    end('failed', 100, before);
    assert.equal(breaker.state(), 'closed');
    end('failed', 10);
    assert.equal(breaker.state(), 'open');
  });

  it('can be switched off, also while it is open', () => {
    const never = createScene('off');
    never.end('failed', 100);
    assert.equal(never.breaker.admit(), 0);
    const { breaker, end } = createScene();
    end('failed', 10);
    breaker.use({ ...rules });
    assert.equal(breaker.state(), 'open', 'the same rules change nothing');
    breaker.use('off');
    assert.equal(breaker.admit(), 0);
  });

  it('agrees with a list of everything that happened', () => {
    const event = fc.record({ afterMs: fc.integer({ min: 0, max: 4000 }), hasFailed: fc.boolean() });
    fc.assert(
      fc.property(fc.array(event, { maxLength: 80 }), (events) => {
        const { breaker, end, pass } = createScene();
        let nowMs = 123_456;
        let all: { slot: number; hasFailed: boolean }[] = [];
        for (const { afterMs, hasFailed } of events) {
          pass(afterMs);
          nowMs += afterMs;
          if (breaker.admit() > 0) continue;
          const wasHalfOpen = breaker.state() === 'half_open';
          end(hasFailed ? 'failed' : 'answered');
          if (wasHalfOpen) {
            assert.equal(breaker.state(), hasFailed ? 'open' : 'closed');
            all = [];
            continue;
          }
          all.push({ slot: Math.floor(nowMs / 1000), hasFailed });
          const inWindow = all.filter(({ slot }) => slot > Math.floor(nowMs / 1000) - 10);
          const failed = inWindow.filter((one) => one.hasFailed).length;
          const opens = hasFailed && inWindow.length >= 10 && failed * 2 >= inWindow.length;
          assert.equal(breaker.state(), opens ? 'open' : 'closed');
          if (opens) all = [];
        }
      }),
    );
  });
});
