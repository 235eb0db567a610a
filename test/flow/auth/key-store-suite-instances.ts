// The part of the suite about running gateways and their reports about themselves.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Instance, KeyStore } from '../../../gateway/auth/store/key-store.ts';
import { START_MS } from '../../unit/auth/samples.ts';
import type { Open } from './key-store-suite-open.ts';

function instance(overrides: Partial<Instance> = {}): Instance {
  return { id: 'a', host: 'one', pid: 4711, startedAtMs: START_MS, position: 0, graceMs: 60_000, ...overrides };
}

async function reported(store: KeyStore): Promise<Instance[]> {
  const listed = await store.instances.list();
  return listed.map(({ silentMs, ...rest }) => rest).toSorted((a, b) => a.id.localeCompare(b.id));
}

export function instanceTests(name: string, open: Open): void {
  test(`${name}: running gateways are listed as they last reported themselves`, async (t) => {
    const store = await open(t);
    assert.deepEqual(await store.instances.list(), []);
    await store.instances.report(instance());
    await store.instances.report(instance({ id: 'b', host: 'two' }));
    await store.instances.report(instance({ position: 17, graceMs: 30_000 }));
    const expected = [instance({ position: 17, graceMs: 30_000 }), instance({ id: 'b', host: 'two' })];
    assert.deepEqual(await reported(store), expected);
  });

  test(`${name}: a report has its age`, async (t) => {
    const store = await open(t);
    await store.instances.report(instance());
    const [listed] = await store.instances.list();
    assert.ok(listed !== undefined && listed.silentMs >= 0 && listed.silentMs < 10_000, `${listed?.silentMs}`);
  });

  test(`${name}: one that deregisters is no longer listed`, async (t) => {
    const store = await open(t);
    await store.instances.report(instance());
    await store.instances.report(instance({ id: 'b' }));
    await store.instances.remove('a');
    await store.instances.remove('nobody');
    assert.deepEqual(await reported(store), [instance({ id: 'b' })]);
  });

  test(`${name}: one that has been silent for longer than its grace is left out until it reports again`, async (t) => {
    const store = await open(t);
    // A grace that ended long ago: the same as a long silence, and no clock has to be moved for it.
    await store.instances.report(instance({ graceMs: -60_000 }));
    await store.instances.report(instance({ id: 'b' }));
    assert.deepEqual(await reported(store), [instance({ id: 'b' })]);
    await store.instances.report(instance());
    assert.deepEqual(await reported(store), [instance(), instance({ id: 'b' })]);
  });

  test(`${name}: reports are no changes`, async (t) => {
    const { instances, audit } = await open(t);
    await instances.report(instance());
    await instances.remove('a');
    assert.deepEqual(await audit.since(0, 10), { latest: 0, changes: [] });
  });
}
