// Standard output is a pipe whose reader stops: the waiting bytes are bounded, dropped lines are counted, and one line reports them when
// the reader goes on.

import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { it } from 'node:test';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('logging-process.ts', import.meta.url));
const EXCHANGES = 100_000;
const LINES = EXCHANGES + EXCHANGES / 100;
const MIB = 1_048_576;

it('a reader that stops costs bounded memory; dropped lines are counted, and reported in one line', async (t) => {
  const child = fork(program, [String(EXCHANGES)], {
    execArgv: ['--expose-gc'],
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  t.after(() => child.kill('SIGKILL'));
  const [{ dropped, grownBytes }] = (await once(child, 'message')) as [{ dropped: number; grownBytes: number }];
  assert.ok(dropped > 0, 'more was logged than fits');
  assert.ok(grownBytes < 20 * MIB, `${Math.round(grownBytes / MIB)} MiB for ${LINES} lines`);

  let text = '';
  const flowing = new Promise<void>((resolve) => {
    (child.stdout as Readable).setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
      if (text.includes('"dropped":')) resolve();
    });
  });
  await flowing;
  child.send('end');
  await once(child, 'close');
  const lines = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { msg: string; level: number; dropped?: number });
  const told = lines.filter((line) => line.dropped !== undefined);
  assert.deepEqual(
    told.map(({ level, msg, ...line }) => [level, msg, line.dropped]),
    [[40, 'log lines were dropped because standard output did not take them', dropped]],
  );
  assert.equal(lines.at(-1)?.msg, 'the last line');
  assert.equal(lines.length + dropped, LINES + 2, 'each line was written or counted');
});
