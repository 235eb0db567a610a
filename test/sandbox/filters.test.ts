// Every filter of every resource, alone, in every order, and together with the others, against demonstration data.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RESOURCES } from '../../sandbox/catalogue.ts';
import type { ResourceName } from '../../sandbox/kinds.ts';
import { platformForFile, walk } from './support/platform.ts';

// biome-ignore lint/suspicious/noExplicitAny: records are compared member by member
type Shown = any;

const platform = await platformForFile();
const call = await platform.as('org_one');
await call('POST', '/_sandbox/seed');
const { data: newest } = (await call('GET', '/v1/customers?limit=1')).body;
await call('POST', '/v1/communications', { body: { customer_id: newest[0].id, channel: 'sms', body: 'Queued' } });

type Choose = (records: Shown[]) => string;
type Filters = Readonly<Record<string, readonly [Choose, (record: Shown, value: string) => boolean]>>;
const first =
  (member: string): Choose =>
  (records) =>
    records.find((record) => record[member] !== null)[member];
const equal = (member: string): Filters[string] => [first(member), (record, value) => String(record[member]) === value];
const median =
  (member: string): Choose =>
  (records) => {
    const values = records.map((record) => record[member]).filter((value) => value !== null);
    return values.toSorted()[values.length >> 1];
  };

const filters: Readonly<Record<ResourceName, Filters>> = {
  customers: {
    email: equal('email'),
    phone: equal('phone'),
    name_prefix: [() => 'aDA ', ({ name }) => name.startsWith('Ada ')],
  },
  jobs: {
    status: equal('status'),
    technician_id: equal('technician_id'),
    customer_id: equal('customer_id'),
    service_type: equal('service_type'),
    scheduled_after: [median('scheduled_at'), (record, value) => record.scheduled_at > value],
    scheduled_before: [median('scheduled_at'), (record, value) => record.scheduled_at < value],
  },
  invoices: {
    status: equal('status'),
    customer_id: equal('customer_id'),
    job_id: equal('job_id'),
    due_before: [median('due_on'), (record, value) => record.due_on !== null && record.due_on < value],
  },
  technicians: {
    skill: [(records) => records[0].skills[0], (record, value) => record.skills.includes(value)],
    kind: equal('kind'),
    active: equal('active'),
  },
  memberships: {
    status: equal('status'),
    customer_id: equal('customer_id'),
    renews_before: [median('renews_on'), (record, value) => record.renews_on !== null && record.renews_on < value],
  },
  communications: { customer_id: equal('customer_id'), channel: equal('channel'), status: equal('status') },
  guests: { email: equal('email'), vip: equal('vip') },
  experiences: { category: equal('category'), active: equal('active') },
  bookings: {
    guest_id: equal('guest_id'),
    experience_id: equal('experience_id'),
    status: equal('status'),
    starts_after: [median('starts_at'), (record, value) => record.starts_at > value],
    starts_before: [median('starts_at'), (record, value) => record.starts_at < value],
  },
};

for (const [resource, named] of Object.entries(filters)) {
  for (const [name, [choose, matches]] of Object.entries(named)) {
    test(`${resource} filtered by ${name} are those that match and no others, in every order`, async () => {
      const all = (await walk(call, `/v1/${resource}?limit=100`)).records;
      const value = String(choose(all));
      const expected = all.filter((record) => matches(record, value)).map(({ id }) => id);
      assert.ok(expected.length > 0 && expected.length < all.length, 'the filter chooses some');
      for (const sort of ['created_at', 'updated_at', ...Object.keys(RESOURCES[resource as ResourceName].sorts)]) {
        const path = `/v1/${resource}?limit=7&sort=${sort}_asc&${name}=${encodeURIComponent(value)}`;
        const { records } = await walk(call, path);
        assert.deepEqual(records.map(({ id }) => id).sort(), expected.toSorted(), sort);
      }
    });
  }

  test(`all filters of ${resource} together narrow the list`, async () => {
    const all: Shown[] = (await walk(call, `/v1/${resource}?limit=100`)).records;
    const chosen = Object.entries(named).map(([name, [choose, matches]]) => ({
      name,
      matches,
      value: String(choose(all)),
    }));
    const query = chosen.map(({ name, value }) => `${name}=${encodeURIComponent(value)}`).join('&');
    const expected = all.filter((record) => chosen.every(({ matches, value }) => matches(record, value)));
    const { records } = await walk(call, `/v1/${resource}?${query}`);
    assert.deepEqual(
      records.map(({ id }) => id),
      expected.map(({ id }) => id),
    );
  });
}

