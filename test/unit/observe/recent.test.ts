// The latest lines in memory: bounded bytes, whole lines, the newest first to be kept.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { createRecentLines } from '../../../gateway/observe/recent.ts';

const lineOf = (id: string, more: object = {}) =>
  `${JSON.stringify({ time: 1, request_id: id, ...more, text: 'é' })}\n`;
const nowMs = 0;
const recentLines = (bytesMax = 1000) => {
  const lines = createRecentLines({ bytesMax, notableBytesMax: 200, sampleBytesMax: 1000, clock: () => nowMs });
  // The first line is sampled; it is not what these tests are about.
  lines.add(Buffer.from(lineOf('req_0')));
  return lines;
};
const idsOf = (found: readonly Record<string, unknown>[]) => found.map(({ request_id }) => request_id);

it('finds an exchange by its id, and by the one that its client gave it', () => {
  const { add, find } = recentLines();
  add(Buffer.from(lineOf('req_1') + lineOf('req_2', { client_request_id: 'mine' }) + lineOf('req_3')));
  assert.deepEqual(idsOf(find('req_2')), ['req_2']);
  assert.deepEqual(idsOf(find('mine')), ['req_2']);
  assert.deepEqual(find('req_9'), []);
});

it('prefers the exchange that has this id to one that a client called so', () => {
  const { add, find } = recentLines();
  add(Buffer.from(lineOf('req_1') + lineOf('req_2', { client_request_id: 'req_1' })));
  assert.deepEqual(idsOf(find('req_1')), ['req_1']);
});

it('forgets the oldest, and never returns half a line', () => {
  for (let bytesMax = 100; bytesMax < 160; bytesMax += 1) {
    const { add, find } = recentLines(bytesMax);
    for (let n = 10; n < 99; n += 1) {
      add(Buffer.from(lineOf(`req_${n}`)));
      assert.deepEqual(idsOf(find(`req_${n}`)), [`req_${n}`]);
    }
    assert.deepEqual(find('req_10'), []);
    assert.deepEqual(idsOf(find('req_97')), ['req_97']);
  }
});

it('keeps the end of an exchange that is larger than everything', () => {
  const { add, find } = recentLines(100);
  add(Buffer.from(Array.from({ length: 20 }, (_, n) => lineOf(`req_${n}`)).join('')));
  assert.deepEqual(idsOf(find('req_19')), ['req_19']);
});

it('keeps refusals where successes do not push them out, and returns each once', () => {
  const { add, addNotable, find } = recentLines(100);
  const refused = lineOf('req_1', { code: 'x' });
  add(Buffer.from(refused));
  addNotable(refused, 'x');
  assert.deepEqual(idsOf(find('req_1')), ['req_1']);
  for (let n = 0; n < 20; n += 1) add(Buffer.from(lineOf(`req_2${n}`)));
  assert.deepEqual(idsOf(find('req_1')), ['req_1']);
});
