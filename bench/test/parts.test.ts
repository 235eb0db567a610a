// What the memory of a process consists of.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { partsOf } from '../memory/parts.ts';

const smaps = `00400000-05000000 r-xp 00000000 08:01 123 /usr/bin/node
Size:              71680 kB
Rss:                3000 kB
Pss:                1500 kB
Rss_is_not:            7 kB
05000000-06000000 rw-p 00000000 00:00 0                                  [heap]
Rss:                 500 kB
7f0000000000-7f0000100000 rw-p 00000000 00:00 0 
Rss:                2000 kB
7ffc00000000-7ffc00100000 rw-p 00000000 00:00 0                          [stack]
Rss:                 100 kB
7f1000000000-7f1000100000 r--p 00000000 08:01 456                        /usr/lib/libc.so.6 (deleted)
Rss:                 200 kB
`;
const space = (committedMemory: number) => ({ committedMemory, used: 0 });
const report = {
  javascriptHeap: {
    heapSpaces: { old_space: space(1000 * 1024), new_space: space(300 * 1024) },
  },
};

test('mappings are counted by what stands behind them, and the JavaScript heap by its spaces', () => {
  const kibibytes = partsOf(smaps, report).map(({ part, bytes }) => [part, bytes / 1024]);
  assert.deepEqual(kibibytes, [
    ['all', 5800],
    ['programs and libraries (files)', 3200],
    ['malloc ([heap])', 500],
    ['JavaScript heap: old_space', 1000],
    ['JavaScript heap: new_space', 300],
    ['other, without a file: buffers, threads, malloc', 800],
  ]);
});

test('a heap that has reserved more than is resident leaves no less than nothing', () => {
  const parts = partsOf(smaps, { javascriptHeap: { heapSpaces: { old_space: space(1e9) } } });
  assert.equal(parts.at(-1)?.bytes, 0);
});
