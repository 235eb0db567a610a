// Which target gets a request: the least busy one of the working ones, after any events.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import type { AttemptResult } from '../../../gateway/upstream/targets/attempt-result.ts';
import { type EjectionRules, TargetState } from '../../../gateway/upstream/targets/outlier-detection.ts';
import { choose } from '../../../gateway/upstream/targets/targets.ts';

const rules: EjectionRules = { failures: 3, baseSeconds: 10, maxSeconds: 60, percentMax: 50, slowStartSeconds: 10 };

interface Candidate {
  readonly targetState: TargetState;
}

function createScene(count: number) {
  const targets: Candidate[] = [...'abcdefgh'].slice(0, count).map((name) => ({ targetState: new TargetState(name) }));
  const targetStates = targets.map(({ targetState }) => targetState);
  let nowMs = 1_000_000;
  const upstream = { rules: { ejection: rules }, targetStates, clock: () => nowMs };
  let turn = 0;
  /** When those requests were sent that are on it. */
  const sent = new Map<Candidate, number[]>();
  return {
    targets,
    now: () => nowMs,
    pass(ms: number) {
      nowMs += ms;
    },
    pick(tried?: readonly Candidate[]) {
      const target = choose(targets, rules, nowMs, ++turn % count, tried);
      target.targetState.noteBegan();
      sent.set(target, [...(sent.get(target) ?? []), nowMs]);
      return target;
    },
    /** The request that has been on it longest. */
    end(target: Candidate, outcome: AttemptResult) {
      const [sentAtMs = nowMs, ...others] = sent.get(target) ?? [];
      sent.set(target, others);
      return target.targetState.noteEnded(upstream, outcome, sentAtMs);
    },
    fail(target: Candidate, times = rules.failures, outcome: AttemptResult = 'failed') {
      for (let i = 0; i < times; i++) {
        target.targetState.noteBegan();
        target.targetState.noteEnded(upstream, outcome, nowMs);
      }
    },
  };
}

const nameOf = ({ targetState }: Candidate) => targetState.address;

describe('of several targets', () => {
  it('the least busy gets the next request, and equally busy ones take turns', () => {
    const { pick, end } = createScene(3);
    const first = [1, 2, 3].map(() => pick());
    assert.deepEqual(first.map(nameOf).sort(), ['a', 'b', 'c']);
    const second = first.find((target) => nameOf(target) === 'b') as Candidate;
    end(second, 'answered');
    assert.equal(nameOf(pick()), 'b');
  });

  it('those that were tried come last', () => {
    const { pick, targets } = createScene(3);
    for (let i = 0; i < 5; i++) assert.equal(nameOf(pick(targets.slice(0, 2))), 'c');
    assert.ok(pick(targets));
  });

  it('one that is out because it refused connections is tried before one that this request was sent to', () => {
    for (const [outcome, expected] of [
      ['unreached', 'a'],
      ['failed', 'b'],
    ] as const) {
      const { pick, fail, targets } = createScene(2);
      const [a, b] = targets as [Candidate, Candidate];
      fail(a, rules.failures, outcome);
      for (let i = 0; i < 4; i++) assert.equal(nameOf(pick()), 'b', 'not before others');
      assert.equal(nameOf(pick([b])), expected, `after it ${outcome}`);
    }
  });

  it('one that fails again and again gets nothing, each time for longer', () => {
    const { pick, end, fail, pass, targets, now } = createScene(2);
    const [a] = targets as [Candidate];
    for (const seconds of [10, 20, 40, 60, 60]) {
      if (a.targetState.phaseAt(now()) === 'in') fail(a);
      assert.equal(a.targetState.phaseAt(now()), 'ejected');
      assert.equal(a.targetState.untilMs - now(), seconds * 1000);
      for (let i = 0; i < 4; i++) assert.equal(nameOf(pick()), 'b');
      pass(seconds * 1000);
      const trial = pick();
      assert.equal(nameOf(trial), 'a', 'then one request tries it');
      assert.equal(nameOf(pick()), 'b', 'and only one');
      assert.equal(end(trial, 'failed'), 'ejected');
    }
  });

  it('one that is on trial or back is not judged by requests from before its ejection', () => {
    const { pick, end, fail, pass, targets, now } = createScene(2);
    const [a] = targets as [Candidate];
    const before = Array.from({ length: 12 }, () => pick()).filter((target) => target === a);
    fail(a);
    for (let i = 0; i < 12; i++) pick();
    pass(10_000);
    const trial = pick();
    assert.equal(trial, a);
    assert.equal(end(before[0] as Candidate, 'failed'), undefined);
    assert.equal(a.targetState.phaseAt(now()), 'trial');
    assert.notEqual(pick(), a, 'nor is it tried by another request meanwhile');
    for (const target of before.slice(1)) assert.equal(end(target, 'failed'), undefined);
    assert.equal(end(trial, 'answered'), 'returning');
    assert.equal(a.targetState.failuresInRow, 0);
  });

  it('one that works again gets more and more of them', () => {
    const { pick, end, fail, pass, targets } = createScene(2);
    const [a] = targets as [Candidate];
    fail(a);
    pass(10_000);
    const trial = pick();
    assert.equal(end(trial, 'abandoned'), undefined);
    assert.equal(end(pick(), 'answered'), 'returning');
    const shareOfA = () => {
      let count = 0;
      for (let i = 0; i < 100; i++) {
        const target = pick();
        if (target === a) count += 1;
        end(target, 'answered');
      }
      return count;
    };
    const atFirst = shareOfA();
    pass(3000);
    const later = shareOfA();
    pass(7000);
    const atLast = shareOfA();
    assert.ok(atFirst >= 5 && atFirst <= 10, `${atFirst}`);
    assert.ok(later > atFirst && later <= 30, `${later}`);
    assert.equal(atLast, 50);
  });

  it('one that has been back for long is treated as if it had never failed', () => {
    const { pick, end, fail, pass, targets, now } = createScene(2);
    const [a] = targets as [Candidate];
    fail(a);
    pass(10_000);
    for (const target of [pick(), pick()]) end(target, 'answered');
    assert.equal(a.targetState.phaseAt(now()), 'returning');
    pass(60_001);
    pick();
    fail(a);
    assert.equal(a.targetState.untilMs - now(), 10_000);
  });

  it('the required share stays in use, and always the last one', () => {
    const { fail, targets, now } = createScene(5);
    for (const target of targets) fail(target, 20);
    assert.equal(targets.filter(({ targetState }) => targetState.phaseAt(now()) === 'ejected').length, 2);
    const alone = createScene(1);
    alone.fail(alone.targets[0] as Candidate, 50);
    assert.equal(alone.targets[0]?.targetState.phaseAt(alone.now()), 'in');
  });

  it('one that checks found ill leaves no room for another to be taken out', () => {
    const { fail, pick, targets, now } = createScene(2);
    const [a, b] = targets as [Candidate, Candidate];
    a.targetState.healthy = false;
    fail(b);
    assert.equal(b.targetState.phaseAt(now()), 'in');
    assert.equal(pick(), b);
  });

  it('all are tried when none works', () => {
    const { pick, targets } = createScene(2);
    for (const { targetState } of targets) targetState.healthy = false;
    assert.deepEqual([pick(), pick()].map(nameOf).sort(), ['a', 'b']);
  });
});

