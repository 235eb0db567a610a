// The finer rules about members: times, clearing, references, identifiers, and members that depend on each other.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { create, platformForFile } from './support/platform.ts';

const platform = await platformForFile();
const call = await platform.as('org_one');
const customer = await create(call, 'customers', { name: 'Customer' });
const guest = await create(call, 'guests', { name: 'Guest' });
const experience = await create(call, 'experiences', { title: 'Tour', price: { amount: 1, currency: 'eur' } });
const job = { customer_id: customer.id, service_type: 'repair', scheduled_at: '2026-05-01T08:00:00Z' };
const booking = { guest_id: guest.id, starts_at: '2026-05-01T08:00:00Z' };

const times: Readonly<Record<string, string | undefined>> = {
  '2026-05-01T08:00:00Z': '2026-05-01T08:00:00.000Z',
  '2026-05-01t08:00:00z': '2026-05-01T08:00:00.000Z',
  '2026-05-01T08:00:00.12Z': '2026-05-01T08:00:00.120Z',
  '2026-05-01T08:00:00.123999+00:00': '2026-05-01T08:00:00.123Z',
  '2026-05-01T01:30:00+05:45': '2026-04-30T19:45:00.000Z',
  '2026-12-31T20:00:00-05:00': '2027-01-01T01:00:00.000Z',
  '2016-12-31T23:59:60Z': '2017-01-01T00:00:00.000Z',
  '2028-02-29T00:00:00Z': '2028-02-29T00:00:00.000Z',
  '2026-02-29T00:00:00Z': undefined,
  '2026-05-01T24:00:00Z': undefined,
  '2026-05-01T08:60:00Z': undefined,
  '2026-05-01T08:00:00': undefined,
  '2026-05-01 08:00:00Z': undefined,
  '2026-05-01': undefined,
  '2026-05-01T08:00:00+24:00': undefined,
  '9999-12-31T23:59:59-01:00': undefined,
  '0000-01-01T00:00:00+01:00': undefined,
};

for (const [sent, stored] of Object.entries(times)) {
  test(`the time ${sent} is ${stored === undefined ? 'refused' : `stored as ${stored}`}`, async () => {
    const reply = await call('POST', '/v1/jobs', { body: { ...job, scheduled_at: sent } });
    if (stored === undefined) assert.deepEqual([reply.status, reply.body.error.errors[0].code], [400, 'wrong_format']);
    else assert.equal(reply.body.scheduled_at, stored);
  });
}

test('null clears an optional member and brings back its default', async () => {
  const full = { name: 'T', email: 't@example.com', kind: 'subcontractor', skills: ['a'], active: false };
  const { id } = await create(call, 'technicians', full);
  const body = { email: null, kind: null, skills: null, active: null };
  const cleared = (await call('PATCH', `/v1/technicians/${id}`, { body })).body;
  assert.deepEqual([cleared.email, cleared.kind, cleared.skills, cleared.active], [null, 'employee', [], true]);
});

test("a technician's location comes by update only, with the time of the request by default", async () => {
  const location = { latitude: 1.5, longitude: -2 };
  const refused = await call('POST', '/v1/technicians', { body: { name: 'T', location } });
  assert.deepEqual([refused.status, refused.body.error.errors[0].code], [400, 'read_only']);
  const { id } = await create(call, 'technicians', { name: 'T' });
  const set = (value: unknown) => call('PATCH', `/v1/technicians/${id}`, { body: { location: value } });
  const now = (await set(location)).body;
  assert.deepEqual(now.location, { ...location, recorded_at: now.updated_at });
  const earlier = (await set({ ...location, recorded_at: '2026-01-01T01:00:00+01:00' })).body;
  assert.equal(earlier.location.recorded_at, '2026-01-01T00:00:00.000Z');
  assert.equal((await set(null)).body.location, null);
});

const references: readonly (readonly [resource: string, body: Readonly<Record<string, unknown>>, member: string])[] = [
  ['jobs', { ...job, customer_id: 'cus_0000000000000000' }, 'customer_id'],
  ['jobs', { ...job, technician_id: 'tech_0000000000000000' }, 'technician_id'],
  ['jobs', { ...job, technician_id: customer.id }, 'technician_id'],
  ['communications', { customer_id: customer.id, channel: 'sms', body: 'B', job_id: 'job_0000000000000000' }, 'job_id'],
  ['bookings', { ...booking, experience_id: 'exp_0000000000000000' }, 'experience_id'],
  ['bookings', { ...booking, guest_id: 'gst_0000000000000000', resource_name: 'Court' }, 'guest_id'],
];

for (const [resource, body, member] of references) {
  test(`${resource}: a ${member} that names nothing (${body[member]}) is 422 reference_missing`, async () => {
    const reply = await call('POST', `/v1/${resource}`, { body });
    assert.equal(reply.status, 422);
    assert.deepEqual([reply.body.error.code, reply.body.error.param], ['reference_missing', member]);
  });
}

test('cust_x names the same customer as cus_x in paths and references, and answers say cus_x', async () => {
  const alias = customer.id.replace('cus_', 'cust_');
  assert.equal((await call('GET', `/v1/customers/${alias}`)).body.id, customer.id);
  assert.equal((await call('PATCH', `/v1/customers/${alias}`, { body: { name: 'Renamed' } })).body.name, 'Renamed');
  const created = await create(call, 'jobs', { ...job, customer_id: alias });
  assert.equal(created.customer_id, customer.id);
  const doomed = await create(call, 'customers', { name: 'Doomed' });
  const deleted = await call('DELETE', `/v1/customers/${doomed.id.replace('cus_', 'cust_')}`);
  assert.deepEqual(deleted.body, { id: doomed.id, deleted: true });
});

