// What is noted of one caller is never read of another.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CallerNote, newCallerMemory } from '../../../gateway/exchange/caller-memory.ts';
import { caller } from '../auth/samples.ts';

const withMemory = () => Object.freeze(caller({ memory: newCallerMemory() }));

describe('a note about callers', () => {
  for (const [kind, make] of Object.entries({ 'a memory': withMemory, 'no memory': () => caller() }))
    it(`is found again of a caller with ${kind}, and of no other`, () => {
      const [first, second] = [new CallerNote<string>(), new CallerNote<number>()];
      const [one, other] = [make(), make()];
      assert.equal(first.get(one), undefined);
      first.set(one, 'a');
      second.set(one, 1);
      assert.deepEqual([first.get(one), second.get(one)], ['a', 1]);
      first.set(one, 'b');
      assert.deepEqual([first.get(one), first.get(other), second.get(other)], ['b', undefined, undefined]);
    });

  it('is not shared with a copy of the caller with other rights, in either order', () => {
    const note = new CallerNote<string>();
    const original = withMemory();
    const copy = { ...original, scopes: new Set(['other']) };
    note.set(copy, 'of the copy');
    assert.equal(note.get(original), undefined);
    note.set(original, 'of the original');
    assert.deepEqual([note.get(copy), note.get(original)], ['of the copy', 'of the original']);
  });

  it('may be made after the memory', () => {
    const one = withMemory();
    const notes = Array.from({ length: 50 }, () => new CallerNote<number>());
    notes.forEach((note, index) => void note.set(one, index));
    assert.deepEqual(
      notes.map((note) => note.get(one)),
      notes.map((_, index) => index),
    );
  });
});
