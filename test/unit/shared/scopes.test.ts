// Callers with the same scopes share a set, and no others do.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { scopeSetOf } from '../../../gateway/shared/contracts/scopes.ts';

const scope = fc.stringMatching(/^[!#-[\]-~]{1,12}$/);

test('equal lists share one set', () => {
  assert.equal(scopeSetOf(['jobs:read', 'jobs:write']), scopeSetOf(['jobs:read', 'jobs:write']));
  assert.notEqual(scopeSetOf(['jobs:read']), scopeSetOf(['jobs:write']));
});

// Afterwards there is no room for more shared sets.
test('a set has exactly the scopes of its list, however many there are', () => {
  fc.assert(
    fc.property(fc.array(scope, { maxLength: 4 }), (scopes) => assert.deepEqual(scopeSetOf(scopes), new Set(scopes))),
    { numRuns: 3000 },
  );
});
