// How the end of a sending counts for its target.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type ErrorCode, GatewayError } from '../../../gateway/catalogue/errors.ts';
import { type AttemptResult, attemptResultOf } from '../../../gateway/upstream/targets/attempt-result.ts';

const rows: readonly (readonly [string, number | undefined, ErrorCode | undefined, AttemptResult])[] = [
  ['an answer', 200, undefined, 'answered'],
  ['a refusal of the request', 422, 'upstream_rejected', 'answered'],
  ['a refusal of the gateway', 401, 'upstream_auth_failed', 'answered'],
  ['too many requests', 429, 'upstream_overloaded', 'answered'],
  ['a method it does not know', 501, 'upstream_error', 'answered'],
  ['a version it does not know', 505, 'upstream_error', 'answered'],
  ['an answer that a rule calls a refusal', 200, 'resource_missing', 'answered'],
  ['an answer against the contract', 200, 'upstream_contract_violation', 'answered'],
  ['a fault', 500, 'upstream_error', 'erred'],
  ['a fault that has no name', 599, 'upstream_error', 'erred'],
  ['a proxy without its service', 502, 'upstream_unavailable', 'failed'],
  ['a proxy that has waited', 504, 'upstream_timeout', 'failed'],
  ['a service that is not there', 503, 'upstream_unavailable', 'failed'],
  ['a connection that is refused', undefined, 'upstream_unreachable', 'unreached'],
  ['no answer in time', undefined, 'upstream_timeout', 'failed'],
  ['an answer that is cut', 200, 'upstream_bad_response', 'failed'],
  ['an answer with a missing rest', 200, 'upstream_timeout', 'failed'],
  ['no place in the concurrency', undefined, 'upstream_overloaded', 'abandoned'],
  ['a credential that is latched', undefined, 'upstream_auth_failed', 'abandoned'],
  ['a bug of ours', undefined, 'internal_error', 'abandoned'],
];

describe('the end of an attempt', () => {
  for (const [what, status, code, expected] of rows) {
    it(`that ends with ${what} is ${expected}`, () => {
      assert.equal(attemptResultOf(status, code && new GatewayError(code)), expected);
    });
  }
});
