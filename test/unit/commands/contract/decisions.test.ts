import assert from 'node:assert/strict';
import { test } from 'node:test';
import { choicesText } from '../../../../gateway/commands/contract/decisions.ts';

test('an operation that breaks a rule three times needs one decision: check refuses the same one twice', () => {
  const removed = { operation: 'listParcels', rule: 'response-property-removed' };
  const other = { operation: 'getParcel', rule: 'response-property-removed' };
  const text = choicesText([removed, removed, other, removed], 0);
  const decided = [...text.matchAll(/operation: (\w+)/g)].map(([, operation]) => operation);
  assert.deepEqual(decided, ['listParcels', 'getParcel']);
});
