// The requests that wait for the answer of an upstream, also those of a configuration before a reload.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Forwardable } from '../../../gateway/exchange/exchange.ts';
import type { DeadlineOwner } from '../../../gateway/upstream/deadlines/deadlines.ts';
import { createSentRequests } from '../../../gateway/upstream/deadlines/sent-requests.ts';

const NOW_MS = 1_000_000;

const deadlinesOf = (owners: readonly DeadlineOwner[]) => ({
  add: () => assert.fail(),
  remove: () => assert.fail(),
  owners: () => owners,
});

/** @param ageMs undefined: the answer has begun, or nothing was sent yet */
const owner = (operation: string, ageMs: number | undefined, mode: 'live' | 'test' = 'live'): DeadlineOwner => {
  const [method, path] = operation.split(' ');
  return {
    exchange: { operation: { method, path }, caller: { mode } } as Forwardable,
    checkDeadlines: () => undefined,
    clock: { unansweredSince: () => (ageMs === undefined ? undefined : NOW_MS - ageMs) },
  };
};

it('counts requests from five seconds on, by operation, the oldest first', (test) => {
  test.mock.method(performance, 'now', () => NOW_MS);
  const sent = createSentRequests();
  assert.deepEqual(sent.unansweredRequests(), []);
  const ages = [4999, 5000, 7000, undefined].map((ageMs) => owner('GET /a', ageMs));
  sent.add(deadlinesOf([...ages, owner('GET /b', 9000.4), owner('GET /a', 6000, 'test')]));
  assert.deepEqual(sent.unansweredRequests(), [
    { operation: 'GET /b', mode: 'live', requests: 1, oldest_ms: 9000 },
    { operation: 'GET /a', mode: 'live', requests: 2, oldest_ms: 7000 },
    { operation: 'GET /a', mode: 'test', requests: 1, oldest_ms: 6000 },
  ]);
});

it('keeps requests of earlier configurations until they have ended', (test) => {
  test.mock.method(performance, 'now', () => NOW_MS);
  const sent = createSentRequests();
  const earlier = [owner('GET /a', 6000)];
  sent.add(deadlinesOf(earlier));
  sent.add(deadlinesOf([owner('GET /a', 8000)]));
  assert.deepEqual(sent.unansweredRequests(), [{ operation: 'GET /a', mode: 'live', requests: 2, oldest_ms: 8000 }]);
  earlier.pop();
  sent.add(deadlinesOf([]));
  earlier.push(owner('GET /a', 6000));
  assert.deepEqual(sent.unansweredRequests(), [{ operation: 'GET /a', mode: 'live', requests: 1, oldest_ms: 8000 }]);
});
