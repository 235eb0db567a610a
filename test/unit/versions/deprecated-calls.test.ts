// Uses are counted in memory and written together; a store that is away loses nothing that there is room for.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DeprecatedCalls, type DeprecatedCallsStatus } from '../../../gateway/versions/deprecated-calls.ts';
import type { Use, UseStore } from '../../../gateway/versions/store.ts';

const NOW_MS = Date.parse('2027-06-01T12:00:00Z');

function countingStore() {
  const written: Use[][] = [];
  let isAway = false;
  const store: UseStore = {
    add(uses) {
      if (isAway) throw new Error('away');
      written.push([...uses]);
    },
    list: () => written.flat(),
    close: () => {},
  };
  return { store, written, away: (next: boolean) => (isAway = next) };
}

function usesOn({ store }: ReturnType<typeof countingStore>, changes: DeprecatedCallsStatus[] = []) {
  let opened = 0;
  const open = () => {
    opened += 1;
    return store;
  };
  const uses = new DeprecatedCalls({
    open,
    organizations: () => [],
    publicUrl: () => '',
    now: () => NOW_MS,
    onChange: (state) => changes.push(state),
  });
  return { uses, opened: () => opened };
}

describe('uses', () => {
  it('open no store before there is something to write', async () => {
    const { uses, opened } = usesOn(countingStore());
    await uses.flush();
    await uses.close();
    assert.equal(opened(), 0);
    assert.equal(uses.status().state, 'unused');
  });

  it('are written as one row per organization, operation and day', async () => {
    const place = countingStore();
    const { uses } = usesOn(place);
    for (let count = 0; count < 1000; count += 1) uses.note('org_a', 'listThings');
    uses.note('org_b', 'listThings');
    await uses.flush();
    const row = { day: '2027-06-01', operation: 'listThings', lastAtMs: NOW_MS };
    assert.deepEqual(place.written, [
      [
        { ...row, organization: 'org_a', calls: 1000 },
        { ...row, organization: 'org_b', calls: 1 },
      ],
    ]);
    assert.deepEqual(uses.status(), { state: 'up', waiting: 0, lost: 0 });
    await uses.close();
  });

  it('wait while the store is away, and are written when it is back', async () => {
    const place = countingStore();
    const changes: DeprecatedCallsStatus[] = [];
    const { uses } = usesOn(place, changes);
    place.away(true);
    uses.note('org_a', 'listThings');
    await uses.flush();
    uses.note('org_a', 'listThings');
    await uses.flush();
    assert.deepEqual(uses.status(), { state: 'away', waiting: 1, lost: 0 });
    place.away(false);
    await uses.flush();
    assert.equal(place.written.flat()[0]?.calls, 2);
    assert.deepEqual(
      changes.map(({ state }) => state),
      ['away', 'up'],
    );
    await uses.close();
  });

  it('without room are counted as lost, and known rows are still counted', async () => {
    const place = countingStore();
    place.away(true);
    const { uses } = usesOn(place);
    for (let count = 0; count < 50_010; count += 1) uses.note(`org_${count}`, 'listThings');
    uses.note('org_1', 'listThings');
    assert.deepEqual(uses.status(), { state: 'unused', waiting: 50_000, lost: 10 });
    await uses.close();
  });
});
