// A browser test that is run alone in a fresh copy says what installs its packages.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { temporaryDirectory } from '../../support/directory.ts';

test('a copy without the packages of the browser tests', () => {
  const directory = temporaryDirectory();
  writeFileSync(join(directory, 'package.json'), '{"type":"module"}');
  const copy = join(directory, 'packages.ts');
  copyFileSync(fileURLToPath(new URL('../../browser/packages.ts', import.meta.url)), copy);
  const { status, stderr } = spawnSync(process.execPath, [copy], { encoding: 'utf8' });
  assert.equal(status, 1);
  assert.match(stderr, /The packages of the browser tests are not installed\. Run `npm run pretest:browser` once\./);
});