test('a record that others refer to cannot be deleted until they are gone', async () => {
  const owner = await create(call, 'customers', { name: 'Owner' });
  const technician = await create(call, 'technicians', { name: 'T' });
  const other = await create(call, 'technicians', { name: 'O' });
  const { id } = await create(call, 'jobs', { ...job, customer_id: owner.id, technician_id: technician.id });
  const message = { customer_id: customer.id, channel: 'sms', body: 'B', job_id: id };
  const communication = await create(call, 'communications', message);
  const status = async (path: string): Promise<number> => (await call('DELETE', `/v1/${path}`)).status;

  const refused = await call('DELETE', `/v1/customers/${owner.id}`);
  assert.deepEqual([refused.status, refused.body.error.code], [409, 'upstream_rejected']);
  assert.equal(await status(`jobs/${id}`), 409);
  for (const body of [{ status: 'dispatched' }, { status: 'in_progress' }, { technician_id: other.id }]) {
    await call('PATCH', `/v1/jobs/${id}`, { body });
  }
  assert.equal(await status(`technicians/${technician.id}`), 409, 'their time entry is still there');

  assert.equal(await status(`communications/${communication.id}`), 200);
  assert.equal(await status(`jobs/${id}`), 200);
  for (const path of [`customers/${owner.id}`, `technicians/${technician.id}`]) assert.equal(await status(path), 200);
});

test("a customer's service history and a guest's stays are counted by the service", async () => {
  const owner = await create(call, 'customers', { name: 'Owner' });
  for (const scheduled_at of ['2026-05-02T08:00:00Z', '2026-06-02T08:00:00Z', '2026-04-02T08:00:00Z']) {
    await create(call, 'jobs', { ...job, customer_id: owner.id, scheduled_at });
  }
  const historyOf = async () => (await call('GET', `/v1/customers/${owner.id}`)).body.service_history;
  assert.deepEqual(await historyOf(), { jobs_count: 3, last_job_at: null }, 'no job has started');
  const technician = await create(call, 'technicians', { name: 'T' });
  const begun = await create(call, 'jobs', { ...job, customer_id: owner.id, technician_id: technician.id });
  for (const status of ['dispatched', 'in_progress'])
    assert.equal((await call('PATCH', `/v1/jobs/${begun.id}`, { body: { status } })).status, 200);
  const { started_at } = (await call('GET', `/v1/jobs/${begun.id}`)).body;
  assert.ok(started_at);
  assert.deepEqual(await historyOf(), { jobs_count: 4, last_job_at: started_at });

  const visitor = await create(call, 'guests', { name: 'Visitor' });
  for (const route of [['confirmed', 'completed'], ['confirmed'], ['canceled']]) {
    const { id } = await create(call, 'bookings', { ...booking, guest_id: visitor.id, resource_name: 'Court' });
    for (const status of route) await call('PATCH', `/v1/bookings/${id}`, { body: { status } });
  }
  assert.equal((await call('GET', `/v1/guests/${visitor.id}`)).body.stays_count, 1);
});

test('a booking has one of experience_id and resource_name, and ends after it begins', async () => {
  const codes = async (body: object): Promise<unknown[]> => {
    const reply = await call('POST', '/v1/bookings', { body: { ...booking, ...body } });
    return [reply.status, reply.body.error?.errors[0].code];
  };
  assert.deepEqual(await codes({}), [400, 'required']);
  assert.deepEqual(await codes({ experience_id: experience.id, resource_name: 'Court' }), [400, 'ambiguous']);
  assert.deepEqual(await codes({ resource_name: 'Court', ends_at: '2026-05-01T09:30:00+02:00' }), [400, 'too_small']);
  const { id } = await create(call, 'bookings', { ...booking, resource_name: 'Court' });
  assert.equal((await call('PATCH', `/v1/bookings/${id}`, { body: { resource_name: null } })).status, 400);
  const body = { resource_name: null, experience_id: experience.id };
  assert.equal((await call('PATCH', `/v1/bookings/${id}`, { body })).body.experience_id, experience.id);
});

test("an invoice's amount and a membership's renewal follow their inputs", async () => {
  const line_items = [{ description: 'work', quantity: 3, unit_amount: 7 }];
  const invoice = await create(call, 'invoices', { customer_id: customer.id, line_items, currency: 'usd' });
  const more = { line_items: [...line_items, { description: 'parts', quantity: 1, unit_amount: 100 }] };
  assert.equal((await call('PATCH', `/v1/invoices/${invoice.id}`, { body: more })).body.amount, 121);
  const membership = { customer_id: customer.id, plan_name: 'P', interval: 'month', starts_on: '2026-01-31' };
  const { id, renews_on } = await create(call, 'memberships', membership);
  assert.equal(renews_on, '2026-02-28');
  assert.equal(
    (await call('PATCH', `/v1/memberships/${id}`, { body: { interval: 'year' } })).body.renews_on,
    '2027-01-31',
  );
});

test('metadata keeps any name, also __proto__, and is bounded', async () => {
  const reply = await call('POST', '/v1/guests', {
    body: '{"name":"G","metadata":{"__proto__":"kept","constructor":"too"}}',
  });
  assert.equal(JSON.stringify(reply.body.metadata), '{"__proto__":"kept","constructor":"too"}');
  const many = Object.fromEntries(Array.from({ length: 21 }, (_, index) => [`k${index}`, 'v']));
  for (const metadata of [many, { k: 1 }, { k: null }, ['v'], 'v', { ['k'.repeat(41)]: 'v' }, { k: 'v'.repeat(501) }]) {
    assert.equal((await call('POST', '/v1/guests', { body: { name: 'G', metadata } })).status, 400);
  }
});
