// Status changes along every edge there is, and refused along every other.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Call, create, platformForFile } from './support/platform.ts';

const platform = await platformForFile();
const call = await platform.as('org_one');
const customer = await create(call, 'customers', { name: 'Customer' });
const guest = await create(call, 'guests', { name: 'Guest' });
const technician = await create(call, 'technicians', { name: 'Technician' });

interface Machine {
  readonly body: Readonly<Record<string, unknown>>;
  /** How to get from creation to each state. */
  readonly routes: Readonly<Record<string, readonly string[]>>;
  readonly edges: readonly string[];
  /** States that only the service itself brings about. */
  readonly others?: readonly string[];
}

const machines: Readonly<Record<string, Machine>> = {
  jobs: {
    body: { customer_id: customer.id, service_type: 'repair', scheduled_at: '2026-04-01T10:00:00Z' },
    routes: {
      scheduled: [],
      dispatched: ['dispatched'],
      in_progress: ['dispatched', 'in_progress'],
      completed: ['dispatched', 'in_progress', 'completed'],
      canceled: ['canceled'],
    },
    edges: [
      'scheduled → dispatched',
      'dispatched → in_progress',
      'in_progress → completed',
      'scheduled → canceled',
      'dispatched → canceled',
      'in_progress → canceled',
    ],
  },
  invoices: {
    body: {
      customer_id: customer.id,
      line_items: [{ description: 'work', quantity: 2, unit_amount: 150 }],
      currency: 'usd',
    },
    routes: { draft: [], open: ['open'], paid: ['open', 'paid'], void: ['void'] },
    edges: ['draft → open', 'open → paid', 'draft → void', 'open → void'],
  },
  memberships: {
    body: { customer_id: customer.id, plan_name: 'Comfort', interval: 'month', starts_on: '2026-03-01' },
    routes: { active: [], paused: ['paused'], canceled: ['canceled'] },
    edges: ['active → paused', 'paused → active', 'active → canceled', 'paused → canceled'],
    others: ['expired'],
  },
  bookings: {
    body: { guest_id: guest.id, starts_at: '2026-04-01T10:00:00Z', resource_name: 'Court' },
    routes: { pending: [], confirmed: ['confirmed'], completed: ['confirmed', 'completed'], canceled: ['canceled'] },
    edges: ['pending → confirmed', 'confirmed → completed', 'pending → canceled', 'confirmed → canceled'],
  },
};

const change = (resource: string, id: string, body: Readonly<Record<string, unknown>>): ReturnType<Call> =>
  call('PATCH', `/v1/${resource}/${id}`, { body });

async function recordIn(resource: string, route: readonly string[], body: Machine['body']): Promise<string> {
  const { id } = await create(call, resource, body);
  for (const status of route) assert.equal((await change(resource, id, { status })).status, 200);
  return id;
}

for (const [resource, { body, routes, edges, others = [] }] of Object.entries(machines)) {
  for (const [from, route] of Object.entries(routes)) {
    for (const to of [...Object.keys(routes), ...others]) {
      const allowed = edges.includes(`${from} → ${to}`);
      test(`${resource}: ${from} → ${to} ${allowed ? 'is an edge' : 'is 409 and changes nothing'}`, async () => {
        const id = await recordIn(resource, route, body);
        const reply = await change(resource, id, { status: to, metadata: { touched: 'yes' } });
        const now = (await call('GET', `/v1/${resource}/${id}`)).body;
        if (allowed) {
          assert.equal(reply.status, 200);
          assert.deepEqual([now.status, now.metadata], [to, { touched: 'yes' }]);
          return;
        }
        assert.equal(reply.status, 409);
        assert.deepEqual([reply.body.error.code, reply.body.error.param], ['invalid_transition', 'status']);
        assert.deepEqual([now.status, now.metadata], [from, {}]);
      });
    }
  }

  test(`${resource}: a status cannot be chosen on creation, and an unknown one is 400`, async () => {
    const [initial] = Object.keys(routes);
    const created = await call('POST', `/v1/${resource}`, { body: { ...body, status: initial } });
    assert.deepEqual([created.status, created.body.error.errors[0].code], [400, 'read_only']);
    const id = await recordIn(resource, [], body);
    const changed = await change(resource, id, { status: 'lost' });
    assert.deepEqual([changed.status, changed.body.error.errors[0].code], [400, 'not_allowed']);
  });
}

test('a job notes when and by which caller it was started and completed', async () => {
  const id = await recordIn('jobs', ['dispatched'], { ...machines.jobs?.body, technician_id: technician.id });
  const started = (await change('jobs', id, { status: 'in_progress' })).body;
  assert.equal(started.started_at, started.updated_at);
  assert.equal(started.completed_at, null);
  const entry = { technician_id: technician.id, started_at: started.started_at, ended_at: null };
  assert.deepEqual(started.time_entries, [entry]);

  platform.clock.nowMs += 3_600_000;
  const completed = (await change('jobs', id, { status: 'completed' })).body;
  assert.equal(completed.completed_at, completed.updated_at);
  assert.equal(completed.started_at, started.started_at);
  assert.deepEqual(completed.time_entries, [{ ...entry, ended_at: completed.completed_at }]);
});

test('canceling a job that is in progress ends its time entry', async () => {
  const id = await recordIn('jobs', ['dispatched', 'in_progress'], machines.jobs?.body ?? {});
  const canceled = (await change('jobs', id, { status: 'canceled' })).body;
  assert.equal(canceled.completed_at, null);
  assert.equal(canceled.time_entries[0].ended_at, canceled.updated_at);
});

test('a paid invoice is paid in full, and has a receipt if it was to be sent somewhere', async () => {
  const silent = await recordIn('invoices', ['open'], machines.invoices?.body ?? {});
  const paid = (await change('invoices', silent, { status: 'paid' })).body;
  assert.deepEqual([paid.amount, paid.amount_paid, paid.receipt], [300, 300, null]);
  const asked = { ...machines.invoices?.body, receipt_email: 'billing@example.com' };
  const receipted = (await change('invoices', await recordIn('invoices', ['open'], asked), { status: 'paid' })).body;
  assert.deepEqual(receipted.receipt, { delivered_at: receipted.updated_at, channel: 'email' });
});

test('a canceled membership will not renew', async () => {
  const id = await recordIn('memberships', [], machines.memberships?.body ?? {});
  assert.equal((await change('memberships', id, { status: 'canceled' })).body.renews_on, null);
});
