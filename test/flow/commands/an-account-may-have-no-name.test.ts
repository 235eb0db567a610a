// Containers often run under an account that the password file does not list: commands run, and the audit log names the account by number.

import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { chmodSync } from 'node:fs';
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
  chmodSync(directory, 0o777);
  // The tier is looked up in the configuration: a small one, because this account finds no compiled code of an earlier start.
  writeConfiguration(directory, thingsAt('http://127.0.0.1:9'));
  const env = {
    PATH: process.env.PATH,
    GATEWAY_DATA: `${directory}/data`,
    ...environmentOf(directory),
  };
  const gateway = (...words: string[]) => promisify(execFile)(`${root}/bin/gateway`, words, { env, uid: UID });
  await gateway('orgs', 'create', '--name', 'Acme', '--tier', 'standard');
  const [change] = JSON.parse((await runInProcess(['audit', '--json'], { environment: env })).stdout);
  assert.equal(change.by, `uid ${UID}`);
});
