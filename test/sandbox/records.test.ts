// Records when they are created, changed, cleared, referred to and deleted.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { create, platformForFile } from './support/platform.ts';

const platform = await platformForFile();
const call = await platform.as('org_one');
const customer = await create(call, 'customers', { name: 'Customer' });
const guest = await create(call, 'guests', { name: 'Guest' });
const line_items = [
  { description: 'work', quantity: 2, unit_amount: 4500 },
  { description: 'parts', quantity: 3, unit_amount: 99 },
];

type Members = Readonly<Record<string, unknown>>;

const smallest: Readonly<Record<string, readonly [prefix: string, body: Members, shown: Members]>> = {
  customers: [
    'cus',
    { name: 'N' },
    {
      email: null,
      phone: null,
      address: null,
      equipment: [],
      communication_preferences: null,
      service_history: { jobs_count: 0, last_job_at: null },
    },
  ],
  jobs: [
    'job',
    { customer_id: customer.id, service_type: 'heat_pump', scheduled_at: '2026-05-01T08:00:00.000Z' },
    {
      technician_id: null,
      notes: null,
      estimated_minutes: null,
      status: 'scheduled',
      started_at: null,
      completed_at: null,
      time_entries: [],
    },
  ],
  invoices: [
    'inv',
    { customer_id: customer.id, line_items, currency: 'usd' },
    {
      job_id: null,
      due_on: null,
      receipt_email: null,
      number: 'INV-000001',
      amount: 9297,
      amount_paid: 0,
      status: 'draft',
      receipt: null,
    },
  ],
  technicians: [
    'tech',
    { name: 'N' },
    { email: null, phone: null, kind: 'employee', skills: [], active: true, location: null },
  ],
  memberships: [
    'mem',
    { customer_id: customer.id, plan_name: 'P', interval: 'quarter', starts_on: '2025-11-30' },
    { price: null, auto_renew: true, status: 'active', renews_on: '2026-02-28' },
  ],
  communications: [
    'com',
    { customer_id: customer.id, channel: 'sms', body: 'B' },
    { subject: null, job_id: null, status: 'queued', sent_at: null },
  ],
  guests: [
    'gst',
    { name: 'N' },
    { email: null, phone: null, preferences: null, loyalty_number: null, vip: false, stays_count: 0 },
  ],
  experiences: [
    'exp',
    { title: 'T', price: { amount: 100, currency: 'eur' } },
    { description: null, category: null, duration_minutes: null, capacity: null, active: true, location: null },
  ],
  bookings: [
    'bkg',
    { guest_id: guest.id, starts_at: '2026-05-01T08:00:00.000Z', resource_name: 'Court' },
    { experience_id: null, ends_at: null, party_size: 1, notes: null, status: 'pending' },
  ],
};

for (const [resource, [prefix, body, defaults]] of Object.entries(smallest)) {
  test(`${resource}: the smallest create shows every member with its default`, async () => {
    const reply = await call('POST', `/v1/${resource}`, { body });
    assert.equal(reply.status, 201);
    const { id, created_at, updated_at, ...rest } = reply.body;
    assert.match(id, new RegExp(`^${prefix}_[0-9A-Za-z]{16}$`));
    assert.match(created_at, /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/);
    assert.equal(updated_at, created_at);
    assert.deepEqual(rest, { ...body, ...defaults, metadata: {} });
    assert.equal(reply.headers.get('location'), `/v1/${resource}/${id}`);
    assert.deepEqual((await call('GET', `/v1/${resource}/${id}`)).body, reply.body);
  });

  test(`${resource}: every member that is required is missed, and nothing that is not a member is taken`, async () => {
    const without = await call('POST', `/v1/${resource}`, { body: {} });
    assert.equal(without.status, 400);
    const missed = without.body.error.errors.map(({ param, code }: { param: string; code: string }) => [param, code]);
    const needed = Object.keys(body).filter((member) => member !== 'resource_name');
    assert.deepEqual(missed.sort(), needed.map((member) => [member, 'required']).sort());

    for (const [member, code] of [
      ['color', 'unknown'],
      ['__proto__', 'unknown'],
      ['id', 'read_only'],
      ['created_at', 'read_only'],
    ]) {
      const stranger = `${JSON.stringify(body).slice(0, -1)},"${member}":"x"}`;
      const reply = await call('POST', `/v1/${resource}`, { body: stranger });
      assert.deepEqual([reply.status, reply.body.error.errors[0].code], [400, code], member);
    }
  });

  test(`${resource}: a change touches the sent members and the time of change, nothing else`, async () => {
    const before = await create(call, resource, { ...body, metadata: { a: '1', b: '2' } });
    platform.clock.nowMs += 500;
    const changed = await call('PATCH', `/v1/${resource}/${before.id}`, { body: { metadata: { a: '3' } } });
    assert.equal(changed.status, 200);
    assert.ok(changed.body.updated_at > before.updated_at);
    assert.deepEqual(changed.body, { ...before, metadata: { a: '3' }, updated_at: changed.body.updated_at });
    const cleared = await call('PATCH', `/v1/${resource}/${before.id}`, { body: { metadata: null } });
    assert.deepEqual(cleared.body.metadata, {});
  });

  test(`${resource}: null does not clear a required member`, async () => {
    const { id } = await create(call, resource, body);
    for (const member of Object.keys(body).filter((name) => name !== 'resource_name')) {
      const reply = await call('PATCH', `/v1/${resource}/${id}`, { body: { [member]: null } });
      assert.deepEqual([reply.status, reply.body.error.param], [400, member]);
    }
  });

  test(`${resource}: a deleted record is gone`, async () => {
    const { id } = await create(call, resource, body);
    const deleted = await call('DELETE', `/v1/${resource}/${id}`);
    assert.deepEqual([deleted.status, deleted.body], [200, { id, deleted: true }]);
    for (const method of ['GET', 'DELETE', 'PATCH']) {
      const reply = await call(method, `/v1/${resource}/${id}`, method === 'PATCH' ? { body: {} } : {});
      assert.deepEqual([reply.status, reply.body.error.code], [404, 'resource_missing']);
    }
  });
}
