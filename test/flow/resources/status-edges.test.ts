// Every edge of every status diagram, and one step that is none.

import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { clientOf, create, resources, startStrictGateway } from './table.ts';

const gateway = await startStrictGateway();
const client = await clientOf(gateway);
after(() => gateway.stop());

for (const { name, payload, edges = [], nonEdge } of resources) {
  if (!nonEdge) continue;
  describe(name, () => {
    const advance = async (path: readonly string[]) => {
      const { id } = await create(client, name, await payload(client, 1));
      for (const status of path) {
        const reply = await client('PATCH', `/v1/${name}/${id}`, { status });
        assert.equal(reply.status, 200, JSON.stringify(reply.body));
        assert.equal(reply.body.status, status);
      }
      return id;
    };

    for (const path of edges) it(`can go ${path.join(' → ')}`, () => advance(path));

    it(`cannot go ${[...nonEdge[0], nonEdge[1]].join(' → ')}`, async () => {
      const id = await advance(nonEdge[0]);
      const reply = await client('PATCH', `/v1/${name}/${id}`, { status: nonEdge[1] });
      assert.equal(reply.status, 409);
      assert.equal(reply.body.error.code, 'invalid_transition');
    });
  });
}

it('a job that is begun and finished has the times', async () => {
  const job = resources.find(({ name }) => name === 'jobs');
  const { id } = await create(client, 'jobs', await job?.payload(client, 1));
  for (const status of ['dispatched', 'in_progress']) await client('PATCH', `/v1/jobs/${id}`, { status });
  assert.notEqual((await client('GET', `/v1/jobs/${id}`)).body.started_at, null);
  await client('PATCH', `/v1/jobs/${id}`, { status: 'completed' });
  assert.notEqual((await client('GET', `/v1/jobs/${id}`)).body.completed_at, null);
});
