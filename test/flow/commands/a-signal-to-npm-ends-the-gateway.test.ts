// `npm start` passes SIGTERM on: what supervises npm ends the gateway, too.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { writeConfiguration } from '../../support/configuration.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { createInstallation } from '../../support/process.ts';
import { thingsAt } from '../../support/things.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

it('npm start drains and ends with the signal that npm gets', async (t) => {
  const directory = temporaryDirectory();
  writeConfiguration(directory, thingsAt('http://127.0.0.1:9'));
  const installation = createInstallation({
    GATEWAY_CONFIG: join(directory, 'config'),
    GATEWAY_CONTRACTS: join(directory, 'openapi'),
  });
  t.after(installation.remove);
  const npm = spawn('npm', ['start', '--silent'], { cwd: root, env: installation.environment });
  let output = '';
  npm.stdout.on('data', (piece: Buffer) => {
    output += piece;
  });
  let greeting = '';
  for await (const piece of npm.stderr) {
    greeting += piece;
    if (/^health .*\n/m.test(greeting)) break;
  }
  assert.match(greeting, /^health /m);
  npm.kill('SIGTERM');
  // The gateway holds the other end of standard output, so the close waits for it.
  await once(npm, 'close');
  assert.match(output, /"msg":"draining"/);
});
