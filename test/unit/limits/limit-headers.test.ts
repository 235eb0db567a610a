import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LimitState } from '../../../gateway/exchange/findings.ts';
import type { Charge } from '../../../gateway/limits/counters/counter-store.ts';
import { appendLimitHeaders, limitTextsOf, retryAfterSecondsOf } from '../../../gateway/limits/limit-headers.ts';
import { charge } from './scenarios.ts';

const NOW_MS = 1_795_190_400_000;
const burst = charge({ counter: 'b', policy: 'burst', requests: 100, windowSeconds: 1 });
const sustained = charge({ counter: 's', policy: 'sustained', requests: 5000, windowSeconds: 3600 });

function state({ policy, requests, windowSeconds }: Charge, remaining: number, resetMs: number): LimitState {
  return { policy, limit: requests, windowSeconds, remaining, resetMs };
}

function headersOf(
  charges: readonly Charge[],
  states: readonly LimitState[],
  tightest: LimitState | undefined,
  nowMs = NOW_MS,
) {
  const commonHeaders: string[] = [];
  appendLimitHeaders(commonHeaders, limitTextsOf(charges), { states, tightest }, nowMs);
  return Object.fromEntries(
    commonHeaders.flatMap((name, index) => (index % 2 === 0 ? [[name, commonHeaders[index + 1]]] : [])),
  );
}

test('all policies are listed, the X headers describe the tightest', () => {
  const states = [state(burst, 99, 1_000), state(sustained, 4187, 1_209_400)];
  assert.deepEqual(headersOf([burst, sustained], states, states[1]), {
    'RateLimit-Policy': '"burst";q=100;w=1, "sustained";q=5000;w=3600',
    RateLimit: '"burst";r=99;t=1, "sustained";r=4187;t=1210',
    'X-RateLimit-Limit': '5000',
    'X-RateLimit-Remaining': '4187',
    'X-RateLimit-Reset': '1795191610',
  });
});

test('an unused limit resets in 0 seconds, a used one never does', () => {
  for (const [used, live] of [
    [state(burst, 100, 0), '"burst";r=100;t=0'],
    [state(burst, 99, 1), '"burst";r=99;t=1'],
  ] as const) {
    assert.equal(headersOf([burst], [used], used).RateLimit, live);
  }
});

test('a client that returns at X-RateLimit-Reset does not come too early', () => {
  const used = state(burst, 0, 500);
  assert.equal(headersOf([burst], [used], used, NOW_MS + 700)['X-RateLimit-Reset'], String(NOW_MS / 1000 + 2));
});

test('shadow limits are not shown', () => {
  const shadow = { ...burst, enforce: false };
  const states = [state(shadow, 0, 900), state(sustained, 4999, 3_600_000)];
  const headers = headersOf([shadow, sustained], states, states[1]);
  assert.equal(headers['RateLimit-Policy'], '"sustained";q=5000;w=3600');
  assert.equal(headers.RateLimit, '"sustained";r=4999;t=3600');
  assert.deepEqual(headersOf([shadow], [state(shadow, 0, 900)], undefined), {});
});

test('when nothing was counted only the policy is known', () => {
  assert.deepEqual(headersOf([burst], [], undefined), { 'RateLimit-Policy': '"burst";q=100;w=1' });
});

test('Retry-After is in whole seconds and never 0', () => {
  assert.deepEqual([0, 1, 999, 1_000, 1_001, 59_001].map(retryAfterSecondsOf), [1, 1, 1, 1, 2, 60]);
});
