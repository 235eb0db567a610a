// Each decision has a number of its own, which its file and its heading agree on, and no number is left out.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { it } from 'node:test';

const directory = new URL('../../docs/decisions/', import.meta.url);
const files = readdirSync(directory).toSorted();

it('decisions are numbered from 1, without gaps', () => {
  const numbers = files.map((file) => Number(/^(\d{4})-[a-z0-9-]+\.md$/.exec(file)?.[1]));
  assert.deepEqual(
    numbers,
    files.map((_, index) => index + 1),
  );
});

it('the heading of a decision has the number of its file', () => {
  const other = files.filter((file) => {
    const [, number] = /^# (\d+)\. /.exec(readFileSync(new URL(file, directory), 'utf8')) ?? [];
    return Number(number) !== Number(file.slice(0, 4));
  });
  assert.deepEqual(other, []);
});
