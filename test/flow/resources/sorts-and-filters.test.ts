// Every sort really sorts and every filter really filters, through the gateway.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { type Client, clientOf, create, type Json, resources, startStrictGateway, walk } from './table.ts';

const gateway = await startStrictGateway();
after(() => gateway.stop());

/** Text by code units, numbers by size, null last in both directions. */
function inOrder(left: Json, right: Json, direction: string): boolean {
  if (left === null || right === null) return right === null;
  const value = (it: Json) => (typeof it === 'object' ? it.amount : it);
  return direction === 'asc' ? value(left) <= value(right) : value(left) >= value(right);
}

for (const { name, payload, sorts, filters } of resources) {
  describe(name, () => {
    let client: Client;
    let records: Json[];
    before(async () => {
      client = await clientOf(gateway, { organization: `org_sort_${name}` });
      for (const index of [5, 2, 8, 1, 9, 4, 7, 3, 6, 0]) await create(client, name, await payload(client, index));
      await readAll();
    });

    /** Whether a record has changed; some do by themselves, with time. */
    async function readAll(): Promise<boolean> {
      const before = records;
      records = await walk(client, `/v1/${name}?limit=100`);
      return !isDeepStrictEqual(records, before);
    }

    for (const sort of sorts) {
      for (const direction of ['asc', 'desc']) {
        it(`are sorted by ${sort}_${direction}, over pages`, async () => {
          const read = () => walk(client, `/v1/${name}?limit=3&sort=${sort}_${direction}`);
          let sorted = await read();
          // A record that changes between two pages moves to another place.
          while (await readAll()) sorted = await read();
          assert.equal(sorted.length, records.length);
          for (const [index, record] of sorted.slice(1).entries()) {
            assert.ok(
              inOrder(sorted[index][sort], record[sort], direction),
              `${sorted[index][sort]} before ${record[sort]}`,
            );
          }
        });
      }
    }

    for (const [filter, { value, matches }] of Object.entries(filters)) {
      it(`are filtered by ${filter}`, async () => {
        for (const wanted of new Set(records.flatMap((record) => value(record) ?? []))) {
          const read = async () => {
            const found = await walk(client, `/v1/${name}?limit=4&${filter}=${encodeURIComponent(wanted)}`);
            return found.map(({ id }) => id);
          };
          const expected = () => records.filter((record) => matches(record, wanted)).map(({ id }) => id);
          let found = await read();
          while (!isDeepStrictEqual(found, expected()) && (await readAll())) found = await read();
          assert.deepEqual(found, expected(), wanted);
        }
      });
    }

    it('refuse a sort and a filter that do not exist, naming the parameter', async () => {
      const sort = await client('GET', `/v1/${name}?sort=colour_asc`);
      assert.deepEqual(
        [sort.status, sort.body.error.param, sort.body.error.errors[0].code],
        [400, 'sort', 'not_allowed'],
      );
      assert.ok(sort.body.error.errors[0].constraint.enum.includes('created_at_desc'));
      const filter = await client('GET', `/v1/${name}?colour=red`);
      assert.deepEqual(
        [filter.status, filter.body.error.param, filter.body.error.errors[0].code],
        [400, 'colour', 'unknown'],
      );
    });
  });
}
