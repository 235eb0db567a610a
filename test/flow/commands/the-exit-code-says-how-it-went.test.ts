// The command line as a process of its own: exit codes, and which stream carries which output, one for each failure; that a command which
// succeeds ends with 0 is needed by every test that spawns one. What else is printed is tried in the process of the test.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { writeSound } from '../../config/faults.ts';
import { environmentOf } from '../../support/configuration.ts';
import { createInstallation } from '../../support/process.ts';

const { run, spawn, remove } = createInstallation();
after(remove);

for (const { words, code, stdout, stderr, by = run } of [
  {
    words: ['orgs', 'create', '--id', 'org_a', '--name', 'A', '--tier', 'standard'],
    code: 0,
    stdout: /^Created /,
    stderr: /^$/,
  },
  { words: ['keys', 'list'], code: 0, stdout: /^None\.\n$/, stderr: /^$/ },
  {
    by: spawn,
    words: ['keys', 'revoke', 'key_none'],
    code: 1,
    stdout: /^$/,
    stderr: /^gateway: There is no key key_none\.\n$/,
  },
  {
    by: spawn,
    words: ['audit', '--limit', '0'],
    code: 2,
    stdout: /^$/,
    stderr: /^gateway: --limit "0" is not a number/,
  },
  { words: ['chekc'], code: 2, stdout: /^$/, stderr: /^error: unknown command 'chekc'\n/ },
  { words: ['help', 'keys'], code: 0, stdout: /^Usage: gateway keys /, stderr: /^$/ },
]) {
  test(`"${words.join(' ')}" ends with ${code}`, async () => {
    const finished = await by(...words);
    assert.equal(finished.code, code, finished.stderr);
    assert.match(finished.stdout, stdout);
    assert.match(finished.stderr, stderr);
  });
}

test('with a mistake in the configuration, a command says that it was not run', async () => {
  const directory = writeSound({ 'config/limits.yaml': 'tiers: { standard: { requests: many } }\n' });
  const mistaken = createInstallation(environmentOf(directory));
  const { code, stderr } = await mistaken.run('orgs', 'create', '--id', 'org_a', '--name', 'A', '--tier', 'standard');
  mistaken.remove();
  assert.equal(code, 1);
  assert.match(
    stderr,
    /\ngateway: \d+ mistakes? in the configuration; "orgs create" was not run\. A gateway that runs keeps its former configuration\.\n$/,
  );
});
