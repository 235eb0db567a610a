// A seed decides everything: two processes that run it have the same trace.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { LIMIT_RUNS } from '../unit/limits/scenarios.ts';
import { PROTOCOLS } from './protocols/all.ts';
import { simulate } from './run.ts';
import { seedText } from './seed.ts';

const run = promisify(execFile);
const script = fileURLToPath(new URL('./simulate.ts', import.meta.url));
const HOURS = 0.05;

/** `npm test` tries those that use every part of the engine between them; `npm run test:full` all. */
const tried = LIMIT_RUNS > 1 ? PROTOCOLS : PROTOCOLS.filter(({ name }) => name === 'keys' || name === 'sessions');

for (const protocol of tried) {
  it(`${protocol.name}: another process has the same hash`, async () => {
    const spec = { protocol, seed: '7', hours: HOURS, hasCalm: false };
    const { hash } = await simulate(spec);
    const { stdout } = await run(process.execPath, [
      '--disable-warning=ExperimentalWarning',
      script,
      '--seed',
      seedText(spec),
      '--no-calm',
    ]);
    assert.equal(/^hash of the trace: (\w+)$/m.exec(stdout)?.[1], hash);
    const other = await simulate({ ...spec, seed: '8' });
    assert.notEqual(other.hash, hash);
  });
}
