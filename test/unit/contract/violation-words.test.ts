// What `gateway explain` says about a violation: a sentence with the value that the contract names, and the code that the client got.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stageText } from '../../../gateway/explain/stage-text.ts';

const told = (violation: object) => stageText('validate', { violations: [violation] }, 'refused');

test('a violation is a sentence with the value that the contract names', () => {
  const query = { in: 'query', param: 'limit', code: 'too_large', constraint: { maximum: 100 } };
  assert.deepEqual(told(query), ['query limit must be at most 100 (too_large)']);
  const body = { in: 'body', param: '', code: 'wrong_type', constraint: { type: ['object', 'null'] } };
  assert.deepEqual(told(body), ['body must be an object or null (wrong_type)']);
});

test('a violation without such a value, or of a keyword without words, has its code', () => {
  assert.deepEqual(told({ in: 'body', param: '/id', code: 'required' }), ['body /id is required (required)']);
  const union = { in: 'body', param: '', code: 'no_match', constraint: { oneOf: [] } };
  assert.deepEqual(told(union), ['body is not as the contract says (no_match)']);
});
