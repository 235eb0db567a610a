// The requests of an organization are found in whichever worker they were, asked through either of them.

import assert from 'node:assert/strict';
import { after, it } from 'node:test';
import { administerAt } from '../../support/administration.ts';
import { startSeveral } from '../workers/several.ts';

const several = await startSeveral({ withOwnContract: true });
after(() => several.close());
const administer = administerAt(several);
const key = several.authorization.slice('Bearer '.length);
/** Each request has a connection of its own, which the workers take in turn. */
const call = (line: string) => administer(line, { key, headers: { connection: 'close' } });

it('lists the requests of both workers, and explains each', async () => {
  const ids: string[] = [];
  for (let count = 0; count < 12; count += 1)
    ids.push((await call('GET /v1/things')).headers.get('x-request-id') ?? '');
  for (let count = 0; count < 6; count += 1) {
    const { body } = await call('GET /gateway/v1/requests?operation_id=listThings');
    assert.deepEqual(body.data.map(({ request_id: id }: { request_id: string }) => id).sort(), ids.toSorted());
  }
  for (const id of ids) assert.equal((await call(`GET /gateway/v1/requests/${id}`)).body.request.request_id, id);
  const workers = new Set(
    several
      .logLines()
      .filter(({ request_id: id }) => ids.includes(String(id)))
      .map(({ worker }) => worker),
  );
  assert.equal(workers.size, 2);
});
