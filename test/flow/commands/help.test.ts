// The help of the command line, with each command loaded alone and with all others.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Command } from 'commander';
import { knownCommands } from '../../../tools/docs/command-list.ts';
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
  [['contract', 'check'], "error: unknown command 'check'"],
  [['chekc'], "error: unknown command 'chekc'\n(Did you mean check?)"],
] as const) {
  test(`"${words.join(' ')}" is a usage error, and the likely command is suggested`, async () => {
    const { code, stdout, stderr } = await run(...words);
    assert.deepEqual([code, stdout], [2, '']);
    assert.equal(stderr, `${message}\nAdd --help for the commands, options and examples.\n`);
  });
}

test('every command has an example, which names it and options that it has', async () => {
  for (const words of leavesOf(await knownCommands())) {
    const name = words.join(' ');
    const { stdout } = await run(...words, '--help');
    const [, examples = ''] = /^Examples?:\n((?: {2}.+\n?)+)/m.exec(stdout) ?? [];
    assert.ok(examples.includes(`gateway ${name}`) || examples.includes(` ${name}`), `${name}: ${stdout}`);
    const options = [...examples.matchAll(/(?<= )--[a-z-]+/g)].map(([option]) => option);
    for (const option of options.filter((one) => one !== '--server'))
      assert.ok(stdout.slice(0, stdout.indexOf(examples)).includes(option), `${name} has no ${option}`);
    for (const line of stdout.split('\n')) assert.ok(line.length <= 140, `${name}: ${line}`);
  }
});

function leavesOf({ commands }: Command): string[][] {
  return commands.flatMap((one) => {
    const below = leavesOf(one);
    return below.length === 0 ? [[one.name()]] : below.map((words) => [one.name(), ...words]);
  });
}
