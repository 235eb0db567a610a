// Lines of several processes on one output: for pieces of any size, no line is torn, and a full output holds all of them up.

import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { it } from 'node:test';
import fc from 'fast-check';
import { JoinedOutput } from '../../../gateway/observe/log/joined-output.ts';
import type { ByteSink, OnTaken } from '../../../gateway/observe/log/standard-output.ts';

const unbounded = { bytesMax: Number.POSITIVE_INFINITY, onDropped: () => undefined, droppedLine: () => '' };

/** Keeps its input; reports that it is full when the test says so. */
function createSink() {
  const written: string[] = [];
  let drained = () => {};
  let isFull = false;
  const sink: ByteSink = {
    write(bytes, done) {
      written.push(bytes.toString());
      done(0);
      return !isFull;
    },
    onDrain(handle) {
      drained = handle;
    },
    end: () => undefined,
  };
  return {
    sink,
    written,
    fill() {
      isFull = true;
    },
    drain() {
      isFull = false;
      drained();
    },
  };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

it('writes whole lines only, for any cuts and any order of writers', async () => {
  const text = fc.array(
    fc.string({ maxLength: 40 }).map((line) => line.replaceAll('\n', '')),
    { maxLength: 20 },
  );
  const cuts = fc.array(fc.integer({ min: 1, max: 15 }), { minLength: 1, maxLength: 50 });
  await fc.assert(
    fc.asyncProperty(text, text, cuts, async (one, other, sizes) => {
      const { sink, written } = createSink();
      const output = new JoinedOutput(sink, unbounded);
      const sources = [new PassThrough(), new PassThrough()];
      const ended = sources.map((source) => output.join(source));
      const bytes = [one, other].map((lines, index) => Buffer.from(lines.map((line) => `${index}${line}\n`).join('')));
      const at = [0, 0];
      for (let step = 0; at.some((position, index) => position < (bytes[index] as Buffer).length); step += 1) {
        const which = step % 2;
        const from = at[which] as number;
        const to = from + (sizes[step % sizes.length] as number);
        sources[which]?.write((bytes[which] as Buffer).subarray(from, to));
        at[which] = to;
        await turn();
      }
      for (const source of sources) source.end();
      await Promise.all(ended);
      const lines = written.join('').split('\n').slice(0, -1);
      const linesOf = (index: number) => lines.filter((line) => line.startsWith(String(index)));
      assert.deepEqual(
        linesOf(0),
        one.map((line) => `0${line}`),
      );
      assert.deepEqual(
        linesOf(1),
        other.map((line) => `1${line}`),
      );
      assert.equal(lines.length, one.length + other.length);
    }),
    { numRuns: 50 },
  );
});

it('ends the line of a process that was killed in the middle of it', async () => {
  const { sink, written } = createSink();
  const output = new JoinedOutput(sink, unbounded);
  const source = new PassThrough();
  const ended = output.join(source);
  source.end('whole\nhalf');
  await ended;
  output.write('next\n');
  assert.equal(written.join(''), 'whole\nhalf\nnext\n');
});

it('stops reading while the output is full, and continues at the same place', async () => {
  const { sink, written, fill, drain } = createSink();
  const output = new JoinedOutput(sink, unbounded);
  const source = new PassThrough();
  void output.join(source);
  fill();
  source.write('one\n');
  await turn();
  source.write('two\n');
  await turn();
  assert.deepEqual(written, ['one\n']);
  drain();
  await turn();
  assert.deepEqual(written, ['one\n', 'two\n']);
});

it('bounds its own lines while nothing is written, counts those that are dropped, and reports them afterwards', () => {
  const written: string[] = [];
  const held: OnTaken[] = [];
  let counted = 0;
  const sink: ByteSink = {
    write(bytes, done) {
      written.push(bytes.toString());
      held.push(done);
      return false;
    },
    onDrain: () => undefined,
    end: () => undefined,
  };
  const output = new JoinedOutput(sink, {
    bytesMax: 20,
    onDropped(lines) {
      counted += lines;
    },
    droppedLine: (dropped) => `dropped ${dropped}\n`,
  });
  for (let line = 1; line <= 5; line += 1) output.write(`line ${line}..\n`);
  assert.deepEqual([written, counted], [['line 1..\n', 'line 2..\n'], 3]);
  held.shift()?.(0);
  held.shift()?.(0);
  output.write('more\n');
  assert.deepEqual(written.slice(2), ['dropped 3\n', 'more\n']);
});
