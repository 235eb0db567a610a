// Parts are opened in this order and closed in reverse, which some of them need: the log is flushed last, operators can query it until
// then, requests have ended before the stores that they use are closed, and the data directory is free for the next gateway after all that.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { it } from 'node:test';

const order = [
  ...[
    'configuration',
    'secrets',
    'claim',
    'log',
    'metrics',
    'faults',
    'admin',
    'tracing',
    'live instances',
    'limits',
    'failures',
  ],
  ...[
    'upstream access',
    'sandbox',
    'examples',
    'upstreams',
    'streams',
    'identity',
    'idempotency',
    'version uses',
    'throttle',
  ],
  ...['listeners', 'tunnels', 'overload', 'serving', 'reload'],
];

it('the parts of the gateway are opened in the one order', () => {
  const app = readFileSync(new URL('../../gateway/app.ts', import.meta.url), 'utf8');
  assert.deepEqual(
    [...app.matchAll(/parts\.add\(\{\s*name: '([^']+)'/g)].map((match) => match[1]),
    order,
  );
});
