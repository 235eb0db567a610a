// A seed is the same run on every machine: a workload over the engine and the model of Redis has a hash that is written down here. It runs
// no code of the gateway, so that the hash changes only with the simulator itself, or on a machine that computes otherwise.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Network } from './engine/network.ts';
import { SimulatedProcess } from './engine/process.ts';
import { World } from './engine/world.ts';
import { createConnect } from './redis/client.ts';
import { SimulatedRedis } from './redis/server.ts';

const MINUTE_MS = 60_000;
const HASH = '172607fce2f24ca2a70d2dc579ff770e';

/** Counts in a hash, and keeps the latest times in a sorted set. */
const SCRIPT = `
local time = redis.call('TIME')
local count = redis.call('HINCRBY', KEYS[1], ARGV[1], 1)
redis.call('ZADD', KEYS[2], time[1] * 1000 + math.floor(time[2] / 1000), ARGV[1] .. ':' .. count)
redis.call('PEXPIRE', KEYS[2], 20000)
return { count, string.format('%.3f', count / 7), #redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', '+inf') }
`;

it('the workload has the hash that is written down', async () => {
  const world = new World({ seed: 'machines agree' });
  const random = world.random.named('workload');
  const redis = new SimulatedRedis(new Network(world), 'redis');
  const processes = ['one', 'two', 'three'].map((name, index) => {
    const process = new SimulatedProcess(world, name, { offsetMs: 100 * index, drift: 0.0001 * (index - 1) });
    const client = createConnect(process, redis)({ url: 'redis://simulated' });
    process.machine.setInterval(() => {
      const { now, performance, random: draw } = process.machine;
      client.call('eval', [SCRIPT, 2, 'counts', 'latest', name]).then(
        (reply) => world.note(name, `${JSON.stringify(reply)} at ${now()} ${performance.now().toFixed(3)} ${draw()}`),
        (error: Error) => world.note(name, error.message),
      );
    }, 400);
    return process;
  });
  const disturb = () => {
    const process = random.pick(processes);
    const forMs = random.between(100, 5000);
    const [begin, end] = random.pick([
      [() => process.pause(false), () => process.resume()],
      [() => process.pause(true), () => process.resume()],
      [() => redis.cut(process), () => redis.heal(process)],
      [() => redis.stop(), () => redis.start('all but the tail')],
      [() => redis.jump(Math.round(forMs)), () => redis.failOver(-forMs)],
    ] as const);
    begin();
    world.after(forMs, end);
    world.after(random.between(0, 15_000), disturb);
  };
  world.after(1000, disturb);
  await world.run(4 * MINUTE_MS);
  assert.ok(world.trace.count() > 1600);
  assert.equal(world.trace.hash(), HASH);
});
