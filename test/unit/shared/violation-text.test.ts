// The message of an error object names the first violation.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { violationsMessage } from '../../../gateway/shared/contracts/violation-text.ts';

const limit = { in: 'query', param: 'limit', code: 'too_large', message: 'Must be at most 100.' };
const unknown = { in: 'query', param: 'pgae', code: 'unknown', message: 'Is not known here. Did you mean "page"?' };

it('names the first violation and the number of the others', () => {
  assert.equal(violationsMessage([limit], false), 'limit: Must be at most 100.');
  assert.equal(
    violationsMessage([limit, unknown], false),
    'limit: Must be at most 100, and 1 more; errors lists each violation.',
  );
  assert.equal(
    violationsMessage([unknown, limit], true),
    'pgae: Is not known here. Did you mean "page"? And 1 or more others; errors lists each violation.',
  );
  assert.equal(
    violationsMessage([{ in: 'body', param: '', message: 'Must be an object.' }], false),
    'body: Must be an object.',
  );
});

it('is bounded, and absent without a violation', () => {
  const long = { in: 'body', param: 'x'.repeat(900), message: `Must match the pattern ${'a'.repeat(900)}.` };
  assert.ok((violationsMessage([long, limit], false) as string).length < 350);
  for (const errors of [undefined, [], [{}]]) assert.equal(violationsMessage(errors, false), undefined);
});