test('a named time itself is neither after nor before', async () => {
  const [job] = (await call('GET', '/v1/jobs?limit=1')).body.data;
  const at = encodeURIComponent(job.scheduled_at);
  const { records } = await walk(call, `/v1/jobs?scheduled_after=${at}`);
  const earlier = await walk(call, `/v1/jobs?scheduled_before=${at}`);
  for (const { id } of [...records, ...earlier.records]) assert.notEqual(id, job.id);
});

test('a time in a filter may have any offset, even with its plus unescaped', async () => {
  const utc = await walk(call, '/v1/jobs?scheduled_after=2026-02-10T10:00:00Z');
  for (const time of ['2026-02-10T12:00:00%2B02:00', '2026-02-10T12:00:00+02:00', '2026-02-10T04:30:00-05:30']) {
    assert.deepEqual((await walk(call, `/v1/jobs?scheduled_after=${time}`)).records, utc.records, time);
  }
  assert.ok(utc.records.length > 0);
});

test('a telephone number is found even with its plus unescaped', async () => {
  const [customer] = (await call('GET', '/v1/customers?limit=1&sort=created_at_asc')).body.data;
  assert.equal((await call('GET', `/v1/customers?phone=${customer.phone}`)).body.data[0].id, customer.id);
});

test('cust_x filters for the same customer as cus_x, with the same cursor', async () => {
  const { customer_id } = (await call('GET', '/v1/jobs?limit=1')).body.data[0];
  const alias = customer_id.replace('cus_', 'cust_');
  const plain = (await call('GET', `/v1/jobs?limit=1&customer_id=${customer_id}`)).body;
  assert.deepEqual((await call('GET', `/v1/jobs?limit=1&customer_id=${alias}`)).body, plain);
});

test('name_prefix takes wildcard characters literally and handles letters beyond ASCII', async () => {
  for (const name of ['100% Élan', '100_ Plus']) await call('POST', '/v1/customers', { body: { name } });
  const names = async (prefix: string): Promise<string[]> => {
    const { records } = await walk(call, `/v1/customers?name_prefix=${encodeURIComponent(prefix)}`);
    return records.map((record) => (record as Shown).name);
  };
  assert.deepEqual(await names('100%'), ['100% Élan']);
  assert.deepEqual(await names('100% éL'), ['100% Élan']);
  assert.deepEqual(await names('100_'), ['100_ Plus']);
  assert.deepEqual(await names('%'), []);
});

test('the skill filter follows changes and deletions', async () => {
  const technician = (await call('POST', '/v1/technicians', { body: { name: 'T', skills: ['falconry'] } })).body;
  const found = async (): Promise<number> => (await call('GET', '/v1/technicians?skill=falconry')).body.data.length;
  assert.equal(await found(), 1);
  await call('PATCH', `/v1/technicians/${technician.id}`, { body: { skills: [] } });
  assert.equal(await found(), 0);
  await call('PATCH', `/v1/technicians/${technician.id}`, { body: { skills: ['falconry', 'hvac'] } });
  assert.equal(await found(), 1);
  await call('DELETE', `/v1/technicians/${technician.id}`);
  assert.equal(await found(), 0);
});
