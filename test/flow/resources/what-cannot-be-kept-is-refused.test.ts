// What the contract lets in and a record cannot keep is refused with its place, instead of being kept as something else.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { TestGateway } from '../../support/gateway.ts';
import { type Client, clientOf, create, type Json, type Reply, startStrictGateway } from './table.ts';

let gateway: TestGateway;
let client: Client;
before(async () => {
  gateway = await startStrictGateway();
  client = await clientOf(gateway);
});
after(() => gateway.stop());

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
