// The circuit breaker of an upstream, under a clock that only the test moves.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import type { AttemptResult } from '../../../gateway/upstream/targets/attempt-result.ts';
import { Breaker, type BreakerRules, type BreakerState } from '../../../gateway/upstream/targets/breaker.ts';

const rules: BreakerRules = { failurePercent: 50, requestsMin: 10, windowSeconds: 10, openSeconds: 5 };

/** A thirty-second of `openSeconds`. */
const FIRST_WAIT_MS = 156.25;

function createScene(given: BreakerRules | 'off' = rules) {
  let nowMs = 123_456;
  const changes: BreakerState[] = [];
  const breaker = new Breaker(given, { clock: () => nowMs, onChange: (state) => changes.push(state) });
  return {
    breaker,
    changes,
    pass(ms: number) {
      nowMs += ms;
    },
    now: () => nowMs,
    end(outcome: AttemptResult, times = 1, sentAtMs = nowMs) {
      for (let i = 0; i < times; i++) breaker.noteResult(outcome, sentAtMs);
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
    assert.equal(breaker.admit(), FIRST_WAIT_MS);
    pass(FIRST_WAIT_MS - 1);
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
    assert.equal(breaker.admit(), 1.5 * FIRST_WAIT_MS);
  });

  it('waits longer after each trial that fails, up to openSeconds, and begins anew after one that is answered', () => {
    const { breaker, end, pass } = createScene();
    for (let outage = 0; outage < 2; outage += 1) {
      end('failed', 10);
      for (const rounded of [156, 234, 352, 527, 791, 1187, 1780, 2670, 4005, 5000, 5000]) {
        const waitMs = breaker.admit();
        assert.equal(Math.round(waitMs), rounded);
        pass(waitMs);
        assert.equal(breaker.admit(), 0);
        end('failed');
      }
      pass(5000);
      assert.equal(breaker.admit(), 0);
      end('answered');
      assert.equal(breaker.state(), 'closed');
    }
  });

  it('does not count connections that are refused at once, neither as failures nor as successes', () => {
    const { breaker, changes, end } = createScene();
    end('unreached', 1000);
    assert.equal(breaker.admit(), 0);
    end('failed', 9);
    end('unreached', 1000);
    assert.deepEqual(changes, []);
    end('failed');
    assert.deepEqual(changes, ['open'], 'they do not hide what hangs');
  });

  it('counts those that are refused only after a while', () => {
    const { breaker, end, pass, now } = createScene();
    const sentAtMs = now();
    pass(1000);
    end('unreached', 10, sentAtMs);
    assert.equal(breaker.state(), 'open');
  });

  it('closes when a trial is refused at once: what hung does not hang any more', () => {
    const { breaker, end, pass } = createScene();
    end('failed', 10);
    pass(FIRST_WAIT_MS);
    assert.equal(breaker.admit(), 0);
    end('unreached');
    assert.equal(breaker.state(), 'closed');
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

/** How long a request in progress is waited for. */
const TIMEOUT_MS = 500;
const EVERY_MS = 5;

interface Rhythm {
  readonly fault: 'unreached' | 'failed' | 'hangs';
  readonly downMs: number;
  readonly upMs: number;
}

/** A request every few milliseconds to an upstream that comes and goes, for five minutes. */
function play({ fault, downMs, upMs }: Rhythm) {
  const { breaker, end, pass, now } = createScene({ ...rules, requestsMin: 20 });
  const begin = now();
  const isUpAt = (atMs: number) => (atMs - begin) % (downMs + upMs) >= downMs;
  let underWay: { readonly sentAtMs: number; readonly endsAtMs: number }[] = [];
  const counts = { whileUp: 0, served: 0, hungAtOnce: 0, hung: 0 };
  while (now() - begin < 300_000) {
    for (const { sentAtMs, endsAtMs } of underWay)
      if (endsAtMs <= now())
        end(isUpAt(now()) && endsAtMs - sentAtMs < TIMEOUT_MS ? 'answered' : 'failed', 1, sentAtMs);
    underWay = underWay.filter(({ endsAtMs }) => endsAtMs > now());
    const isUp = isUpAt(now());
    if (isUp) counts.whileUp += 1;
    if (breaker.admit() === 0) {
      if (isUp) {
        counts.served += 1;
        end('answered');
      } else if (fault === 'hangs') {
        counts.hung += 1;
        const upInMs = downMs - ((now() - begin) % (downMs + upMs));
        underWay.push({ sentAtMs: now(), endsAtMs: now() + Math.min(upInMs, TIMEOUT_MS) });
        counts.hungAtOnce = Math.max(counts.hungAtOnce, underWay.length);
      } else end(fault);
    }
    pass(EVERY_MS);
  }
  return counts;
}

describe('an upstream that comes and goes', () => {
  for (const [downMs, upMs] of [
    [400, 600],
    [400, 870],
    [600, 400],
    [100, 900],
    [900, 100],
    [2000, 3000],
    [5000, 5000],
    [4900, 100],
    [20_000, 10_000],
  ] as const) {
    it(`is down for ${downMs} ms and up for ${upMs}: nothing is refused for connections that are`, () => {
      const { whileUp, served } = play({ fault: 'unreached', downMs, upMs });
      assert.equal(served, whileUp);
    });
  }

  // The share that is served of what comes while it is up.
  for (const [downMs, upMs, least] of [
    [400, 600, 0.9],
    [400, 870, 0.9],
    [600, 400, 0.3],
    [2000, 3000, 0.9],
    [5000, 5000, 0.9],
    [20_000, 10_000, 0.8],
  ] as const) {
    for (const fault of ['failed', 'hangs'] as const) {
      it(`${fault === 'hangs' ? 'hangs' : 'fails'} for ${downMs} ms and is up for ${upMs}: most of what it can do is done`, () => {
        const { whileUp, served } = play({ fault, downMs, upMs });
        assert.ok(served >= least * whileUp, `${served} of ${whileUp}`);
      });
    }
  }

  it('hangs for long: no more than the trials hang with it, after the first ones', () => {
    const { hung, hungAtOnce } = play({ fault: 'hangs', downMs: 300_000, upMs: 1 });
    const first = TIMEOUT_MS / EVERY_MS;
    assert.ok(hungAtOnce <= first + 20, `${hungAtOnce} at once`);
    // A trial takes its timeout, and the wait after it the longest one, but for the first few.
    const trials = 3 * (300_000 / (5000 + TIMEOUT_MS) + 9);
    assert.ok(hung <= first + 20 + trials, `${hung} in all`);
  });
});
