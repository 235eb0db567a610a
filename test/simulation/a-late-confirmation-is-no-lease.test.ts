// An instance that stood still before it took the confirmation of its lease asks the server for nothing, because the lease may end
// meanwhile.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { LeaseLost } from '../../gateway/acme/failure.ts';
import { createJournal } from '../../gateway/acme/journal.ts';
import { openRedisAcmeStore } from '../../gateway/acme/redis-acme-store.ts';
import { Deployment } from './deployment.ts';
import { World } from './engine/world.ts';

const LEASE_MS = 20_000;

/**
 * Returns what comes of a confirmation whose process stands still for so long before it takes the answer.
 *
 * @param suspends its machine is suspended, and with it the monotonic clock
 */
async function confirmationAfter(stillMs: number, seed: string, suspends: boolean): Promise<string> {
  const world = new World({ seed });
  let confirm: (() => Promise<void>) | undefined;
  const { places } = new Deployment(world, 1, async (_place, { machine }, connect) => {
    const store = await openRedisAcmeStore('redis://simulated', connect, machine);
    const token = (await store.take(LEASE_MS)) as number;
    confirm = createJournal({ store, token, leaseMs: LEASE_MS, records: new Map(), machine }).confirm;
    // From now on the server knows the script.
    await confirm();
  });
  await world.run(1000);
  const outcome = confirm?.().then(
    () => 'confirmed',
    (error: Error) => (error instanceof LeaseLost ? 'lost' : error.message),
  );
  const process = places[0]?.process;
  process?.pause(suspends);
  world.after(stillMs, () => process?.resume());
  await world.run(60_000);
  return (await outcome) ?? 'no confirmation';
}

/** A process that goes on takes up its timers first, or its sockets. */
const SEEDS = ['1', '2', '3', '4', '5', '6', '7', '8'];

for (const suspends of [false, true])
  for (const stillMs of [LEASE_MS / 3, LEASE_MS + 1000]) {
    const place = suspends ? 'on a machine that was suspended' : 'by a process that stood still';
    it(`a confirmation taken ${place} for ${Math.round(stillMs / 1000)} seconds of 20 counts as lost`, async () => {
      const outcomes = new Set(await Promise.all(SEEDS.map((seed) => confirmationAfter(stillMs, seed, suspends))));
      assert.deepEqual([...outcomes].sort(), ['Command timed out', 'lost']);
    });
  }

it('one that was taken sooner counts', async () => {
  const outcomes = new Set(await Promise.all(SEEDS.map((seed) => confirmationAfter(LEASE_MS / 5, seed, false))));
  assert.deepEqual([...outcomes].sort(), ['Command timed out', 'confirmed']);
});
