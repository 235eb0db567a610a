// An organization in one mode sees its own records and no others, by every way of access.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Call, create, platformForFile } from './support/platform.ts';

const platform = await platformForFile();
const owner = await platform.as('org_one', 'live');
const strangers: Readonly<Record<string, Call>> = {
  'another organization': await platform.as('org_two', 'live'),
  'the same organization in test mode': await platform.as('org_one', 'test'),
};

for (let index = 0; index < 3; index += 1) await create(owner, 'customers', { name: `Customer ${index}` });
const mine = await create(owner, 'customers', { name: 'Mine', email: 'mine@example.com' });
const job = { customer_id: mine.id, service_type: 'repair', scheduled_at: '2026-04-01T10:00:00Z' };
await create(owner, 'jobs', job);

for (const [who, stranger] of Object.entries(strangers)) {
  test(`${who} does not see the record in its list`, async () => {
    assert.deepEqual((await stranger('GET', '/v1/customers')).body, { data: [], cursor: null, has_more: false });
  });

  test(`${who} does not find the record by a filter`, async () => {
    for (const path of [
      'customers?email=mine@example.com',
      'customers?name_prefix=Mine',
      `jobs?customer_id=${mine.id}`,
    ]) {
      assert.deepEqual((await stranger('GET', `/v1/${path}`)).body.data, [], path);
    }
  });

  test(`${who} gets 404 for the identifier, by every method`, async () => {
    for (const [method, body] of [['GET'], ['PATCH', { name: 'Theirs' }], ['DELETE']] as const) {
      const reply = await stranger(method, `/v1/customers/${mine.id}`, { body });
      assert.equal(reply.status, 404, method);
      assert.equal(reply.body.error.code, 'resource_missing');
    }
    assert.equal((await owner('GET', `/v1/customers/${mine.id}`)).body.name, 'Mine');
  });

  test(`${who} cannot refer to the record`, async () => {
    const reply = await stranger('POST', '/v1/jobs', { body: job });
    assert.equal(reply.status, 422);
    assert.equal(reply.body.error.code, 'reference_missing');
    assert.equal(reply.body.error.param, 'customer_id');
  });

  test(`${who} cannot use a cursor of the owner`, async () => {
    const { cursor } = (await owner('GET', '/v1/customers?limit=1')).body;
    const reply = await stranger('GET', `/v1/customers?limit=1&cursor=${cursor}`);
    assert.equal(reply.status, 400);
    assert.equal(reply.body.error.code, 'invalid_cursor');
  });

  test(`${who} may use the same Idempotency-Key for something else`, async () => {
    const headers = { 'idempotency-key': `shared-${who.length}` };
    const first = await owner('POST', '/v1/customers', { headers, body: { name: 'Owner' } });
    const second = await stranger('POST', '/v1/customers', { headers, body: { name: 'Stranger' } });
    assert.deepEqual([first.status, second.status], [201, 201]);
    assert.notEqual(first.body.id, second.body.id);
    await stranger('DELETE', `/v1/customers/${second.body.id}`);
  });
}

test('invoice numbers count up in each organization and mode by itself', async () => {
  const line_items = [{ description: 'work', quantity: 1, unit_amount: 100 }];
  const numbers: string[] = [];
  for (const call of [owner, owner, ...Object.values(strangers)]) {
    const customer = await create(call, 'customers', { name: 'Payer' });
    const invoice = await create(call, 'invoices', { customer_id: customer.id, line_items, currency: 'eur' });
    numbers.push(invoice.number);
  }
  assert.deepEqual(numbers, ['INV-000001', 'INV-000002', 'INV-000001', 'INV-000001']);
});
