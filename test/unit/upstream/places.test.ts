// How many requests an upstream is sent at once by a gateway of several processes.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { createAccesses } from '../../../gateway/upstream/access.ts';

/** How many get in at once of as many as come. */
async function insideOf(workers: number, maxInFlight: number | undefined): Promise<number> {
  const accesses = createAccesses({
    readSecret: () => 'somebody:something',
    workers,
    onLatched: () => undefined,
    onHealed: () => undefined,
    now: Date.now,
  });
  const credential = { basic: { user: 'somebody', secret: 'entry' } };
  accesses.use({ books: { credential, ...(maxInFlight !== undefined && { maxInFlight }) } });
  const access = accesses.of('books');
  access?.credential?.accepted(access.credential.header());
  const gone = new AbortController();
  const entered = Array.from({ length: 20 }, () => access?.lane?.enter(1000, gone.signal));
  const inside = access?.lane?.inFlight() ?? 0;
  gone.abort();
  await Promise.allSettled(entered);
  return inside;
}

it('workers divide the places among themselves, and each has one at least', async () => {
  assert.equal(await insideOf(1, 4), 4);
  assert.equal(await insideOf(2, 4), 2);
  assert.equal(await insideOf(2, 5), 2);
  assert.equal(await insideOf(3, 4), 1);
  assert.equal(await insideOf(8, 4), 1);
  assert.equal(await insideOf(2, undefined), 20);
});
