// A machine whose clock was set back, and stays so, renews its certificates by that clock.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { World } from './engine/world.ts';
import { applyFaults } from './faults.ts';
import { certificatesProtocol } from './protocols/certificates.ts';

const HOUR_MS = 3_600_000;

it('no certificate is missed that is due later by that clock', async () => {
  // This seed chooses the embedded store.
  const world = new World({ seed: '3' });
  const running = certificatesProtocol.start(world, 1);
  const setBack = { kind: 'clock', atMs: 1.5 * HOUR_MS, forMs: 1000, place: 0, amount: -0.97 } as const;
  applyFaults(running.deployment, [setBack], 2 * HOUR_MS);
  await world.run(3.5 * HOUR_MS);
  running.finish();
  running.close?.();
  assert.equal(world.violation(), undefined);
});
