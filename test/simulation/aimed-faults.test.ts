// A fault that is aimed waits for its moment: until a process has asked a service outside, or has confirmed an end. It happens to that one.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Deployment, type Place } from './deployment.ts';
import { World } from './engine/world.ts';
import { applyFaults } from './faults.ts';

const UNTIL_MS = 60_000;

function begin() {
  const world = new World({ seed: 'aimed' });
  const deployment = new Deployment(world, 2, () => undefined);
  const aim = { at: 'question', leftOut: 1, delayMs: 100 } as const;
  applyFaults(deployment, [{ kind: 'pause', atMs: 1000, forMs: 5000, place: 0, amount: 0, aim }], UNTIL_MS);
  const [one, other] = deployment.places as readonly [Place, Place];
  return { world, deployment, one: one.process, other: other.process };
}

it('leaves out as many questions as it says, and comes so long after the next', async () => {
  const { world, deployment, one, other } = begin();
  deployment.asks(one);
  await world.run(2000);
  deployment.asks(one);
  await world.run(20_000);
  assert.ok(one.isRunning());
  deployment.asks(other);
  await world.run(20_050);
  assert.ok(other.isRunning());
  await world.run(20_150);
  assert.deepEqual([one.isRunning(), other.isRunning()], [true, false]);
  await world.run(25_150);
  assert.ok(other.isRunning());
});

it('ends with the time of faults, and does not begin after it', async () => {
  const { world, deployment, one, other } = begin();
  await world.run(UNTIL_MS - 2000);
  deployment.asks(one);
  deployment.asks(other);
  await world.run(UNTIL_MS - 1000);
  assert.ok(!other.isRunning());
  await world.run(UNTIL_MS);
  assert.ok(other.isRunning());

  const late = begin();
  await late.world.run(UNTIL_MS);
  late.deployment.asks(late.one);
  late.deployment.asks(late.other);
  await late.world.run(UNTIL_MS + 1000);
  assert.ok(late.other.isRunning());
});

it('a failover after a write loses what was written shortly before', async () => {
  const world = new World({ seed: 'aimed' });
  const deployment = new Deployment(world, 1, () => undefined);
  const [{ process }] = deployment.places as readonly [Place];
  const { redis } = deployment;
  const aim = { at: 'end', leftOut: 0, delayMs: 900 } as const;
  const kind = 'redis failover after a write';
  applyFaults(deployment, [{ kind, atMs: 1000, forMs: 20, place: 0, amount: 1 / 3, aim }], UNTIL_MS);
  redis.model.execute(['set', 'session', 'open']);
  await world.run(5000);
  redis.model.execute(['del', 'session']);
  deployment.confirmsEnd(process);
  await world.run(5890);
  assert.equal(redis.model.execute(['get', 'session']), null);
  await world.run(5910);
  assert.equal(redis.model.execute(['get', 'session']), 'open');
  assert.equal(redis.losses().length, 1);
});

it('a failover after a cut leaves its gateway connected, however short it is', async () => {
  for (const forMs of [100, 900, 1900, 2100, 3600, 30_000]) {
    const world = new World({ seed: 'after a cut' });
    const deployment = new Deployment(world, 1, () => undefined);
    const [{ process }] = deployment.places as readonly [Place];
    const fault = { kind: 'redis failover after a cut', atMs: 1000, forMs, place: 0, amount: 0.9 } as const;
    applyFaults(deployment, [fault], UNTIL_MS);
    await world.run(UNTIL_MS);
    assert.ok(deployment.redis.answers(process), `${forMs} ms`);
  }
});
