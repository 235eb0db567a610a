// The wrapper has Node keep compiled code, beside the packages or in the configured place, and works as well where it cannot be kept. The
// sandbox keeps its code in the same place.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { enableCompileCache, getCompileCacheDir } from 'node:module';
import { dirname, join } from 'node:path';
import { before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { temporaryDirectory } from '../../support/directory.ts';
import { startGateway } from '../../support/gateway.ts';
import { PRINTED, root, wrapAround } from './wrapper.ts';

/** The output of the wrapper in an environment of its own. */
function start(wrapper: string, environment: NodeJS.ProcessEnv, ...words: string[]) {
  const env = { PATH: process.env.PATH, ...environment };
  return promisify(execFile)(wrapper, words, { env, maxBuffer: 1e8 });
}

describe('bin/gateway', () => {
  let directory: string;
  let wrapper: string;
  before(() => {
    directory = temporaryDirectory();
    wrapper = wrapAround(directory);
  });

  it('finds the compiled code that an earlier start kept beside the packages', async () => {
    const own = join(root, 'bin/gateway');
    await start(own, {}, '--version');
    const { stdout, stderr } = await start(own, { NODE_DEBUG_NATIVE: 'COMPILE_CACHE' }, '--version');
    const kept = new RegExp(
      `reading cache from ${join(root, 'node_modules/.cache/compile')}/\\S+ for .*/gateway/main\\.ts`,
    );
    assert.match(`${stdout}${stderr}`, kept);
  });

  it('keeps it in the configured place', async () => {
    const told = join(directory, 'told');
    assert.equal((await start(wrapper, { NODE_COMPILE_CACHE: told })).stdout.trim(), PRINTED);
    assert.equal(readdirSync(told).length, 1);
  });

  it('keeps nothing when this is configured', async () => {
    const { stdout, stderr } = await start(wrapper, { NODE_COMPILE_CACHE: '', NODE_DEBUG_NATIVE: 'COMPILE_CACHE' });
    assert.deepEqual([stdout.trim(), stderr], [PRINTED, '']);
  });

  it('runs where nothing can be written', async () => {
    const file = join(directory, 'file');
    writeFileSync(file, '');
    assert.equal((await start(wrapper, { NODE_COMPILE_CACHE: join(file, 'below') })).stdout.trim(), PRINTED);
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
