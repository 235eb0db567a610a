// A failing seed is made smaller: one process and the one fault that matters are left, and the same checker fails.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Deployment } from './deployment.ts';
import type { Protocol } from './protocol.ts';
import { simulate } from './run.ts';
import { shrink } from './shrink.ts';

const FAILOVERS_SURVIVED = 1;

/** Fails at its second failover, whatever else happens. */
const fragile: Protocol = {
  name: 'fragile',
  processesMax: 4,
  calmMs: 0,
  faults: { pause: 3, break: 3, 'redis failover': 1 },
  start(world, processes) {
    const deployment = new Deployment(world, processes, () => undefined);
    let failovers = 0;
    deployment.redis.whenHandedOver(() => {
      failovers += 1;
      if (failovers > FAILOVERS_SURVIVED) world.violate('failovers', 'one too many');
    });
    return { deployment, finish: () => undefined };
  },
};

it('leaves one process and the faults without which the checker does not fail', async () => {
  const spec = { protocol: fragile, seed: '21', hours: 12 };
  const failed = await simulate(spec);
  assert.equal(failed.violation?.checker, 'failovers');
  assert.ok(failed.processes > 1 && failed.faults.length > 10, `${failed.processes} ${failed.faults.length}`);
  const smallest = await shrink(spec, failed);
  const again = await simulate(smallest.spec);
  assert.equal(again.processes, 1);
  assert.deepEqual(
    again.faults.map(([, { kind }]) => kind),
    ['redis failover', 'redis failover'],
  );
  assert.equal(again.violation?.checker, 'failovers');
  assert.equal(again.hash, smallest.outcome.hash);
});
