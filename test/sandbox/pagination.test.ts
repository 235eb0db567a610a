// Pages are stable: walking a list sees every record once, also with inserts meanwhile, and a cursor is good for the list it was made for
// and for no other.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { create, platformFor, walk } from './support/platform.ts';

interface Page {
  readonly data: readonly { readonly id: string }[];
  readonly has_more: boolean;
  readonly cursor: string | null;
}

test('a walk with limit=7 sees every record once while others are inserted at the top', async (context) => {
  const platform = await platformFor(context);
  const call = await platform.as('org_one');
  const before: string[] = [];
  for (let index = 0; index < 45; index += 1) before.push((await create(call, 'customers', { name: `C${index}` })).id);

  const seen: string[] = [];
  let cursor: string | null = null;
  do {
    const path: string = `/v1/customers?limit=7${cursor === null ? '' : `&cursor=${cursor}`}`;
    const { data, has_more, cursor: next }: Page = (await call('GET', path)).body;
    assert.equal(has_more, next !== null);
    seen.push(...data.map(({ id }) => id));
    cursor = next;
    await create(call, 'customers', { name: 'At the top' });
  } while (cursor !== null);
  assert.deepEqual(seen, before.toReversed());
});

test('records created in the same millisecond keep the order of their creation', async (context) => {
  const platform = await platformFor(context);
  const call = await platform.as('org_one');
  const created: string[] = [];
  for (let index = 0; index < 12; index += 1) created.push((await create(call, 'guests', { name: 'Same' })).id);
  const { records } = await walk(call, '/v1/guests?sort=created_at_asc&limit=5');
  assert.deepEqual(
    records.map(({ id }) => id),
    created,
  );
  const times = new Set(records.map((record) => (record as unknown as { created_at: string }).created_at));
  assert.equal(times.size, created.length);
});

test('a record that is created after the clock was set back still comes first', async (context) => {
  const platform = await platformFor(context);
  const call = await platform.as('org_one');
  await create(call, 'guests', { name: 'Earlier' });
  platform.clock.nowMs -= 3_600_000;
  const later = await create(call, 'guests', { name: 'Later' });
  assert.equal((await call('GET', '/v1/guests?limit=1')).body.data[0].id, later.id);
});

test('deleting the record a cursor points at does not disturb the walk', async (context) => {
  const platform = await platformFor(context);
  const call = await platform.as('org_one');
  for (let index = 0; index < 6; index += 1) await create(call, 'guests', { name: `G${index}` });
  const first = (await call('GET', '/v1/guests?limit=2')).body;
  await call('DELETE', `/v1/guests/${first.data[1].id}`);
  const second = (await call('GET', `/v1/guests?limit=2&cursor=${first.cursor}`)).body;
  assert.deepEqual(
    second.data.map(({ name }: { name: string }) => name),
    ['G3', 'G2'],
  );
});

test('limit defaults to 20, may differ from page to page, and the last page has no cursor', async (context) => {
  const platform = await platformFor(context);
  const call = await platform.as('org_one');
  for (let index = 0; index < 25; index += 1) await create(call, 'guests', { name: `G${index}` });
  const first = (await call('GET', '/v1/guests')).body;
  assert.equal(first.data.length, 20);
  const second = (await call('GET', `/v1/guests?limit=3&cursor=${first.cursor}`)).body;
  assert.equal(second.data.length, 3);
  const third = (await call('GET', `/v1/guests?limit=100&cursor=${second.cursor}`)).body;
  assert.deepEqual([third.data.length, third.cursor, third.has_more], [2, null, false]);
  const exact = (await call('GET', '/v1/guests?limit=25')).body;
  assert.deepEqual([exact.data.length, exact.cursor, exact.has_more], [25, null, false]);
});

test('the same page has the same cursor every time, and the longest name still fits into one', async (context) => {
  const platform = await platformFor(context);
  const call = await platform.as('org_one');
  const long = '\u{1F525}'.repeat(199);
  for (const end of ['a', 'b', 'c']) await create(call, 'guests', { name: long + end });
  const page = (await call('GET', '/v1/guests?sort=name_asc&limit=1')).body;
  assert.ok(page.cursor.length <= 1024);
  assert.equal((await call('GET', '/v1/guests?sort=name_asc&limit=1')).body.cursor, page.cursor);
  assert.equal((await walk(call, '/v1/guests?sort=name_asc&limit=1')).records.length, 3);
});

test('a cursor that is forged, damaged, or made for another list is 400 invalid_cursor', async (context) => {
  const platform = await platformFor(context);
  const call = await platform.as('org_one');
  for (let index = 0; index < 3; index += 1) {
    await create(call, 'guests', { name: `G${index}`, email: 'guest@example.com', vip: true });
    await create(call, 'customers', { name: `C${index}` });
  }
  const { cursor } = (await call('GET', '/v1/guests?limit=1&vip=true')).body;
  const bytes = Buffer.from(cursor, 'base64url');
  const flipped = Buffer.from(bytes);
  flipped[flipped.length - 1] = (flipped.at(-1) ?? 0) ^ 1;
  assert.equal((await call('GET', `/v1/guests?vip=true&cursor=${cursor}`)).status, 200);

  const refused = [
    `guests?cursor=${cursor}`,
    `guests?vip=false&cursor=${cursor}`,
    `guests?vip=true&email=guest@example.com&cursor=${cursor}`,
    `guests?vip=true&sort=created_at_asc&cursor=${cursor}`,
    `guests?vip=true&sort=name_desc&cursor=${cursor}`,
    `customers?cursor=${cursor}`,
    `guests?vip=true&cursor=${flipped.toString('base64url')}`,
    `guests?vip=true&cursor=${bytes.subarray(0, 10).toString('base64url')}`,
    `guests?vip=true&cursor=${cursor}%3D`,
    `guests?vip=true&cursor=${cursor}!`,
    'guests?vip=true&cursor=',
    'guests?vip=true&cursor=x',
    `guests?vip=true&cursor=${Buffer.from('{"id":"gst_1"}').toString('base64url')}`,
  ];
  for (const path of refused) {
    const reply = await call('GET', `/v1/${path}`);
    assert.equal(reply.status, 400, path);
    assert.equal(reply.body.error.code, 'invalid_cursor');
    assert.equal(reply.body.error.param, 'cursor');
  }
});

test('limit, sort, and filters of the wrong form are refused together, each with its place', async (context) => {
  const platform = await platformFor(context);
  const call = await platform.as('org_one');
  const path = '/v1/jobs?limit=101&sort=notes_asc&status=lost&scheduled_after=soon&color=red&status=lost';
  const { error } = (await call('GET', path)).body;
  assert.equal(error.code, 'validation_failed');
  assert.equal(error.param, error.errors[0].param);
  const found = error.errors.map((entry: { param: string; code: string }) => `${entry.param} ${entry.code}`).sort();
  assert.deepEqual(found, [
    'color unknown',
    'limit too_large',
    'scheduled_after wrong_format',
    'sort not_allowed',
    'status duplicate',
    'status not_allowed',
  ]);
  for (const limit of ['0', '-1', '1.5', 'ten', '']) {
    assert.equal((await call('GET', `/v1/jobs?limit=${limit}`)).status, 400, limit);
  }
});
