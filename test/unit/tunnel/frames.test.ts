import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createFrames, GOING_AWAY } from '../../../gateway/tunnel/frames.ts';
import { frame } from '../../flow/tunnel/open-ends.ts';

test('nothing sent is a boundary, and so is the end of every frame, however it comes in pieces', () => {
  const lengths = fc.constantFrom(0, 1, 125, 126, 127, 65_535, 65_536, 70_000);
  fc.assert(
    fc.property(fc.array(lengths, { minLength: 1, maxLength: 5 }), fc.array(fc.nat(70_000)), (sizes, cuts) => {
      const ends = new Set([0]);
      let bytes = Buffer.alloc(0);
      for (const size of sizes) {
        bytes = Buffer.concat([bytes, frame(2, Buffer.alloc(size, 0xff))]);
        ends.add(bytes.length);
      }
      const frames = createFrames();
      let at = 0;
      for (const cut of [...cuts, bytes.length]) {
        frames.see(bytes.subarray(at, at + cut));
        at = Math.min(bytes.length, at + cut);
        assert.equal(frames.atBoundary(), ends.has(at), `${at} of ${bytes.length}`);
      }
    }),
    { numRuns: 60 },
  );
});

test('a masked frame has four bytes more', () => {
  const frames = createFrames();
  frames.see(Buffer.from([0x81, 0x82, 1, 2, 3, 4]));
  assert.ok(!frames.atBoundary());
  frames.see(Buffer.from([5]));
  assert.ok(!frames.atBoundary());
  frames.see(Buffer.from([6]));
  assert.ok(frames.atBoundary());
});

test('the frame that is sent at the end is one whole frame', () => {
  const frames = createFrames();
  frames.see(GOING_AWAY);
  assert.ok(frames.atBoundary());
  assert.deepEqual(GOING_AWAY, frame(8, Buffer.from([1001 >> 8, 1001 & 255])));
});
