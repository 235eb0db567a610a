// Commands that cannot write their output file say so in one sentence with its name.

import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { createInstallation } from '../../support/process.ts';

const { run, remove, dataDirectory } = createInstallation();
after(remove);

test('contract bundle and versions usage name the file that they cannot write', async () => {
  mkdirSync(dataDirectory, { recursive: true });
  const file = join(dataDirectory, 'file');
  writeFileSync(file, '');
  const bundled = await run('contract', 'bundle', '--name', 'v1', '-o', join(file, 'v1.json'));
  await run('orgs', 'create', '--name', 'Acme', '--tier', 'standard');
  const noticed = await run('versions', 'usage', '--notices', file, '--from', 'api@example.com');
  assert.deepEqual(
    [bundled.code, bundled.stderr, noticed.code, noticed.stderr],
    [
      1,
      `gateway: ${file}/v1.json cannot be read or written (ENOTDIR).\n`,
      1,
      `gateway: ${file} cannot be read or written (EEXIST).\n`,
    ],
  );
});
