import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { InstanceReports } from '../../../gateway/auth/instance-reports.ts';
import type { Instance } from '../../../gateway/auth/store/key-store.ts';
import { openStore, START_MS, until } from './samples.ts';

const GRACE_MS = 60_000;

/** Reports of one gateway to a real store that can be made to fail or to hang. */
function reporting(test: TestContext) {
  test.mock.timers.enable({ apis: ['setInterval'] });
  const { instances } = openStore();
  const state = {
    failing: false,
    sent: [] as number[],
    listed: 0,
    changedAtMs: undefined as number | undefined,
    gate: undefined as Promise<void> | undefined,
  };
  const reports = new InstanceReports({
    instances: {
      async report(instance: Instance) {
        state.sent.push(instance.position);
        state.changedAtMs = instance.changedAtMs;
        await state.gate;
        if (state.failing) throw new Error('the store is busy');
        return await instances.report(instance);
      },
      remove: instances.remove,
    },
    host: 'here',
    pid: 4711,
    startedAtMs: START_MS,
    graceMs: GRACE_MS,
    now: Date.now,
    onListed() {
      state.listed += 1;
    },
  });
  const positions = async () => (await instances.list()).map(({ position }) => position);
  return { reports, state, instances, positions };
}

test('a gateway reports to the store before it has read anything, with the data that operators need to find it', async (t) => {
  const { reports, instances, state } = reporting(t);
  await setImmediate();
  const [listed] = await instances.list();
  assert.ok(listed);
  assert.equal(state.listed, 1);
  const { silentMs, graceMs, ...rest } = listed;
  assert.deepEqual(rest, { id: reports.id, host: 'here', pid: 4711, startedAtMs: START_MS, position: 0 });
  assert.match(reports.id, /^gw_[0-9A-Za-z]{20}$/);
  // Its own grace counts from the last reading, which may have come after the last report, and a replica that takes over may lack ten
  // seconds of reports.
  assert.ok(graceMs > GRACE_MS + 10_000 && graceMs < GRACE_MS + 20_000, `${graceMs}`);
});

test('a new position is reported at once, the same one only every two seconds', async (t) => {
  const { reports, state, positions } = reporting(t);
  await setImmediate();
  reports.noteRead({ position: 7 });
  await until(async () => (await positions())[0] === 7);
  for (let index = 0; index < 10; index += 1) reports.noteRead({ position: 7 });
  t.mock.timers.tick(1999);
  assert.deepEqual(state.sent, [0, 7]);
  t.mock.timers.tick(1);
  await setImmediate();
  assert.deepEqual(state.sent, [0, 7, 7]);
});

test('a position that comes while a report is in progress follows it, and never two are in progress', async (t) => {
  const { reports, state, positions } = reporting(t);
  await setImmediate();
  const gate = Promise.withResolvers<void>();
  state.gate = gate.promise;
  for (const position of [1, 2, 3]) reports.noteRead({ position });
  t.mock.timers.tick(2000);
  await setImmediate();
  assert.deepEqual(state.sent, [0, 1]);
  gate.resolve();
  await until(async () => (await positions())[0] === 3);
  assert.deepEqual(state.sent, [0, 1, 3]);
});

test('a report that failed is made up for at the next reading', async (t) => {
  const { reports, state, positions } = reporting(t);
  await setImmediate();
  state.failing = true;
  reports.noteRead({ position: 5 });
  await setImmediate();
  assert.deepEqual(await positions(), [0]);
  state.failing = false;
  reports.noteRead({ position: 5 });
  await until(async () => (await positions())[0] === 5);
});

test('a stream that begins anew is reported with its lower position', async (t) => {
  const { reports, positions } = reporting(t);
  reports.noteRead({ position: 40 });
  await until(async () => (await positions())[0] === 40);
  reports.noteRead({ position: 2 });
  await until(async () => (await positions())[0] === 2);
});

test('another change in the same place of a stream that has begun anew is reported at once', async (t) => {
  const { reports, state } = reporting(t);
  await setImmediate();
  reports.noteRead({ position: 2, changedAtMs: START_MS });
  await until(() => state.changedAtMs === START_MS);
  reports.noteRead({ position: 2, changedAtMs: START_MS + 1 });
  await until(() => state.changedAtMs === START_MS + 1);
  assert.deepEqual(state.sent, [0, 2, 2]);
});

test('after the goodbye it is gone, also if a report was still in progress', async (t) => {
  const { reports, state, positions } = reporting(t);
  await setImmediate();
  const gate = Promise.withResolvers<void>();
  state.gate = gate.promise;
  reports.noteRead({ position: 1 });
  const closed = reports.close();
  reports.noteRead({ position: 2 });
  gate.resolve();
  await closed;
  t.mock.timers.tick(10_000);
  await setImmediate();
  assert.deepEqual(await positions(), []);
  assert.deepEqual(state.sent, [0, 1]);
});

test('a store that cannot be reached does not hold up the end', async () => {
  const remove = () => Promise.reject(new Error('away'));
  const report = () => {
    throw new Error('away');
  };
  const onListed = () => assert.fail('it was never listed');
  const self = { host: 'here', pid: 1, startedAtMs: START_MS, graceMs: GRACE_MS, now: Date.now, onListed };
  const reports = new InstanceReports({ instances: { report, remove }, ...self });
  reports.noteRead({ position: 1 });
  await reports.close();
});
