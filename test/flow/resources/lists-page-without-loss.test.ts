// Pages: complete, without repeats, also when records are inserted meanwhile; and every wrong way to request a page.

import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { type Client, clientOf, create, resources, startStrictGateway, walk } from './table.ts';

const gateway = await startStrictGateway();
after(() => gateway.stop());

for (const { name, payload } of resources) {
  describe(`the list of ${name}`, () => {
    it('walked with limit=7 gives every original record exactly once while another client inserts at the top', async () => {
      const client = await clientOf(gateway, { organization: `org_walk_${name}` });
      const body = await payload(client, 3);
      const originals = new Set<string>();
      for (let index = 0; index < 16; index++) originals.add((await create(client, name, body)).id);
      const seen: string[] = [];
      let cursor = '';
      for (let page = 0; page < 10; page++) {
        const reply = await client('GET', `/v1/${name}?limit=7${cursor}`);
        seen.push(...reply.body.data.map((record: { id: string }) => record.id));
        await create(client, name, body);
        if (!reply.body.has_more) break;
        cursor = `&cursor=${encodeURIComponent(reply.body.cursor)}`;
      }
      assert.equal(new Set(seen).size, seen.length, 'no record twice');
      assert.deepEqual(
        seen.filter((id) => originals.has(id)),
        [...originals].reverse(),
        'every original record once, newest first',
      );
    });

    it('refuses every limit that is not a whole number from 1 to 100, naming the parameter', async () => {
      const client = await clientOf(gateway);
      for (const query of [
        'limit=0',
        'limit=101',
        'limit=abc',
        'limit=1e2',
        'limit=',
        'limit=5&limit=6',
        'limit=-1',
        'limit=1.5',
        'limit=%207',
      ]) {
        const reply = await client('GET', `/v1/${name}?${query}`);
        assert.equal(reply.status, 400, query);
        assert.equal(reply.body.error.code, 'validation_failed', query);
        assert.equal(reply.body.error.param, 'limit', query);
      }
    });

    it('refuses a cursor that is forged, foreign, or of another filter or sort', async () => {
      const client = await clientOf(gateway, { organization: `org_walk_${name}` });
      const stranger = await clientOf(gateway, { organization: 'org_stranger' });
      const test = await clientOf(gateway, { organization: `org_walk_${name}`, mode: 'test' });
      const { cursor } = (await client('GET', `/v1/${name}?limit=7`)).body;
      assert.equal(
        (await client('GET', `/v1/${name}?limit=5&cursor=${encodeURIComponent(cursor)}`)).status,
        200,
        'another limit is fine',
      );
      const forged = `${cursor.slice(0, -2)}${cursor.endsWith('A') ? 'B' : 'A'}${cursor.at(-1)}`;
      const cases: [string, Client, string][] = [
        ['forged', client, `cursor=${encodeURIComponent(forged)}`],
        ['made up', client, 'cursor=abc'],
        ['another sort', client, `sort=updated_at_asc&cursor=${encodeURIComponent(cursor)}`],
        ['another organization', stranger, `cursor=${encodeURIComponent(cursor)}`],
        ['another mode', test, `cursor=${encodeURIComponent(cursor)}`],
      ];
      for (const [what, who, query] of cases) {
        const reply = await who('GET', `/v1/${name}?${query}`);
        assert.equal(reply.status, 400, what);
        assert.equal(reply.body.error.code, 'invalid_cursor', what);
        assert.equal(reply.body.error.param, 'cursor', what);
      }
    });
  });
}

it('a cursor of a filtered list is refused without that filter, and the other way round', async () => {
  const client = await clientOf(gateway, { organization: 'org_filters' });
  for (let index = 0; index < 5; index++) await create(client, 'guests', { name: `Guest ${index}`, vip: true });
  const filtered = (await client('GET', '/v1/guests?limit=2&vip=true')).body.cursor;
  const plain = (await client('GET', '/v1/guests?limit=2')).body.cursor;
  assert.equal((await client('GET', `/v1/guests?limit=2&cursor=${filtered}`)).body.error.code, 'invalid_cursor');
  assert.equal((await client('GET', `/v1/guests?limit=2&vip=true&cursor=${plain}`)).body.error.code, 'invalid_cursor');
  assert.equal((await walk(client, '/v1/guests?limit=2&vip=true')).length, 5);
});

it('the default page has 20 records, newest first, and shows that there are more', async () => {
  const client = await clientOf(gateway, { organization: 'org_defaults' });
  for (let index = 0; index < 21; index++) await create(client, 'customers', { name: `C ${index}` });
  const page = (await client('GET', '/v1/customers')).body;
  assert.equal(page.data.length, 20);
  assert.equal(page.data[0].name, 'C 20');
  assert.equal(page.has_more, true);
});
