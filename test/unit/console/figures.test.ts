import assert from 'node:assert/strict';
import { test } from 'node:test';
import { figuresOf } from '../../../gateway/console/history/figures.ts';
import { createDifference, type Sample } from '../../../gateway/console/history/sample.ts';

const BOUNDS = [0.01, 0.1, 1];

test('a quantile is where its request stands within its bucket', () => {
  const { requests, p50_ms, p99_ms } = figuresOf(BOUNDS, [0, 100, 0, 0, 93, 0, 3, 4, 0, 0]);
  assert.deepEqual([requests, p50_ms, p99_ms], [100, 55, 99.1]);
});

test('refusals, which take no time, do not make services look fast', () => {
  assert.equal(figuresOf(BOUNDS, [90, 0, 10, 0, 10, 0, 90, 0, 90, 0]).p50_ms, 550);
  assert.equal(figuresOf(BOUNDS, [9, 0, 0, 0, 0, 0, 9, 0, 9, 0]).p50_ms, null);
});

test('a duration over the last bound is shown as at least that bound', () => {
  assert.equal(figuresOf(BOUNDS, [1, 0, 0, 9, 10, 0, 0, 0, 0, 0]).p50_ms, 1000);
});

test('what the gateway refused with 5xx is no failure of the service', () => {
  const { server_errors, failed, refused } = figuresOf(BOUNDS, [10, 0, 0, 0, 2, 0, 3, 5, 6, 4]);
  assert.deepEqual([server_errors, failed, refused], [5, 1, 6]);
});

test('no more answers broke the contract than clients got, though a broken one stands for others before it', () => {
  const { requests, broken } = figuresOf(BOUNDS, [48, 0, 0, 0, 48, 0, 0, 0, 0, 0, 49]);
  assert.deepEqual([requests, broken], [48, 48]);
});

test('no request, no quantile', () => {
  const none = {
    ...{ requests: 0, redirects: 0, client_errors: 0, server_errors: 0, failed: 0, refused: 0, broken: 0 },
    ...{ p50_ms: null, p99_ms: null },
  };
  assert.deepEqual(figuresOf(BOUNDS, [0, 0, 0, 0, 0, 0, 0, 0, 0, 0]), none);
});

test('the difference of two samples is the increase, and a counter that fell takes nothing back', () => {
  const sampleOf = (buckets: number[], refused: number, counts: number[]): Sample => ({
    operations: [{ name: 'a', buckets, classes: [0, 0, 1, 0, 0] }],
    organizations: [{ name: 'org_a', buckets: counts, classes: [0, 0, 0, 0, 0] }],
    upstreams: [],
    refusals: [{ stage: 'match', code: 'route_not_found', count: refused }],
    nearLimits: [],
  });
  const differenceOf = createDifference();
  const none = { operations: [], organizations: [], upstreams: [], refusals: [] };
  assert.deepEqual(differenceOf(sampleOf([1, 2], 1, [4])), {
    ...none,
    operations: [{ name: 'a', values: [1, 2, 0, 0, 1, 0, 0] }],
    organizations: [{ name: 'org_a', values: [4, 0, 0, 0, 0, 0] }],
    refusals: [{ name: 'match route_not_found', values: [1] }],
  });
  assert.deepEqual(differenceOf(sampleOf([1, 5], 1, [4])), {
    ...none,
    operations: [{ name: 'a', values: [0, 3, 0, 0, 0, 0, 0] }],
  });
  // An organization that was forgotten begins at zero.
  const anew = [{ name: 'org_a', values: [3, 0, 0, 0, 0, 0] }];
  assert.deepEqual(differenceOf(sampleOf([0, 5], 0, [3])), { ...none, organizations: anew });
});
