import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryDirectory } from '../../unit/auth/samples.ts';
import { commandLine } from './command-line.ts';

const commands = [
  ['keys', 'list'],
  ['keys', 'create', '--org', 'org_acme', '--mode', 'live', '--scopes', '*'],
  ['keys', 'revoke', 'key_1'],
  ['keys', 'rotate', 'key_1'],
  ['keys', 'export', '--file', '-'],
  ['orgs', 'list'],
  ['orgs', 'suspend', 'org_acme'],
  ['orgs', 'set-tier', 'org_acme', 'premium'],
  ['audit'],
  ['assertion-keys', 'list'],
  ['assertion-keys', 'rotate'],
  ['assertion-keys', 'rotate', '--print'],
];

for (const words of commands) {
  test(`${words.join(' ')} in a directory without data names the directory and creates nothing`, async (t) => {
    const directory = join(temporaryDirectory(t), 'elsewhere');
    const { code, out, err } = await commandLine(t, directory).run(...words);
    assert.deepEqual([code, out], [1, '']);
    assert.ok(err.startsWith(`There is no data of a gateway in ${directory}, and nothing was created. `), err);
    assert.equal(existsSync(directory), false);
  });
}

test('a directory with other files is not taken for one of a gateway', async (t) => {
  const directory = temporaryDirectory(t);
  const { code } = await commandLine(t, directory).run('keys', 'list');
  assert.equal(code, 1);
  assert.deepEqual(readdirSync(directory), []);
});

test('orgs create begins new data', async (t) => {
  const directory = join(temporaryDirectory(t), 'elsewhere');
  const { run } = commandLine(t, directory);
  const { code, err } = await run('orgs', 'create', '--id', 'org_acme', '--name', 'Acme', '--tier', 'premium');
  assert.deepEqual([code, err], [0, '']);
  assert.match((await run('keys', 'list')).out, /^None\.\n$/);
});
