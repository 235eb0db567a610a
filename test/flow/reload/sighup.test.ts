// SIGHUP: the way in which service managers reload the configuration. In the end, an uncaught exception: one line about it, everything
// logged before it written, and an end with code 1.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { after, it } from 'node:test';
import { environmentOf, writeConfiguration } from '../../support/configuration.ts';
import { ask, requestOf } from '../../support/connection.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { createInstallation, type Running } from '../../support/process.ts';
import { thingsAt } from '../../support/things.ts';
import { fatalLinesOf, throwsOnSignals } from '../workers/uncaught.ts';
import { inForce, until } from './files.ts';

const directory = temporaryDirectory();
const installation = createInstallation({
  ...environmentOf(directory),
  ...throwsOnSignals,
});
const options = thingsAt('http://127.0.0.1:9');
const reloadsRequested = () => gateway.output().split('configuration reload requested').length - 1;
after(() => {
  installation.remove();
});

let gateway: Running;

it('SIGHUP while the gateway starts does not end it: the files are loaded anew once it serves', async () => {
  writeConfiguration(directory, options);
  gateway = await installation.start(async (child) => {
    // Made as soon as the configuration has been read, long before the gateway listens.
    await until(() => existsSync(installation.dataDirectory));
    child.kill('SIGHUP');
  });
  await until(() => reloadsRequested() === 1);
});

it('SIGHUP loads the files again, valid or not, and the gateway continues', async () => {
  const adminUrl = `http://127.0.0.1:${gateway.adminPort}`;
  const { version } = await inForce({ adminUrl });
  writeConfiguration(directory, { ...options, limits: { tiers: { standard: { requests: 1 } } } });
  gateway.child.kill('SIGHUP');
  await until(async () => (await inForce({ adminUrl })).version !== version);
  writeConfiguration(directory, { ...options, limits: { tiers: {}, nonsense: true } });
  gateway.child.kill('SIGHUP');
  await until(async () => (await inForce({ adminUrl })).last_failure !== null);
  assert.equal((await fetch(`${adminUrl}/readyz`)).status, 200);
  await until(() => reloadsRequested() === 3);
});

it('an uncaught exception ends the process with 1, after one line about it and all lines before it', async () => {
  const ended = once(gateway.child, 'close');
  const { status } = await ask(gateway.port, requestOf('GET /v1/nothing'));
  assert.equal(status, 404);
  gateway.child.kill('SIGWINCH');
  assert.deepEqual(await ended, [1, null]);
  assert.deepEqual(
    fatalLinesOf(gateway).map(({ err }) => err?.message),
    ['thrown for a test'],
  );
  assert.match(gateway.standardOutput(), /"status":404/, 'buffered lines are written');
});
