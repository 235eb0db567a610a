// Downloads with curl through the gateway, from the file service of the sandbox with an entry of defaults: a slow one of 50 MB arrives
// whole although it takes longer than `timeoutMs`, and one that broke off is resumed.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { temporaryDirectory } from '../support/directory.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';

const run = promisify(execFile);
const BYTES = 50_000_000;
const TIMEOUT_MS_DEFAULT = 10_000;

const skip = await run('curl', ['--version']).then(
  () => false,
  () => 'this machine has no curl',
);

describe('downloads', { skip }, () => {
  const directory = temporaryDirectory();
  const original = join(directory, 'original');
  let gateway: TestGateway;
  let authorization: string;

  before(async () => {
    writeFileSync(original, randomBytes(BYTES));
    gateway = await startGateway({ upstreams: { files: { contracts: ['files.yaml'], live: 'sandbox:files' } } });
    ({ authorization } = await gateway.authorize());
    await curl('-T', original, '-H', 'Content-Type: application/octet-stream');
  });

  after(async () => {
    await gateway?.stop();
  });

  function curl(...options: string[]) {
    const url = `${gateway.url}/v1/files/large`;
    return run('curl', ['-sS', '--fail', '--max-time', '90', '-H', `Authorization: ${authorization}`, ...options, url]);
  }

  it('50 MB at 3 MB a second arrive whole', async () => {
    const startedAt = performance.now();
    const copy = join(directory, 'slow');
    await curl('--limit-rate', '3M', '-o', copy);
    assert.ok(performance.now() - startedAt > TIMEOUT_MS_DEFAULT, 'it takes longer than the default of timeoutMs');
    assert.ok(readFileSync(copy).equals(readFileSync(original)));
  });

  it('curl -C - resumes a download that broke off', async () => {
    const copy = join(directory, 'resumed');
    writeFileSync(copy, readFileSync(original).subarray(0, 20_000_000));
    const { stdout } = await curl('-C', '-', '-o', copy, '-w', '%{http_code} %{size_download}');
    assert.equal(stdout, `206 ${BYTES - 20_000_000}`);
    assert.ok(readFileSync(copy).equals(readFileSync(original)));
  });
});
