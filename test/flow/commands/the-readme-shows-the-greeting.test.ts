// README.md shows what `npm start` prints: with the shipped configuration, each line of its example is a line of the greeting.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { blocksOf } from '../../support/deploy/pages.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { startInProcess } from '../../support/in-process.ts';

it('README.md shows the greeting of npm start', async () => {
  const [shown] = blocksOf('README.md').filter(({ language }) => language === 'console');
  const wanted = (shown?.text ?? '').trimEnd().split('\n').filter(Boolean);
  assert.ok(wanted.length > 6);
  const environment = { GATEWAY_DATA: temporaryDirectory(), HOST: '127.0.0.1', PORT: '0', ADMIN_PORT: '0' };
  const gateway = await startInProcess(environment);
  await gateway.stop();
  const printed = gateway.stderr
    .replaceAll(`127.0.0.1:${gateway.port}`, 'localhost:8080')
    .replaceAll(`:${gateway.adminPort}`, ':9090')
    .replaceAll(/sk_test_\w+/g, 'sk_test_…')
    .split('\n');
  assert.deepEqual(
    wanted.filter((line) => !printed.includes(line)),
    [],
    gateway.stderr,
  );
});
