// Instances write their beats while others start, end, and are killed in between: none of these moments makes one missing that is not.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { InstanceBeats } from '../../../gateway/console/fleet/instance-beats.ts';
import { openRedis, type Redis } from '../../../gateway/redis/client.ts';
import { apartAt, startRedis, type TestRedis } from '../../support/redis.ts';

const ROUNDS = 300;
const LOST_AFTER_MS = 200;

let redis: TestRedis;
let [one, other]: Redis[] = [];
before(async () => {
  redis = await startRedis();
  const url = apartAt(redis.url);
  [one, other] = [await openRedis({ url }), await openRedis({ url })];
});
after(async () => {
  one?.disconnect();
  other?.disconnect();
  await redis.stop();
});

const instanceOf = (name: string) => ({ id: `con_${name}`, name, version: '1', started_at: new Date().toISOString() });

function beatsOver(client: Redis | undefined) {
  assert.ok(client !== undefined);
  return new InstanceBeats(client, {
    clock: () => performance.now(),
    beatEveryMs: 1000,
    lostAfterMs: LOST_AFTER_MS,
  });
}

describe('the beats of instances', () => {
  it('never show one as lost that starts and ends at the same time', async () => {
    const [watching, coming] = [beatsOver(one), beatsOver(other)];
    const self = instanceOf('watching');
    await watching.beat(self);
    await sleep(LOST_AFTER_MS + 10);
    let isOver = false;
    const comesAndGoes = (async () => {
      for (let round = 0; round < ROUNDS; round += 1) {
        await coming.beat(instanceOf('coming'));
        await coming.leave(['con_coming']);
      }
      isOver = true;
    })();
    while (!isOver) assert.deepEqual((await watching.beat(self)).lost, []);
    await comesAndGoes;
  });

  it('leave nothing behind if the instance ends while it writes one', async () => {
    const ending = beatsOver(other);
    const writing = ending.beat(instanceOf('ending'));
    await ending.end('con_ending');
    await writing;
    assert.deepEqual(await one?.hexists('{gateway}:instances', 'con_ending'), 0);
  });

  it('show one whose process ended before its first beat as there: an earlier version could leave it so', async () => {
    await other?.hset('{gateway}:instances', 'con_half', JSON.stringify(instanceOf('half')));
    const { present, lost } = await beatsOver(one).beat(instanceOf('watching'));
    assert.deepEqual(present.map(({ name }) => name).sort(), ['half', 'watching']);
    assert.deepEqual(lost, []);
  });

  it('of an instance that had ended are dropped if Redis comes back with them', async () => {
    const watching = beatsOver(one);
    const self = instanceOf('watching');
    await watching.beat(self);
    const past = Date.now() - 3 * LOST_AFTER_MS;
    await other?.hset('{gateway}:instances', 'con_past', JSON.stringify(instanceOf('past')));
    await other?.hset('{gateway}:instances:beats', 'con_past', past);
    await sleep(LOST_AFTER_MS + 10);
    for (let times = 0; times < 2; times += 1) assert.deepEqual((await watching.beat(self)).lost, []);
    assert.equal(await one?.hexists('{gateway}:instances', 'con_past'), 0);
  });

  it('are refused while Redis is away', async () => {
    one?.disconnect();
    await assert.rejects(beatsOver(one).beat(instanceOf('watching')));
    await assert.rejects(beatsOver(one).leave(['con_watching']));
  });
});
