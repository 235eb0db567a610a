// A million requests by chance, and more with HEAD_RUNS: the reader of usual requests and Node's parser read each of them alike.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { compareReaders } from '../unit/http1/compare.ts';

const runs = Number(process.env.HEAD_RUNS ?? 1_000_000);

it(`${runs} requests`, (t) => {
  const seed = Number(process.env.HEAD_SEED ?? Date.now() % 4_294_967_296);
  const { taken, waiting, unusual } = compareReaders(seed, runs);
  t.diagnostic(`seed ${seed}: ${taken} taken, ${waiting} awaited, ${unusual} left to Node`);
  assert.equal(taken + waiting + unusual, runs);
});
