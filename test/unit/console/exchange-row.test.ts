import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exchangeRow } from '../../../gateway/console/exchanges.ts';

const line = {
  ...{ request_id: 'req_1', time: 0, method: 'GET', route: '/v1/things', upstream: 'things', target: 'http://a:1' },
  ...{
    stage: 'forward',
    status: 504,
    code: 'upstream_timeout',
    duration_ms: 1003,
    stages_ms: { limit: 1, forward: 1002 },
  },
};
const timesOf = (more: object) => {
  const { upstream_ms, waited_ms } = exchangeRow({ ...line, ...more });
  return [upstream_ms, waited_ms];
};

test('the wait for a service that does not answer is time of the service, without the queue of the gateway', () => {
  assert.deepEqual(timesOf({}), [null, 1002]);
  assert.deepEqual(timesOf({ status: 502, code: 'upstream_unreachable' }), [null, 1002]);
  assert.deepEqual(timesOf({ queued_ms: 400 }), [null, 602]);
});

test('an answer has its own time; a request that was not sent, or had no answer for another reason, has none', () => {
  assert.deepEqual(timesOf({ upstream_status: 504, upstream_ms: 900 }), [900, null]);
  assert.deepEqual(timesOf({ status: 503, code: 'upstream_overloaded', target: undefined }), [null, null]);
  assert.deepEqual(timesOf({ status: 429, code: 'rate_limited', stage: 'limit', target: undefined }), [null, null]);
  assert.deepEqual(timesOf({ status: 499, code: 'client_closed' }), [null, null]);
});

test('the transfer to the client has its own time, and an answer that breaks the contract is marked', () => {
  const { code: _, ...answered } = { ...line, status: 200, upstream_ms: 40 };
  const { transfer_ms, broken } = exchangeRow({ ...answered, answer_violations: ['/id: required'] });
  assert.deepEqual([transfer_ms, broken], [962, true]);
  assert.equal(exchangeRow({ ...answered, stages_ms: undefined }).transfer_ms, null);
  // The client got an error in its place.
  assert.equal(exchangeRow({ ...line, answer_violations: ['/id: required'] }).broken, false);
});
