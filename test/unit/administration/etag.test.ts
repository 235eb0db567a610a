import assert from 'node:assert/strict';
import { test } from 'node:test';
import { etagOf, requireMatch } from '../../../gateway/administration/etag.ts';

const etag = etagOf({ name: 'a', scopes: ['jobs:read'] });

test('equal members have equal tags, in any order', () => {
  assert.equal(etagOf({ scopes: ['jobs:read'], name: 'a' }), etag);
  assert.match(etag, /^"[\w-]{22}"$/);
  assert.notEqual(etagOf({ name: 'b', scopes: ['jobs:read'] }), etag);
  assert.notEqual(etagOf({ name: 'a', scopes: ['jobs:read'], expires_at: null }), etag);
  assert.notEqual(etagOf({ name: null }), etagOf({ name: 'null' }));
});

for (const [header, holds] of [
  [undefined, true],
  [etag, true],
  ['*', true],
  [' * ', true],
  [`"other", ${etag}`, true],
  [`${etag},"other"`, true],
  ['"other"', false],
  [`W/${etag}`, false],
  [etag.replaceAll('"', ''), false],
  [etag.toUpperCase(), false],
  ['', false],
  ['"*"', false],
] as const) {
  test(`If-Match: ${header} ${holds ? 'holds' : 'does not hold'}`, () => {
    if (holds) requireMatch(header, etag);
    else assert.throws(() => requireMatch(header, etag), { code: 'precondition_failed' });
  });
}
