// List, create, retrieve, update and delete of all nine resources, through the gateway, with a live key.

import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { clientOf, create, resources, startStrictGateway } from './table.ts';

const gateway = await startStrictGateway();
const client = await clientOf(gateway);
after(() => gateway.stop());

for (const { name, prefix, payload, change } of resources) {
  describe(name, () => {
    it('can be created, retrieved, listed, changed and deleted', async () => {
      const sent = await payload(client, 1);
      const created = await client('POST', `/v1/${name}`, sent);
      assert.equal(created.status, 201, JSON.stringify(created.body));
      const { id } = created.body;
      assert.match(id, new RegExp(`^${prefix}[0-9A-Za-z]{16}$`));
      for (const [member, value] of Object.entries(sent)) assert.deepEqual(created.body[member], value, member);
      assert.match(created.body.created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

      const path = `/v1/${name}/${id}`;
      const retrieved = await client('GET', path);
      assert.equal(retrieved.status, 200);
      assert.deepEqual(Object.keys(retrieved.body).sort(), Object.keys(created.body).sort());

      const listed = await client('GET', `/v1/${name}?limit=100`);
      assert.deepEqual(Object.keys(listed.body).sort(), ['cursor', 'data', 'has_more']);
      assert.ok(listed.body.data.some((record: { id: string }) => record.id === id));

      const changed = await client('PATCH', path, change);
      assert.equal(changed.status, 200, JSON.stringify(changed.body));
      for (const [member, value] of Object.entries(change)) {
        if (typeof value === 'object' && value !== null)
          assert.deepEqual({ ...changed.body[member], ...value }, changed.body[member], member);
        else assert.deepEqual(changed.body[member], value, member);
      }
      assert.ok(changed.body.updated_at > created.body.updated_at);

      const deleted = await client('DELETE', path);
      assert.equal(deleted.status, 200);
      assert.deepEqual(deleted.body, { id, deleted: true });
      const gone = await client('GET', path);
      assert.equal(gone.status, 404);
      assert.equal(gone.body.error.code, 'resource_missing');
      assert.equal(gone.body.error.request_id, gone.headers.get('x-request-id'));
    });

    it('refuses unknown members, a missing required one and an empty change, with pointers', async () => {
      const sent = await payload(client, 2);
      const [required] = Object.keys(sent) as [string];
      const { [required]: _, ...incomplete } = sent;
      const refused = await client('POST', `/v1/${name}`, { ...incomplete, surprise: 1 });
      assert.equal(refused.status, 400);
      const found = refused.body.error.errors.map(
        (violation: { pointer: string; code: string }) => `${violation.pointer} ${violation.code}`,
      );
      assert.ok(found.includes('/surprise unknown'), found.join());
      assert.ok(found.includes(`/${required} required`), found.join());
      const { id } = await create(client, name, sent);
      assert.equal((await client('PATCH', `/v1/${name}/${id}`, {})).status, 400);
    });
  });
}

it('a customer answers to cust_ as well as to cus_', async () => {
  const { id } = await create(client, 'customers', { name: 'Two Names' });
  const twin = id.replace('cus_', 'cust_');
  assert.equal((await client('GET', `/v1/customers/${twin}`)).body.id, id);
  const job = await create(client, 'jobs', {
    customer_id: twin,
    service_type: 'repair',
    scheduled_at: '2027-01-01T00:00:00Z',
  });
  assert.equal(job.customer_id, id);
});

it('a record that others refer to cannot be deleted', async () => {
  const customer = await create(client, 'customers', { name: 'Needed' });
  await create(client, 'jobs', {
    customer_id: customer.id,
    service_type: 'repair',
    scheduled_at: '2027-01-01T00:00:00Z',
  });
  const refused = await client('DELETE', `/v1/customers/${customer.id}`);
  assert.equal(refused.status, 409);
  assert.equal(refused.body.error.code, 'upstream_rejected');
});

it('the documented job payload is accepted, and every mistake of a bad one is reported in one answer', async () => {
  const customer = await create(client, 'customers', { name: 'Documented' });
  const technician = await create(client, 'technicians', { name: 'Documented' });
  const payload = {
    customer_id: customer.id,
    service_type: 'hvac_maintenance',
    scheduled_at: '2027-03-15T09:00:00Z',
    technician_id: technician.id,
  };
  const job = await client('POST', '/v1/jobs', payload);
  assert.equal(job.status, 201);
  assert.equal(job.body.status, 'scheduled');

  const { customer_id: _, ...rest } = payload;
  const bad = await client('POST', '/v1/jobs', {
    ...rest,
    scheduled_at: 'tomorrow',
    technician_id: 'tech_x',
    colour: 'red',
  });
  assert.equal(bad.status, 400);
  assert.equal(bad.body.error.code, 'validation_failed');
  const violations = bad.body.error.errors.map((violation: Record<string, string>) => [
    violation.in,
    violation.pointer,
    violation.code,
  ]);
  assert.deepEqual(violations.sort(), [
    ['body', '/colour', 'unknown'],
    ['body', '/customer_id', 'required'],
    ['body', '/scheduled_at', 'wrong_format'],
    ['body', '/technician_id', 'pattern_mismatch'],
  ]);
});

it('a reference to a record that does not exist is reported by its member', async () => {
  const refused = await client('POST', '/v1/jobs', {
    customer_id: `cus_${'0'.repeat(16)}`,
    service_type: 'repair',
    scheduled_at: '2027-01-01T00:00:00Z',
  });
  assert.equal(refused.status, 422);
  assert.equal(refused.body.error.code, 'reference_missing');
  assert.equal(refused.body.error.param, 'customer_id');
});
