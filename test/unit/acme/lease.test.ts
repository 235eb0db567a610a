// The lease of the instance that orders, in the embedded store.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { createSqliteAcmeStore } from '../../../gateway/acme/sqlite-acme-store.ts';

const LEASE_MS = 20_000;

it('a lease is held for its time, and a clock that is set back does not hold it for longer', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'lease-'));
  let nowMs = 10 * LEASE_MS;
  const store = createSqliteAcmeStore({ directory, now: () => nowMs });
  t.after(() => {
    store.close();
    rmSync(directory, { recursive: true });
  });
  const first = await store.take(LEASE_MS);
  assert.ok(first !== undefined);
  nowMs += LEASE_MS - 1;
  assert.equal(await store.take(LEASE_MS), undefined);
  nowMs -= LEASE_MS;
  assert.equal(await store.take(LEASE_MS), undefined, 'the clock is behind the end of the lease by less than a lease');
  nowMs -= 4 * LEASE_MS;
  const second = await store.take(LEASE_MS);
  assert.ok(second !== undefined && second > first);
  assert.equal(await store.confirm(first, LEASE_MS), false);
});
