// The demonstration data: enough of everything, made once per organization and mode, the same story every time.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { create, platformFor, walk } from './support/platform.ts';

const atLeast: Readonly<Record<string, number>> = {
  customers: 260,
  technicians: 12,
  jobs: 120,
  invoices: 60,
  memberships: 40,
  communications: 80,
  guests: 40,
  experiences: 15,
  bookings: 60,
};
const statuses: Readonly<Record<string, readonly string[]>> = {
  jobs: ['canceled', 'completed', 'dispatched', 'in_progress', 'scheduled'],
  invoices: ['draft', 'open', 'paid', 'void'],
  memberships: ['active', 'canceled', 'expired', 'paused'],
  communications: ['delivered', 'failed'],
  bookings: ['canceled', 'completed', 'confirmed', 'pending'],
};

// biome-ignore lint/suspicious/noExplicitAny: records are compared member by member
type Shown = any;

test('a seeded organization has enough of everything, in every state, all of it in the past', async (context) => {
  const platform = await platformFor(context);
  const call = await platform.as('org_demo', 'test');
  assert.deepEqual((await call('POST', '/_sandbox/seed')).body, { seeded: true });
  const now = new Date(platform.clock.nowMs).toISOString();
  for (const [resource, count] of Object.entries(atLeast)) {
    const records: Shown[] = (await walk(call, `/v1/${resource}?limit=100`)).records;
    assert.ok(records.length >= count, resource);
    for (const { id, created_at, updated_at } of records) {
      assert.ok(created_at <= updated_at && updated_at <= now, `${id} ${created_at} ${updated_at}`);
    }
    if (statuses[resource]) {
      assert.deepEqual([...new Set(records.map(({ status }) => status))].sort(), statuses[resource]);
    }
  }
});

test('the customers differ, and no last job of theirs lies in the future', async (context) => {
  const platform = await platformFor(context);
  const call = await platform.as('org_demo', 'test');
  await call('POST', '/_sandbox/seed');
  const now = new Date(platform.clock.nowMs).toISOString();
  const customers: Shown[] = (await walk(call, '/v1/customers?limit=100')).records;
  for (const member of ['email', 'phone']) {
    const values = customers.map((customer) => customer[member]).filter((value) => value !== null);
    assert.equal(new Set(values).size, values.length, member);
  }
  const latest = customers.map(({ service_history }) => service_history.last_job_at).filter((at) => at !== null);
  assert.ok(latest.length > 20, `${latest.length} customers had a job`);
  assert.deepEqual(
    latest.filter((at) => at > now),
    [],
  );
});

test('seeding again does nothing, nor where there is a customer already, nor to other scopes', async (context) => {
  const platform = await platformFor(context);
  const call = await platform.as('org_demo', 'test');
  const seed = async (other = call): Promise<unknown> => (await other('POST', '/_sandbox/seed')).body.seeded;
  assert.deepEqual([await seed(), await seed()], [true, false]);

  const live = await platform.as('org_demo', 'live');
  assert.deepEqual((await live('GET', '/v1/customers')).body.data, []);
  await create(live, 'customers', { name: 'First' });
  assert.equal(await seed(live), false);
  assert.equal((await walk(live, '/v1/customers')).records.length, 1);
});

test('two organizations get the same content under different identifiers', async (context) => {
  const platform = await platformFor(context);
  const read = async (org: string): Promise<Shown[]> => {
    const call = await platform.as(org);
    await call('POST', '/_sandbox/seed');
    return (await walk(call, '/v1/customers?limit=100')).records;
  };
  const [one, two] = [await read('org_one'), await read('org_two')];
  const content = (records: Shown[]): unknown[] => records.map(({ id, ...rest }) => rest);
  assert.deepEqual(content(one), content(two));
  const identifiers = new Set([...one, ...two].map(({ id }) => id));
  const examples = one.filter(({ id }) => two.some((other) => other.id === id));
  assert.equal(identifiers.size, one.length + two.length - examples.length);
  // The contracts name these.
  assert.ok(examples.length <= 2);
});

test('the demonstration has no real addresses: mail goes to example.com, calls to +1555', async (context) => {
  const platform = await platformFor(context);
  const call = await platform.as('org_demo');
  await call('POST', '/_sandbox/seed');
  for (const resource of ['customers', 'technicians', 'guests']) {
    const records: Shown[] = (await walk(call, `/v1/${resource}?limit=100`)).records;
    for (const { email, phone } of records) {
      assert.ok(email === null || email.endsWith('@example.com'), email);
      assert.ok(phone === null || /^\+1555\d{7}$/.test(phone), phone);
    }
  }
});
