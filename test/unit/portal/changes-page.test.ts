// The page "Changes" where some operations are for operators of the API: HTML has them behind a box, Markdown leaves them out.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changesEntries } from '../../../gateway/portal/changes/entries.ts';
import { changesPage } from '../../../gateway/portal/changes/page.ts';
import type { AddressedContract } from '../../../gateway/portal/reference/addresses.ts';
import type { Publication } from '../../../gateway/shared/contracts/published-contract.ts';

const at = (id: string, isForOperators: boolean) => ({
  operation: { id },
  path: `/docs/reference/v1/${id}`,
  title: id,
  isForOperators,
});
const contract = {
  reference: { name: 'v1', title: 'Things' },
  path: '/docs/reference/v1',
  operations: [at('listThings', false), at('listAlerts', true)],
  clientOperations: 1,
} as unknown as AddressedContract;

const added = (id: string, text = 'the operation is new') => ({
  rule: 'operation-added',
  level: 'additive' as const,
  text,
  operations: [{ id, at: `GET /${id}` }],
});
const publications: Publication[] = [
  { day: '2026-11-24', contract: 'v1', operations: 2, changes: [] },
  {
    day: '2026-11-25',
    contract: 'v1',
    operations: 2,
    changes: [added('listThings'), added('listAlerts', 'answer 200: it is new')],
  },
  { day: '2026-11-26', contract: 'v1', operations: 2, changes: [added('listAlerts')] },
];

test('Markdown has what is for clients, and a number of operations that clients do not see is not told', () => {
  const page = changesPage(changesEntries(publications, [contract]));
  assert.equal(
    page?.markdown,
    '# Changes\n\n## 25 November 2026: Things\n\n- new: operation added (GET /listThings)\n\n## 24 November 2026: Things\n\n- First publication.\n',
  );
  assert.match(page?.main ?? '', /class="change-item of-operators"[\s\S]*listAlerts/);
});
