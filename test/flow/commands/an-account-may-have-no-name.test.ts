// Containers often run under an account that the password file does not list: commands run, and the audit log names the account by number.

import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { chownSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { environmentOf, writeConfiguration } from '../../support/configuration.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { runInProcess } from '../../support/in-process.ts';
import { thingsAt } from '../../support/things.ts';

const UID = 54_321;
const root = fileURLToPath(new URL('../../..', import.meta.url));
const readsFiles = () => spawnSync(process.execPath, ['--version'], { cwd: root, uid: UID }).status === 0;

test('a change is recorded under the number of the account', {
  skip: process.getuid?.() !== 0 || !readsFiles(),
}, async () => {
  const directory = temporaryDirectory();
  writeConfiguration(directory, thingsAt('http://127.0.0.1:9'));
  const env = { PATH: process.env.PATH, GATEWAY_DATA: join(directory, 'data'), ...environmentOf(directory) };
  const run = (...words: string[]) => runInProcess(words, { environment: env });
  await run('orgs', 'create', '--id', 'org_acme', '--name', 'Acme', '--tier', 'standard');
  for (const path of ['', ...readdirSync(directory, { recursive: true, encoding: 'utf8' })])
    chownSync(join(directory, path), UID, UID);
  // A command with little code: this account finds none that an earlier start has compiled.
  await promisify(execFile)(`${root}/bin/gateway`, ['orgs', 'suspend', 'org_acme'], { env, uid: UID });
  const changes: { kind: string; by: string }[] = JSON.parse((await run('audit', '--json')).stdout);
  assert.equal(changes.find(({ kind }) => kind === 'organization.suspended')?.by, `uid ${UID}`);
});
