// An idle process gives memory back once it has grown; a busy one is left alone.

import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { CHECK_EVERY_MS, createIdleMemory } from '../../../gateway/process/idle-memory.ts';

const MEGABYTE = 1_048_576;

describe('the memory of an idle process', () => {
  let cpuMicros: number;
  let heapBytes: number;
  let nowMs: number;
  let collections: number;
  let look: () => void;

  beforeEach(() => {
    [cpuMicros, heapBytes, nowMs, collections] = [0, 100 * MEGABYTE, 0, 0];
    look = createIdleMemory({
      cpuMicros: () => cpuMicros,
      heapBytes: () => heapBytes,
      collect() {
        collections += 1;
        heapBytes = 60 * MEGABYTE;
        // A collection takes time itself.
        cpuMicros += 1e6;
      },
      clock: () => nowMs,
    });
  });

  /** @param share of a core that was used since the last look */
  function lookAfter(share: number): number {
    nowMs += CHECK_EVERY_MS;
    cpuMicros += share * CHECK_EVERY_MS * 1000;
    look();
    return collections;
  }

  it('is given back once the work of the start is over', () => {
    assert.equal(lookAfter(0.5), 0);
    assert.equal(lookAfter(0.03), 1);
  });

  it('is not collected again while it has not grown', () => {
    assert.equal(lookAfter(0.03), 1);
    for (let looks = 0; looks < 500; looks += 1) assert.equal(lookAfter(0.03), 1);
  });

  it('is given back after a busy time too, but not more than once in ten minutes', () => {
    assert.equal(lookAfter(0.03), 1);
    heapBytes = 150 * MEGABYTE;
    for (let looks = 1; looks * CHECK_EVERY_MS < 600_000; looks += 1) assert.equal(lookAfter(0.03), 1);
    assert.equal(lookAfter(0.9), 1);
    assert.equal(lookAfter(0.03), 2);
  });
});
