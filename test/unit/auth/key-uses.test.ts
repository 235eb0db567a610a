import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createKeyUses } from '../../../gateway/auth/key-uses.ts';
import { fakeClock } from './samples.ts';

function create(failing = () => false) {
  const clock = fakeClock(1_000_000);
  const written: Map<string, number>[] = [];
  const keys = {
    noteUses(uses: ReadonlyMap<string, number>) {
      if (failing()) throw new Error('the store is busy');
      written.push(new Map(uses));
    },
  };
  return { clock, written, uses: createKeyUses({ keys, now: clock.now }) };
}

test('a key is noted at most once a minute', () => {
  const { clock, uses } = create();
  const first = uses.note('key_1', Number.NEGATIVE_INFINITY);
  assert.equal(first, clock.now());
  clock.advance(59_999);
  assert.equal(uses.note('key_1', first), first);
  clock.advance(1);
  assert.equal(uses.note('key_1', first), clock.now());
  assert.equal(uses.pending(), 1);
});

test('notes are written in batches, ten seconds after the last one', async () => {
  const { clock, uses, written } = create();
  for (let index = 0; index < 5; index += 1) uses.note(`key_${index}`, 0);
  await uses.writeSome();
  assert.equal(written.length, 0);
  clock.advance(10_000);
  await uses.writeSome();
  assert.deepEqual(
    written.map(({ size }) => size),
    [5],
  );
  assert.equal(uses.pending(), 0);
});

test('a full batch does not wait', async () => {
  const { uses, written } = create();
  for (let index = 0; index < 450; index += 1) uses.note(`key_${index}`, 0);
  await uses.writeSome();
  await uses.writeSome();
  await uses.writeSome();
  assert.deepEqual(
    written.map(({ size }) => size),
    [200, 200],
  );
});

test('notes that could not be written go with a later batch', async () => {
  let failing = true;
  const { clock, uses, written } = create(() => failing);
  uses.note('key_1', 0);
  clock.advance(10_000);
  await uses.writeSome();
  assert.equal(uses.pending(), 1);
  failing = false;
  await uses.writeSome();
  assert.deepEqual(written, [new Map([['key_1', 1_000_000]])]);
});

test('a store that never writes costs bounded memory, and does not hold up the end', async () => {
  const { uses } = create(() => true);
  for (let index = 0; index < 60_000; index += 1) uses.note(`key_${index}`, 0);
  assert.equal(uses.pending(), 50_000);
  await uses.writeAll();
});

test('at the end everything is written', async () => {
  const { uses, written } = create();
  for (let index = 0; index < 450; index += 1) uses.note(`key_${index}`, 0);
  await uses.writeAll();
  assert.deepEqual(
    written.map(({ size }) => size),
    [200, 200, 50],
  );
});
