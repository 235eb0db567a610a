// Which reports of gateways confirm a change.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { awaitConfirmations, confirmationsNow } from '../../../gateway/administration/confirmations.ts';
import { REAL_MACHINE } from '../../../gateway/shared/machine.ts';
import { START_MS } from '../auth/samples.ts';

const LATEST = 5;

/** Two gateways that have reported the latest change: one reports on, the other did so for the last time before the command. */
function begin(silentMs: number) {
  let passedMs = 0;
  const gateway = { host: 'here', startedAtMs: START_MS, position: LATEST, graceMs: 60_000 };
  const store = {
    audit: { since: async () => ({ latest: LATEST, changes: [] }) },
    instances: {
      list: async () => [
        { ...gateway, id: 'gw_1', pid: 1, silentMs: (1000 + passedMs) % 2000 },
        { ...gateway, id: 'gw_2', pid: 2, silentMs: silentMs + passedMs },
      ],
    },
  };
  const machine = {
    ...REAL_MACHINE,
    performance: { now: () => passedMs },
    async sleep(ms: number) {
      passedMs += ms;
    },
  };
  return { store: store as never, machine };
}

const pidsOf = (all: readonly { readonly pid: number }[]) => all.map(({ pid }) => pid);

test('a gateway confirms by a report from after the change', async () => {
  const { store, machine } = begin(100);
  const { confirmed, unconfirmed, waitedMs } = await awaitConfirmations(store, 10_000, machine);
  assert.deepEqual([pidsOf(confirmed), pidsOf(unconfirmed)], [[1, 2], []]);
  assert.ok(waitedMs <= 1100, `${waitedMs}`);
});

test('a gateway that was silent from the start confirms nothing, although it has reported the latest change', async () => {
  const { store, machine } = begin(9000);
  const { confirmed, unconfirmed, waitedMs } = await awaitConfirmations(store, 10_000, machine);
  assert.deepEqual([pidsOf(confirmed), pidsOf(unconfirmed)], [[1], [2]]);
  assert.ok(waitedMs <= 1100, `${waitedMs}`);
});

test('a gateway that falls silent is waited for until the time is over', async () => {
  const { store, machine } = begin(1500);
  const { confirmed, unconfirmed, waitedMs } = await awaitConfirmations(store, 10_000, machine);
  assert.deepEqual([pidsOf(confirmed), pidsOf(unconfirmed)], [[1], [2]]);
  assert.equal(waitedMs, 10_000);
});

test('without a wait the last reports count', async () => {
  const { store } = begin(9000);
  const { confirmed, unconfirmed } = await confirmationsNow(store);
  assert.deepEqual([pidsOf(confirmed), pidsOf(unconfirmed)], [[1, 2], []]);
});
