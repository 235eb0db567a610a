// Two organizations, and live and test mode of one, never see each other's records, by no way that leads to a record.

import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { type Client, clientOf, create, resources, startStrictGateway } from './table.ts';

const gateway = await startStrictGateway();
const owner = await clientOf(gateway, { organization: 'org_owner' });
const strangers: readonly (readonly [string, Client])[] = [
  ['another organization', await clientOf(gateway, { organization: 'org_other' })],
  ['test mode of the same organization', await clientOf(gateway, { organization: 'org_owner', mode: 'test' })],
];
after(() => gateway.stop());

for (const { name, payload, change, filters } of resources) {
  describe(`${name} of an organization`, () => {
    it('are out of reach by list, id, change, deletion and filter', async () => {
      const record = await create(owner, name, await payload(owner, 1));
      for (const [who, stranger] of strangers) {
        const listed = (await stranger('GET', `/v1/${name}?limit=100`)).body.data;
        assert.ok(!listed.some(({ id }: { id: string }) => id === record.id), who);
        for (const [method, body] of [
          ['GET', undefined],
          ['PATCH', change],
          ['DELETE', undefined],
        ] as const) {
          const reply = await stranger(method, `/v1/${name}/${record.id}`, body);
          assert.deepEqual([reply.status, reply.body.error.code], [404, 'resource_missing'], `${who}: ${method}`);
        }
        for (const [filter, { value }] of Object.entries(filters)) {
          const wanted = value(record);
          if (wanted === undefined) continue;
          const found = (await stranger('GET', `/v1/${name}?limit=100&${filter}=${encodeURIComponent(wanted)}`)).body
            .data;
          assert.ok(!found.some(({ id }: { id: string }) => id === record.id), `${who}: ${filter}`);
        }
      }
      assert.equal((await owner('GET', `/v1/${name}/${record.id}`)).status, 200, 'the owner still has it, unchanged');
    });

    it('cannot be referred to by a stranger', async () => {
      const body = await payload(owner, 1);
      const references = Object.keys(body).filter((member) => member.endsWith('_id'));
      for (const [who, stranger] of strangers) {
        if (references.length === 0) continue;
        const reply = await stranger('POST', `/v1/${name}`, body);
        assert.deepEqual([reply.status, reply.body.error.code], [422, 'reference_missing'], who);
        assert.ok(references.includes(reply.body.error.param), who);
      }
    });
  });
}
