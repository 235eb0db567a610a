// A holder sends its token only while it knows that the lease is its own.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { holdLease } from '../../../gateway/sessions/refresh/held-lease.ts';
import { REAL_MACHINE } from '../../../gateway/shared/machine.ts';

/** Announces, while the process stands still for so long. */
async function announceWhile(standsStillMs: number, reuseMs: number, isOurs = true) {
  let nowMs = 1000;
  const held = holdLease(
    { hash: 'h', generation: 0, owner: 'one', fence: 1, reuseMs },
    {
      renew() {
        nowMs += standsStillMs;
        return isOurs;
      },
    },
    { ...REAL_MACHINE, performance: { now: () => nowMs } },
  );
  const maySend = await held.announce();
  held.letGo();
  return { maySend, isSuperseded: held.isSuperseded() };
}

it('a holder that stood still for longer than its lease does not send', async () => {
  assert.deepEqual(await announceWhile(10, 60_000), { maySend: true, isSuperseded: false });
  assert.deepEqual(await announceWhile(5000, 60_000), { maySend: false, isSuperseded: false });
  assert.deepEqual(await announceWhile(5000, 0), { maySend: true, isSuperseded: false }, 'no other may send');
  assert.deepEqual(await announceWhile(30_000, 0), { maySend: false, isSuperseded: false });
});

it('a holder that has lost its lease does not send', async () => {
  assert.deepEqual(await announceWhile(10, 0, false), { maySend: false, isSuperseded: true });
});
