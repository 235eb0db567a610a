// `gateway audit | head`: a reader that stops early does not make the command fail.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createInstallation } from '../../support/process.ts';

const executable = fileURLToPath(new URL('../../../bin/gateway', import.meta.url));
const installation = createInstallation();
before(async () => {
  // More than a pipe holds.
  assert.equal((await installation.run('seed', '--organizations', '1000', '--tier', 'standard')).code, 0);
});
after(() => installation.remove());

for (const command of ['keys list', 'orgs list --json']) {
  test(`${command} ends quietly`, async () => {
    const line = `${executable} ${command} | head -c 100`;
    const { stdout, stderr } = await promisify(execFile)('sh', ['-c', line], { env: installation.environment });
    assert.equal(stdout.length, 100);
    assert.equal(stderr, '');
  });
}

test('output that cannot be written is one sentence and a failure', async () => {
  const line = `${executable} keys list > /dev/full`;
  await assert.rejects(
    promisify(execFile)('sh', ['-c', line], { env: installation.environment }),
    ({ code, stderr }: { code: number; stderr: string }) =>
      code === 1 && stderr === 'gateway: The output cannot be written (ENOSPC).\n',
  );
});
