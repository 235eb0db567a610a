// Which Node the wrapper runs: the pinned one, or a newer one of the same major line that the PATH has.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { temporaryDirectory } from '../../unit/auth/samples.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const { version, dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const [major, minor, patch] = dependencies.node.split('.').map(Number) as [number, number, number];

const cases = [
  { found: `v${major}.${minor}.${patch + 1}`, runs: 'other' },
  { found: `v${major}.${minor + 1}.0`, runs: 'other' },
  { found: `v${major}.${minor}.${patch}`, runs: version },
  { found: `v${major}.${minor - 1}.99`, runs: version },
  { found: `v${major + 2}.0.0`, runs: version },
  { found: 'v20.20.2', runs: version },
  { found: 'nonsense', runs: version },
];

for (const { found, runs } of cases) {
  it(`${found} on the PATH: ${runs === 'other' ? 'it is run' : 'the pinned Node is run'}`, async (t) => {
    const directory = temporaryDirectory(t);
    const script = `#!/bin/sh\nif [ "$1" = --version ]; then echo "${found}"; else echo other; fi\n`;
    writeFileSync(join(directory, 'node'), script, { mode: 0o755 });
    // npm puts the pinned Node first.
    const path = [join(root, 'node_modules/.bin'), directory, '/usr/bin', '/bin'].join(':');
    const { stdout } = await promisify(execFile)(join(root, 'bin/gateway'), ['--version'], { env: { PATH: path } });
    assert.equal(stdout.trim(), runs);
  });
}
