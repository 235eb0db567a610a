// Most answers of one code are composed once: each has to be what composing it anew would give.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { inspect } from 'node:util';
import { type ErrorCode, GatewayError, REFUSALS, toGatewayError } from '../../../gateway/catalogue/errors.ts';
import { createErrorAnswers } from '../../../gateway/edge/refusal/error-answer.ts';

const codes = Object.keys(REFUSALS) as ErrorCode[];
const ids = ['req_1', '', '"quoted"', 'a\\b', '"request_id":""', 'ünï'];

describe('an error answer that is composed once', () => {
  for (const retryable of [true, false])
    it(`is the one that is composed each time, for every code, ${retryable ? '' : 'not '}retryable`, () => {
      const answerOf = createErrorAnswers('https://api.example.com');
      for (const code of codes)
        for (const id of ids) {
          const anew = answerOf(new GatewayError(code, { fields: {} }), retryable, id);
          assert.deepEqual(answerOf(new GatewayError(code), retryable, id), anew);
          const { error } = JSON.parse(anew.text);
          assert.deepEqual([error.code, error.request_id, error.retryable], [code, id, retryable]);
        }
    });

  it('has no part in an answer with details', () => {
    const answerOf = createErrorAnswers('https://api.example.com');
    const plain = answerOf(new GatewayError('api_key_invalid'), false, 'a');
    const detailed = answerOf(new GatewayError('api_key_invalid', { basic: 'only' }), false, 'a');
    assert.notDeepEqual(detailed.headers, plain.headers);
    assert.deepEqual(answerOf(new GatewayError('api_key_invalid', { cause: new Error('down') }), false, 'a'), plain);
  });
});

describe('a refusal', () => {
  it('is an error for those who ask, with its code as text and its cause', () => {
    const cause = new Error('down');
    const error: unknown = new GatewayError('auth_unavailable', { cause });
    assert.ok(error instanceof Error && error instanceof GatewayError);
    assert.deepEqual(
      [error.name, error.message, error.cause, String(error)],
      ['GatewayError', 'auth_unavailable', cause, 'GatewayError: auth_unavailable'],
    );
    assert.match(inspect(error), /auth_unavailable/);
    assert.equal(toGatewayError(error), error);
  });
});
