// SIGHUP: the way in which service managers reload the configuration.

import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, it } from 'node:test';
import { writeConfiguration } from '../../support/gateway.ts';
import { createInstallation, type Running } from '../../support/process.ts';
import { thingsAt } from '../../support/things.ts';
import { inForce, until } from './files.ts';

const directory = mkdtempSync(join(tmpdir(), 'gateway-sighup-'));
const installation = createInstallation({
  GATEWAY_CONFIG: join(directory, 'config'),
  GATEWAY_CONTRACTS: join(directory, 'openapi'),
});
const options = thingsAt('http://127.0.0.1:9');
const reloadsRequested = () => gateway.output().split('configuration reload requested').length - 1;
after(() => {
  installation.remove();
  rmSync(directory, { recursive: true });
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

it('SIGHUP has the files loaded anew, good or bad, and the gateway goes on', async () => {
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
  assert.equal(await gateway.stop(), 0);
});
