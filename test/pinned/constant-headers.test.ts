// Headers of every answer are put into an exchange where it begins: no stage adds them by itself, so that none can forget or repeat them.

import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { it } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));

it('only the listeners and the writer on bare sockets have the constant headers', () => {
  const files = globSync('gateway/**/*.ts', { cwd: root });
  const having = files.filter((file) => /constantHeaders|securityHeadersFor/.test(readFileSync(root + file, 'utf8')));
  assert.deepEqual(having.sort(), [
    'gateway/edge/exchanges.ts',
    'gateway/edge/refusal/unreadable.ts',
    'gateway/edge/security-headers.ts',
    'gateway/edge/server.ts',
    'gateway/serving/rehearsal/rehearse.ts',
    'gateway/wiring/listeners.ts',
    'gateway/wiring/sections/traffic.ts',
  ]);
});
