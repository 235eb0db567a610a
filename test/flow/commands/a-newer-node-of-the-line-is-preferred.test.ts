// Which Node the wrapper runs: the pinned one, or a newer one of the same major line that the PATH has.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { promisify } from 'node:util';
import { temporaryDirectory } from '../../support/directory.ts';
import { PRINTED, root, wrapAround } from './wrapper.ts';

const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const [major, minor, patch] = dependencies.node.split('.').map(Number) as [number, number, number];

const cases = [
  { found: `v${major}.${minor}.${patch + 1}`, runs: 'other' },
  { found: `v${major}.${minor + 1}.0`, runs: 'other' },
  { found: `v${major}.${minor}.${patch}`, runs: PRINTED },
  { found: `v${major}.${minor - 1}.99`, runs: PRINTED },
  { found: `v${major + 2}.0.0`, runs: PRINTED },
  { found: 'v20.20.2', runs: PRINTED },
  { found: 'nonsense', runs: PRINTED },
];

for (const { found, runs } of cases) {
  it(`${found} on the PATH: ${runs === 'other' ? 'it is run' : 'the pinned Node is run'}`, async () => {
    const directory = temporaryDirectory();
    const wrapper = wrapAround(directory);
    const script = `#!/bin/sh\nif [ "$1" = --version ]; then echo "${found}"; else echo other; fi\n`;
    mkdirSync(join(directory, 'system'));
    writeFileSync(join(directory, 'system/node'), script, { mode: 0o755 });
    // npm puts the pinned Node first.
    const path = [join(root, 'node_modules/.bin'), join(directory, 'system'), '/usr/bin', '/bin'].join(':');
    const { stdout } = await promisify(execFile)(wrapper, [], { env: { PATH: path } });
    assert.equal(stdout.trim(), runs);
  });
}
