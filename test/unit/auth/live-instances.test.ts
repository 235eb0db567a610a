import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { createLiveInstances } from '../../../gateway/auth/live-instances.ts';
import { until } from './samples.ts';

const instance = (silentMs: number) => ({
  id: `gw_${silentMs}`,
  host: 'here',
  pid: 1,
  startedAtMs: 0,
  position: 0,
  graceMs: 900_000,
  silentMs,
});

/** Answers one list after the other; the last one for good. */
function listing(t: TestContext, ...lists: (number[] | Error)[]) {
  t.mock.timers.enable({ apis: ['setInterval'] });
  let asked = 0;
  return {
    asked: () => asked,
    async list() {
      const answer = lists[Math.min(asked++, lists.length - 1)] as number[] | Error;
      if (answer instanceof Error) throw answer;
      return answer.map(instance);
    },
  };
}

test('those that report are counted, those that have fallen silent are not', async (t) => {
  const live = createLiveInstances(listing(t, [0, 1_900, 10_000, 10_001, 60_000]));
  live.begin();
  await until(() => live.count() === 3);
  live.stop();
});

test('the count stays while the store is away, and right after, when no instance has reported yet', async (t) => {
  const store = listing(t, [0, 5], new Error('away'), [30_000, 30_001], [0, 1, 2]);
  const live = createLiveInstances(store);
  live.begin();
  assert.equal(live.count(), 1, 'before the first count there is this one');
  await until(() => live.count() === 2);
  for (const expected of [2, 2, 3]) {
    t.mock.timers.tick(5_000);
    const before = store.asked();
    await until(() => live.count() === expected && store.asked() >= before);
  }
  live.stop();
});
