import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createStatus } from '../../../gateway/observe/admin/status.ts';

test('an instance that has never read its key store is not ready; one that has stays ready while the store is away', async () => {
  const readinessWith = (store: 'reachable' | 'failing', position: number | undefined) =>
    createStatus({
      version: 'test',
      lifecycle: () => 'serving',
      keys: () => ({ store, position }),
      limits: () => ({ state: 'up' }),
      missingCertificates: () => undefined,
      parts: () => ({}),
      now: () => 0,
    }).readiness();
  assert.deepEqual(
    [
      (await readinessWith('reachable', undefined)).ready,
      (await readinessWith('failing', undefined)).ready,
      (await readinessWith('failing', 7)).ready,
    ],
    [true, false, true],
  );
});
