// `npm run simulate` shows how it is used, and says in one line what is wrong with its options.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { PROTOCOLS } from './protocols/all.ts';
import { readOptions } from './simulate-options.ts';

const script = fileURLToPath(new URL('./simulate.ts', import.meta.url));

function simulate(...args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', script, ...args],
    { encoding: 'utf8' },
  );
  return { status, stdout, stderr };
}

it('shows its options and the protocols', () => {
  const { status, stdout, stderr } = simulate('--help');
  assert.deepEqual([status, stderr], [0, '']);
  for (const option of ['minutes', 'protocol', 'hours', 'seed', 'no-calm']) assert.match(stdout, RegExp(`--${option}`));
  for (const { name } of PROTOCOLS) assert.match(stdout, RegExp(`\\b${name}\\b`));
});

it('says what is wrong in one sentence', () => {
  const { status, stdout, stderr } = simulate('--speed', '3');
  assert.deepEqual([status, stdout], [2, '']);
  assert.match(stderr, /^Unknown option '--speed'\. /);
  assert.equal(stderr.trim().split('\n').length, 1);
});

const mistakes = [
  [['--protocol', 'raft'], /^There is no protocol raft; there are limits, /],
  [['--minutes', 'ten'], /^--minutes takes a number above 0, not "ten"\.$/],
  [['--hours', '0'], /^--hours takes a number above 0, not "0"\.$/],
  [['--seed', 'keys'], /^"keys" is no seed such as keys\/1002\/3\.$/],
] as const;

for (const [args, sentence] of mistakes)
  it(`knows what is wrong with ${args.join(' ')}`, () => assert.throws(() => readOptions(args), { message: sentence }));
