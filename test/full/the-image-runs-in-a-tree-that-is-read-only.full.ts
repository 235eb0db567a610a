// The steps of the Dockerfile run: `deploy/try-image` goes through them, and reports them one by one.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const script = fileURLToPath(new URL('../../deploy/try-image', import.meta.url));

it('the steps of the Dockerfile give a gateway that serves, and ends on SIGTERM', async () => {
  const { stdout } = await promisify(execFile)(script, [], { timeout: 600_000 });
  assert.deepEqual(stdout.trim().split('\n'), [
    'laid out /app, with the packages of production only',
    'nothing of it can be written to',
    'the health check passes',
    'a request is answered with 200',
    'SIGTERM ends it with 0, and the health check fails',
  ]);
});
