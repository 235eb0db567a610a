// The help of the command line, with each command loaded alone and with all others.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { createInstallation } from '../../support/process.ts';

const { run, remove } = createInstallation();
after(remove);

test('help for a command equals the command with --help', async () => {
  const all = await run('help');
  const names = [...all.stdout.matchAll(/^ {2}([a-z][a-z-]*)(?: \[\S+\])? {2,}\S/gm)].map(([, name]) => name as string);
  assert.ok(names.includes('keys') && names.includes('limits'), all.stdout);
  for (const name of names.filter((one) => one !== 'help')) {
    const [asked, flagged] = await Promise.all([run('help', name), run(name, '--help')]);
    assert.match(asked.stdout, new RegExp(`^Usage: gateway ${name} `), name);
    assert.deepEqual([asked.code, asked.stdout], [0, flagged.stdout]);
  }
});

test('help goes as deep as commands do', async () => {
  const [asked, flagged] = await Promise.all([run('help', 'keys', 'create'), run('keys', 'create', '--help')]);
  assert.match(asked.stdout, /^Usage: gateway keys create /);
  assert.deepEqual([asked.code, asked.stdout], [0, flagged.stdout]);
});

for (const [words, message] of [
  [['help', 'chekc'], "error: unknown command 'chekc'\n(Did you mean check?)"],
  [['help', 'keys', 'crate'], "error: unknown command 'crate'\n(Did you mean create?)"],
  [['chekc'], "error: unknown command 'chekc'\n(Did you mean check?)"],
] as const) {
  test(`"${words.join(' ')}" is a usage error, and the likely command is suggested`, async () => {
    const { code, stdout, stderr } = await run(...words);
    assert.deepEqual([code, stdout], [2, '']);
    assert.ok(stderr.startsWith(message), stderr);
  });
}
