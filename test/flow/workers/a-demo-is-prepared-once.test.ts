// On the sandbox, several workers start one of it, fill it once, and issue one key, which every one of them accepts. All of them end with
// the process that holds them, here after an uncaught exception.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, it } from 'node:test';
import { writeConfiguration } from '../../support/configuration.ts';
import { ask, requestOf } from '../../support/connection.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { createInstallation } from '../../support/process.ts';
import { startRedis } from '../../support/redis.ts';
import { eventually, isAlive } from './several.ts';
import { fatalLinesOf, throwsOnSignals } from './uncaught.ts';

const directory = temporaryDirectory();
const redis = await startRedis();
const installation = createInstallation({
  GATEWAY_CONFIG: join(directory, 'config'),
  REDIS_URL: redis.url,
  WORKERS: '2',
  ...throwsOnSignals,
});
after(async () => {
  await redis.stop();
  installation.remove();
});

it('the line that is printed works with every worker; an uncaught exception ends the primary with 1, its workers, and then the sandbox', async () => {
  // One contract is enough: each worker compiles what it serves.
  const upstreams = {
    platform: { contracts: ['v1/customers.yaml'], live: 'sandbox:platform', test: 'sandbox:platform' },
  };
  writeConfiguration(directory, { upstreams });
  const gateway = await installation.start();
  const lines = gateway.output().match(/curl [^\n]*/g) ?? [];
  assert.equal(lines.length, 1);
  const key = /sk_test_\w+/.exec(lines[0] ?? '')?.[0];
  // New connections come to either worker.
  for (let count = 0; count < 4; count += 1) {
    const answer = await ask(gateway.port, requestOf('GET /v1/customers?limit=3', { Authorization: `Bearer ${key}` }));
    const { data } = JSON.parse(answer.body.toString()) as { data: unknown[] };
    assert.deepEqual([answer.status, data.length], [200, 3]);
  }
  const announced = readFileSync(join(installation.dataDirectory, 'sandbox', 'sandbox.json'), 'utf8');
  const { pid } = JSON.parse(announced) as { pid: number };
  assert.ok(isAlive(pid));
  const ended = new Promise((resolve) => gateway.child.once('close', resolve));
  gateway.child.kill('SIGWINCH');
  // Its output is closed when the workers, who share it, are gone.
  assert.equal(await ended, 1);
  assert.deepEqual(
    fatalLinesOf(gateway).map(({ err }) => err?.message),
    ['thrown for a test'],
  );
  await eventually(() => !isAlive(pid));
});
