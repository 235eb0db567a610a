// Every listener of a gateway is opened by one function, which gives each of its connections an `error` listener: without one, a reset
// of a client could end the process.

import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));
/** Opens its ports only to see whether it can, and takes no connection. */
const exempt = join('gateway', 'commands', 'doctor', 'ports.ts');

it('only gateway/edge/connections/listen.ts has a server listen', () => {
  const opening = globSync('gateway/**/*.ts', { cwd: root }).filter((file) =>
    /(?:\bserver|createServer\([^)]*\))\.listen\(/i.test(readFileSync(join(root, file), 'utf8')),
  );
  assert.deepEqual(opening.sort(), [exempt, join('gateway', 'edge', 'connections', 'listen.ts')]);
});
