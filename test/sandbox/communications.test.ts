// Communications move on by themselves, and lists filter and sort by the values that they show.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { create, platformFor } from './support/platform.ts';

test('a communication is queued, then sent, then delivered', async (context) => {
  const platform = await platformFor(context);
  const call = await platform.as('org_one');
  const customer = await create(call, 'customers', { name: 'C' });
  const queued = await create(call, 'communications', { customer_id: customer.id, channel: 'sms', body: 'B' });
  const now = async () => (await call('GET', `/v1/communications/${queued.id}`)).body;
  assert.deepEqual([(await now()).status, (await now()).sent_at], ['queued', null]);

  platform.clock.nowMs += 2500;
  const sent = await now();
  const sentAt = new Date(Date.parse(queued.created_at) + 2000).toISOString();
  assert.deepEqual([sent.status, sent.sent_at, sent.updated_at], ['sent', sentAt, sentAt]);

  platform.clock.nowMs += 3000;
  const delivered = await now();
  assert.deepEqual([delivered.status, delivered.sent_at], ['delivered', sentAt]);
  assert.ok(delivered.updated_at > sent.updated_at);
});

test('a list filtered by status agrees with the records it shows, however much time has passed', async (context) => {
  const platform = await platformFor(context);
  const call = await platform.as('org_one');
  const customer = await create(call, 'customers', { name: 'C' });
  for (let index = 0; index < 6; index += 1) {
    await create(call, 'communications', { customer_id: customer.id, channel: 'sms', body: 'B' });
    platform.clock.nowMs += 1000;
  }
  const counts: number[] = [];
  for (const status of ['queued', 'sent', 'delivered']) {
    const { data } = (await call('GET', `/v1/communications?status=${status}&sort=sent_at_desc`)).body;
    for (const record of data) assert.equal(record.status, status);
    counts.push(data.length);
  }
  assert.deepEqual(counts, [1, 3, 2]);
});

test('the status of a communication is not for clients to set', async (context) => {
  const platform = await platformFor(context);
  const call = await platform.as('org_one');
  const customer = await create(call, 'customers', { name: 'C' });
  const body = { customer_id: customer.id, channel: 'sms', body: 'B' };
  const { id } = await create(call, 'communications', body);
  for (const member of ['status', 'sent_at']) {
    const created = await call('POST', '/v1/communications', { body: { ...body, [member]: 'sent' } });
    const changed = await call('PATCH', `/v1/communications/${id}`, { body: { [member]: 'sent' } });
    assert.deepEqual([created.status, created.body.error.errors[0].code], [400, 'read_only']);
    assert.deepEqual([changed.status, changed.body.error.errors[0].code], [400, 'read_only']);
  }
});

test('only an e-mail has a subject, also after a change', async (context) => {
  const platform = await platformFor(context);
  const call = await platform.as('org_one');
  const customer = await create(call, 'customers', { name: 'C' });
  const body = { customer_id: customer.id, channel: 'email', body: 'B', subject: 'S' };
  const { id } = await create(call, 'communications', body);
  const wrong = await call('POST', '/v1/communications', { body: { ...body, channel: 'sms' } });
  assert.deepEqual([wrong.status, wrong.body.error.param], [400, 'subject']);
  assert.equal((await call('PATCH', `/v1/communications/${id}`, { body: { channel: 'sms' } })).status, 400);
  const change = { channel: 'sms', subject: null };
  assert.equal((await call('PATCH', `/v1/communications/${id}`, { body: change })).status, 200);
});
