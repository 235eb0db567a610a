// Standard output is a pipe whose reader stops, or a file that cannot grow: the waiting bytes are bounded, dropped lines are counted, and
// one line reports them when the output takes lines again.

import assert from 'node:assert/strict';
import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { temporaryDirectory } from '../../support/directory.ts';

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

it('a file that cannot grow ends nothing; a line that was cut off does not spoil the next one', async (t) => {
  const directory = temporaryDirectory();
  const file = join(directory, 'log');
  const output = openSync(file, 'a');
  // Room for some hundred lines. Node gets an error for the rest of the last one.
  const limited = ['-c', 'ulimit -f 999; exec "$0" "$@"', process.execPath, '--expose-gc', program, '20000'];
  const child = spawn('sh', limited, { stdio: ['ignore', output, 'pipe', 'ipc'] });
  let errors = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    errors += chunk;
  });
  closeSync(output);
  t.after(() => {
    child.kill('SIGKILL');
  });
  const [{ dropped }] = (await once(child, 'message')) as [{ dropped: number }];
  const before = readFileSync(file, 'utf8').split('\n');
  assert.throws(() => JSON.parse(before.at(-1) as string), 'the last line is cut off');
  truncateSync(file);
  child.send('end');
  assert.deepEqual(await once(child, 'close'), [0, null]);
  const [rest, ...after] = readFileSync(file, 'utf8').trimEnd().split('\n');
  assert.equal(rest, '', 'the end of the line that was cut off');
  assert.deepEqual(
    after.map((line) => (JSON.parse(line) as { msg: string }).msg),
    ['the last line'],
  );
  assert.equal(errors, `gateway: ${dropped} log lines were dropped, because standard output did not take them.\n`);
  assert.equal(before.length - 1 + dropped, 20_000 + 20_000 / 100, 'each line was written or counted');
});
