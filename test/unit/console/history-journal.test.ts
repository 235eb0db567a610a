// The journal of the history keeps few samples when no write comes, as without Redis, and loses none: the whole history is written next.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SharedHistories } from '../../../gateway/console/fleet/shared-histories.ts';
import { HistoryJournal } from '../../../gateway/console/history/history-journal.ts';

const NOW_MS = 1_800_000_000_000;
type Increases = Parameters<HistoryJournal['note']>[2];

function begin() {
  const written: (number | 'whole')[] = [];
  const store = {
    append: async (_: unknown, increases: readonly unknown[]) => void written.push(increases.length),
    replace: async () => void written.push('whole'),
  } as unknown as SharedHistories;
  const journal = new HistoryJournal('history', () => Buffer.from('all'));
  const increases = { operations: [{}] } as unknown as Increases;
  const note = (count: number) => {
    for (let index = 0; index < count; index += 1) journal.note(NOW_MS, NOW_MS, increases);
  };
  return {
    written,
    note,
    write: (atMs: number) => journal.write(store, 'one', atMs),
    sampled: (atMs: number) => journal.writeInNewSlot(store, 'one', atMs),
  };
}

test('the increases of a slot are appended after the whole history', async () => {
  const { written, note, write } = begin();
  await write(NOW_MS);
  note(3);
  await write(NOW_MS + 15_000);
  assert.deepEqual(written, ['whole', 3]);
});

test('more increases than may wait are written as the whole history, and none waits after it', async () => {
  const { written, note, write } = begin();
  await write(NOW_MS);
  note(250);
  await write(NOW_MS + 15_000);
  note(2);
  await write(NOW_MS + 30_000);
  assert.deepEqual(written, ['whole', 'whole', 2]);
});

test('a clock that was set back ends no writes', async () => {
  const { written, note, write, sampled } = begin();
  await write(NOW_MS);
  note(2);
  sampled(NOW_MS - 3_600_000);
  // The next write waits for that of the sample, and finds nothing left.
  await write(NOW_MS - 3_600_000);
  assert.deepEqual(written, ['whole', 2, 0]);
});
