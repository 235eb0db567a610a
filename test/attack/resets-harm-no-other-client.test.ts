// Clients that leave without a word, against one real process. First the table of known attacks once more: each row with a reset at two of
// five moments, and at each in the full run. A socket without an error listener, or a callback that throws for a connection that
// is gone, ends the process for all clients (a CONNECT and a reset did). Then the fuzzer: random bytes, halves of requests, pipelines,
// upgrades and CONNECTs. After each connection the same process answers a good request; at the end it holds nothing of any of them.

import { after, describe, it } from 'node:test';
import { LIMIT_RUNS } from '../unit/limits/scenarios.ts';
import { createBoundedSiege } from './bounded-siege.ts';
import { allCases } from './cases/all.ts';
import { moments, playResets } from './cases/resets.ts';
import { fuzz, fuzzOptionsOf } from './fuzz/fuzz.ts';

const siege = createBoundedSiege();
after(() => siege.close());

describe('the table of attacks, with a reset', () => {
  for (const [index, moment] of moments.entries()) {
    const cases = allCases.filter((_, row) => LIMIT_RUNS > 1 || (row + index) % moments.length < 2);
    it(moment.name, () => playResets(cases, moment, siege));
  }
});

describe('100 random connections', () => {
  it('leave the gateway unchanged', async (context) => {
    const options = fuzzOptionsOf(100);
    context.diagnostic(`FUZZ_SEED=${options.seed}`);
    await fuzz(siege, options);
  });
});