describe('any order of events', () => {
  type Step =
    | { readonly kind: 'pick' }
    | { readonly kind: 'end'; readonly which: number; readonly outcome: AttemptResult }
    | { readonly kind: 'pass'; readonly ms: number }
    | { readonly kind: 'check'; readonly which: number; readonly healthy: boolean };
  const step: fc.Arbitrary<Step> = fc.oneof(
    { weight: 4, arbitrary: fc.record({ kind: fc.constant('pick' as const) }) },
    {
      weight: 4,
      arbitrary: fc.record({
        kind: fc.constant('end' as const),
        which: fc.nat(),
        outcome: fc.constantFrom<AttemptResult>('answered', 'failed', 'erred', 'abandoned'),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({ kind: fc.constant('pass' as const), ms: fc.integer({ min: 1, max: 30_000 }) }),
    },
    {
      weight: 1,
      arbitrary: fc.record({ kind: fc.constant('check' as const), which: fc.nat(), healthy: fc.boolean() }),
    },
  );

  it('none that is out is picked while another works, and nothing is counted wrongly', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 6 }), fc.array(step, { maxLength: 200 }), (count, steps) => {
        const { targets, pick, pass, now, end } = createScene(count);
        const open: Candidate[] = [];
        for (const it of steps) {
          if (it.kind === 'pass') pass(it.ms);
          else if (it.kind === 'check') {
            const { targetState } = targets[it.which % count] as Candidate;
            if (it.healthy !== targetState.healthy) targetState.noteHealth(it.healthy, rules, now());
          } else if (it.kind === 'end') {
            const [target] = open.splice(it.which % Math.max(1, open.length), 1);
            if (target) end(target, it.outcome);
          } else {
            const works = ({ targetState }: Candidate) => {
              const phase = targetState.phaseAt(now());
              return targetState.healthy && phase !== 'ejected' && !(phase === 'trial' && targetState.trials > 0);
            };
            const working = targets.filter(works);
            const picked = pick();
            open.push(picked);
            assert.ok(working.length === 0 || working.includes(picked), `${nameOf(picked)} is out`);
          }
          const out = targets.filter(({ targetState }) => {
            const phase = targetState.phaseAt(now());
            return phase === 'ejected' || phase === 'trial';
          }).length;
          assert.ok(out <= Math.max(1, Math.floor(count / 2)) && out < count);
          for (const target of targets) {
            const { outstanding, trials } = target.targetState;
            assert.equal(outstanding, open.filter((one) => one === target).length);
            assert.ok(trials >= 0 && trials <= outstanding);
          }
        }
      }),
      { numRuns: 300 },
    );
  });
});
