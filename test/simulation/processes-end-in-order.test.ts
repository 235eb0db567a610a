// A process that is told to end does its work first. It ends in order only if nothing else was out of order meanwhile.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Deployment, type Place } from './deployment.ts';
import { World } from './engine/world.ts';
import { applyFaults, type Fault } from './faults.ts';

const STOP: Fault = { kind: 'stop', atMs: 1000, forMs: 10_000, place: 0, amount: 0 };

/** @param workMs how long the process has to work before it may end */
function begin(workMs: number, others: readonly Fault[] = []) {
  const world = new World({ seed: 'ends' });
  const deployment = new Deployment(world, 2, (place, process) => {
    place.stop = () => process.machine.sleep(workMs);
  });
  applyFaults(deployment, [STOP, ...others], 60_000);
  const [place] = deployment.places as readonly [Place, Place];
  return { world, place, first: place.process };
}

it('works to its end, and starts again when its time is over', async () => {
  const { world, place, first } = begin(3000);
  await world.run(3900);
  assert.ok(first.isRunning());
  await world.run(4100);
  assert.ok(first.endedMs() <= 4100);
  await world.run(11_100);
  assert.notEqual(place.process, first);
  assert.ok(place.process.isRunning());
});

it('is killed if its work lasts too long', async () => {
  const { world, place, first } = begin(20_000);
  await world.run(11_100);
  assert.deepEqual([first.isAlive(), first.endedMs()], [false, Number.POSITIVE_INFINITY]);
  assert.ok(place.process.isRunning());
});

for (const atMs of [500, 2000]) {
  it(`counts as killed if something else is out of order ${atMs < STOP.atMs ? 'before' : 'meanwhile'}`, async () => {
    const { world, first } = begin(3000, [{ kind: 'redis pause', atMs, forMs: 700, place: 0, amount: 0 }]);
    await world.run(4100);
    assert.deepEqual([first.isAlive(), first.endedMs()], [false, Number.POSITIVE_INFINITY]);
  });
}
