// A write with an Idempotency-Key happens once, and every repetition gets the answer of the first.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { create, platformFor, walk } from './support/platform.ts';

const keyed = (key: string): { headers: Record<string, string> } => ({ headers: { 'idempotency-key': key } });

test('the same create again gives the stored answer and creates nothing', async (context) => {
  const call = await (await platformFor(context)).as('org_one');
  const body = { name: 'Once' };
  const first = await call('POST', '/v1/customers', { ...keyed('k1'), body });
  const again = await call('POST', '/v1/customers', { ...keyed('k1'), body });
  assert.deepEqual([again.status, again.body], [201, first.body]);
  assert.equal(again.headers.get('location'), first.headers.get('location'));
  assert.deepEqual(
    [first.headers.get('idempotent-replayed'), again.headers.get('idempotent-replayed')],
    [null, 'true'],
  );
  assert.equal((await walk(call, '/v1/customers')).records.length, 1);
});

test('concurrent duplicates create one record', async (context) => {
  const call = await (await platformFor(context)).as('org_one');
  const attempts = Array.from({ length: 25 }, () => call('POST', '/v1/guests', { ...keyed('k'), body: { name: 'G' } }));
  const replies = await Promise.all(attempts);
  assert.deepEqual(new Set(replies.map(({ status }) => status)), new Set([201]));
  assert.equal(new Set(replies.map(({ body }) => body.id)).size, 1);
  assert.equal((await walk(call, '/v1/guests')).records.length, 1);
});

test('a repeated status change is answered as the first was, not refused as a missing edge', async (context) => {
  const call = await (await platformFor(context)).as('org_one');
  const customer = await create(call, 'customers', { name: 'C' });
  const body = { customer_id: customer.id, service_type: 'repair', scheduled_at: '2026-04-01T10:00:00Z' };
  const { id } = await create(call, 'jobs', body);
  const dispatch = () => call('PATCH', `/v1/jobs/${id}`, { ...keyed('d'), body: { status: 'dispatched' } });
  const first = await dispatch();
  const again = await dispatch();
  assert.deepEqual([first.status, again.status, again.body], [200, 200, first.body]);
});

test('the same key with another body, path or method is 422 idempotency_key_reused', async (context) => {
  const call = await (await platformFor(context)).as('org_one');
  const { body: first } = await call('POST', '/v1/guests', { ...keyed('k'), body: { name: 'G' } });
  const others = [
    ['POST', '/v1/guests', { name: 'H' }],
    ['POST', '/v1/customers', { name: 'G' }],
    ['PATCH', `/v1/guests/${first.id}`, { name: 'G' }],
  ] as const;
  for (const [method, path, body] of others) {
    const reply = await call(method, path, { ...keyed('k'), body });
    assert.deepEqual([reply.status, reply.body.error.code], [422, 'idempotency_key_reused'], path);
    assert.equal(reply.body.error.type, 'idempotency_error');
  }
});

test('a refusal is stored as well, but a conflict is not, because it may be gone by the next attempt', async (context) => {
  const call = await (await platformFor(context)).as('org_one');
  const invalid = await call('POST', '/v1/guests', { ...keyed('bad'), body: {} });
  const again = await call('POST', '/v1/guests', { ...keyed('bad'), body: {} });
  assert.deepEqual([again.status, again.body], [400, invalid.body]);
  assert.equal(again.headers.get('idempotent-replayed'), 'true');

  const guest = await create(call, 'guests', { name: 'G' });
  const { id } = await create(call, 'bookings', {
    guest_id: guest.id,
    starts_at: '2026-04-01T10:00:00Z',
    resource_name: 'R',
  });
  const complete = () => call('PATCH', `/v1/bookings/${id}`, { ...keyed('c'), body: { status: 'completed' } });
  assert.equal((await complete()).status, 409);
  await call('PATCH', `/v1/bookings/${id}`, { body: { status: 'confirmed' } });
  assert.equal((await complete()).status, 200);
});

test('a key is forgotten after 24 hours and not before', async (context) => {
  const platform = await platformFor(context);
  const call = await platform.as('org_one');
  const post = () => call('POST', '/v1/guests', { ...keyed('k'), body: { name: 'G' } });
  const first = (await post()).body.id;
  platform.clock.nowMs += 24 * 3_600_000 - 1;
  assert.equal((await post()).body.id, first);
  platform.clock.nowMs += 1;
  assert.notEqual((await post()).body.id, first);
});

test('a quoted key is the same key as the bare one, and a malformed one is 400', async (context) => {
  const call = await (await platformFor(context)).as('org_one');
  const post = (key: string) => call('POST', '/v1/guests', { ...keyed(key), body: { name: 'G' } });
  assert.equal((await post('"abc"')).body.id, (await post('abc')).body.id);
  for (const key of ['has space', 'x'.repeat(256), '""', 'é']) {
    const reply = await post(key);
    assert.deepEqual([reply.status, reply.body.error.code], [400, 'idempotency_key_malformed'], key);
  }
});

test('a delete ignores the key', async (context) => {
  const call = await (await platformFor(context)).as('org_one');
  const { id } = await create(call, 'guests', { name: 'G' });
  assert.equal((await call('DELETE', `/v1/guests/${id}`, keyed('k'))).status, 200);
  assert.equal((await call('DELETE', `/v1/guests/${id}`, keyed('k'))).status, 404);
});
