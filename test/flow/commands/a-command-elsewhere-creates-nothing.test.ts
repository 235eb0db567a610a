import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryDirectory } from '../../support/directory.ts';
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
  test(`${words.join(' ')} in a directory without data names the directory and creates nothing`, async () => {
    const directory = join(temporaryDirectory(), 'elsewhere');
    const { code, out, err } = await commandLine(directory).run(...words);
    assert.deepEqual([code, out], [1, '']);
    assert.ok(err.startsWith(`There is no data of a gateway in ${directory}, and nothing was created. `), err);
    assert.equal(existsSync(directory), false);
  });
}

test('a directory with other files is not taken for one of a gateway', async () => {
  const directory = temporaryDirectory();
  const { code } = await commandLine(directory).run('keys', 'list');
  assert.equal(code, 1);
  assert.deepEqual(readdirSync(directory), []);
});

test('orgs create begins new data', async () => {
  const directory = join(temporaryDirectory(), 'elsewhere');
  const { run } = commandLine(directory);
  const { code, err } = await run('orgs', 'create', '--id', 'org_acme', '--name', 'Acme', '--tier', 'premium');
  assert.deepEqual([code, err], [0, '']);
  assert.match((await run('keys', 'list')).out, /^None\.\n$/);
});
