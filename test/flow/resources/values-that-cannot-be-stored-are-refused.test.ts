// Input that the contract accepts and a record cannot keep is refused with its place, instead of being kept in another form.

import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { clientOf, create, type Json, type Reply, startStrictGateway } from './table.ts';

const gateway = await startStrictGateway();
const client = await clientOf(gateway);
const { authorization } = await gateway.authorize();
after(() => gateway.stop());

/** Sends a body as it is written: JSON.stringify cannot write numbers that are too large. */
async function post(path: string, body: string): Promise<{ status: number; body: Json }> {
  const headers = { authorization, 'content-type': 'application/json' };
  const response = await fetch(new URL(path, gateway.url), { method: 'POST', headers, body });
  return { status: response.status, body: await response.json() };
}

const problems = ({ status, body }: Pick<Reply, 'status' | 'body'>) => [
  status,
  ...(body.error?.errors ?? []).map(({ pointer, code }: Json) => `${pointer} ${code}`),
];

describe('a membership', () => {
  const membership = async (starts_on: string, interval = 'year') => ({
    ...{ customer_id: (await create(client, 'customers', { name: 'Late' })).id, plan_name: 'Gold' },
    ...{ interval, starts_on },
  });

  it('that would renew after the year 9999 is refused', async () => {
    assert.deepEqual(problems(await client('POST', '/v1/memberships', await membership('9999-01-01'))), [
      400,
      '/starts_on too_large',
    ]);
  });

  it('that renews in the year 9999 is not, until it is moved', async () => {
    const { id, renews_on } = await create(client, 'memberships', await membership('9999-11-30', 'month'));
    assert.equal(renews_on, '9999-12-30');
    const moved = await client('PATCH', `/v1/memberships/${id}`, { interval: 'year' });
    assert.deepEqual(problems(moved), [400, '/starts_on too_large']);
    assert.equal((await client('GET', `/v1/memberships/${id}`)).body.renews_on, renews_on);
  });
});

describe('a preference of a guest', () => {
  it('that is a number too large for any computer is refused, not kept as null', async () => {
    assert.deepEqual(problems(await post('/v1/guests', '{"name":"G","preferences":{"a":1e999,"b":[],"c":-1e999}}')), [
      400,
      '/preferences/a too_large',
      '/preferences/c too_small',
    ]);
  });

  it('that is the largest number is kept', async () => {
    const guest = await post('/v1/guests', '{"name":"G","preferences":{"a":1.7976931348623157e308,"b":0}}');
    assert.deepEqual(guest.body.preferences, { a: Number.MAX_VALUE, b: 0 });
  });

  it('that is a number too small for any computer is refused, not kept as zero', async () => {
    const [status, ...places] = problems(await post('/v1/guests', '{"name":"G","preferences":{"b":1e-999}}'));
    assert.deepEqual([status, places.length], [400, 1]);
    assert.match(String(places[0]), /^\/preferences\/b /);
  });
});

it('half a character is refused, with a message that is not about NUL alone', async () => {
  const half = await post('/v1/customers', '{"name":"\\ud83d"}');
  assert.deepEqual(problems(half), [400, '/name invalid']);
  assert.match(half.body.error.errors[0].message, /lone surrogate/);
});
