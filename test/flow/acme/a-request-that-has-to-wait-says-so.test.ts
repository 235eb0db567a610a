// The request of an operator for a certificate whose gateway meets a rate limit of the server at the same time.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { askGateways } from '../../../gateway/acme/asking.ts';
import { change, recordName } from '../../../gateway/acme/records.ts';
import { createSqliteAcmeStore } from '../../../gateway/acme/sqlite-acme-store.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { until } from './acme-gateway.ts';

const ID = 'a.test';

it('a command learns of a rate limit that a gateway meets after the command has begun', async (t) => {
  const store = createSqliteAcmeStore({ directory: temporaryDirectory(), now: Date.now });
  t.after(() => store.close());
  const asked = askGateways({ store, id: ID, kind: 'order', by: 'ada', now: Date.now });
  const request = recordName('asked', ID);
  await until(
    () => store.read(),
    (records) => records.has(request),
  );
  const [atMs, nextAtMs] = [Date.now(), Date.now() + 3_600_000];
  await store.put(change('attempts', ID, { failures: 1, kind: 'limited', reason: 'Too many orders.', atMs, nextAtMs }));
  assert.equal(await asked, `Too many orders. The next attempt is possible at ${new Date(nextAtMs).toISOString()}.`);
  assert.equal((await store.read()).has(request), false, 'the request is withdrawn');
});
