// The wrapper has Node keep compiled code, beside the packages or in the configured place, and works as well where it cannot be kept. The
// sandbox keeps its code in the same place.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { enableCompileCache, getCompileCacheDir } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { startGateway } from '../../support/gateway.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

/** The output of `bin/gateway --version` in an environment of its own. */
function start(environment: NodeJS.ProcessEnv) {
  const env = { PATH: process.env.PATH, ...environment };
  return promisify(execFile)(join(root, 'bin/gateway'), ['--version'], { env, maxBuffer: 1e8 });
}

describe('bin/gateway', () => {
  let directory: string;
  before(() => {
    directory = mkdtempSync(join(tmpdir(), 'gateway-compiled-'));
  });
  after(() => rmSync(directory, { recursive: true }));

  it('finds the compiled code that an earlier start kept beside the packages', async () => {
    await start({});
    const { stdout, stderr } = await start({ NODE_DEBUG_NATIVE: 'COMPILE_CACHE' });
    const kept = new RegExp(
      `reading cache from ${join(root, 'node_modules/.cache/compile')}/\\S+ for .*/gateway/main\\.ts`,
    );
    assert.match(`${stdout}${stderr}`, kept);
  });

  it('keeps it in the configured place', async () => {
    const told = join(directory, 'told');
    assert.equal((await start({ NODE_COMPILE_CACHE: told })).stdout.trim(), version);
    assert.equal(readdirSync(told).length, 1);
  });

  it('keeps nothing when this is configured', async () => {
    const { stdout, stderr } = await start({ NODE_COMPILE_CACHE: '', NODE_DEBUG_NATIVE: 'COMPILE_CACHE' });
    assert.deepEqual([stdout.trim(), stderr], [version, '']);
  });

  it('runs where nothing can be written', async () => {
    const file = join(directory, 'file');
    writeFileSync(file, '');
    assert.equal((await start({ NODE_COMPILE_CACHE: join(file, 'below') })).stdout.trim(), version);
  });
});

it('the sandbox keeps its compiled code where its gateway does', { skip: process.platform !== 'linux' }, async (t) => {
  // Already on in `npm test`.
  enableCompileCache(join(root, 'node_modules/.cache/compile'));
  const gateway = await startGateway();
  t.after(gateway.stop);
  const { pid } = JSON.parse(readFileSync(join(gateway.dataDirectory, 'sandbox/sandbox.json'), 'utf8'));
  const environment = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
  assert.ok(environment.includes(`NODE_COMPILE_CACHE=${dirname(getCompileCacheDir() ?? '')}`));
});
