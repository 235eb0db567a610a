import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createProgress } from '../../../gateway/commands/progress.ts';
import { fakeClock } from '../auth/samples.ts';

function progressOn(terminal: boolean) {
  const clock = fakeClock();
  const written: string[] = [];
  const complain = (text: string) => void written.push(text);
  const rewrite = (line: string) => void written.push(`\r${line}\x1b[K`);
  const context = { complain, rewrite, onTerminal: terminal, now: clock.now };
  return { clock, written, progress: createProgress(context, 'importing') };
}

test('a task done within two seconds shows nothing', () => {
  for (const terminal of [true, false]) {
    const { clock, written, progress } = progressOn(terminal);
    progress.at(0, 0);
    clock.advance(1999);
    progress.at(5000, 0.9);
    progress.clear();
    assert.deepEqual(written, []);
  }
});

test('on a terminal one line is rewritten, at most five times a second, and taken away at the end', () => {
  const { clock, written, progress } = progressOn(true);
  clock.advance(2000);
  progress.at(1000, 0.256);
  clock.advance(199);
  progress.at(1500, 0.3);
  clock.advance(1);
  progress.at(2200, 0.5);
  progress.clear();
  const lines = ['importing: 1000 records, 25 %, 500/s', 'importing: 2200 records, 50 %, 1000/s'];
  assert.deepEqual(written, [...lines.map((line) => `\r${line}\x1b[K`), '\r\x1b[K']);
});

test('elsewhere there is a line every ten seconds', () => {
  const { clock, written, progress } = progressOn(false);
  for (let second = 1; second <= 25; second += 1) {
    clock.advance(1000);
    progress.at(second * 100);
  }
  progress.clear();
  assert.deepEqual(written, ['importing: 1000 records, 100/s\n', 'importing: 2000 records, 100/s\n']);
});
