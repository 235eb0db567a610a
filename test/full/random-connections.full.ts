// The fuzzer of test/attack/resets-harm-no-other-client.test.ts at length: 10,000 connections against one process, and a fifth as many at
// each listener of a gateway with TLS.

import { after, describe, it } from 'node:test';
import { createBoundedSiege } from '../attack/bounded-siege.ts';
import { fuzz, fuzzOptionsOf } from '../attack/fuzz/fuzz.ts';

describe('10,000 random connections', () => {
  const siege = createBoundedSiege();
  after(() => siege.close());
  it('leave the gateway unchanged', async (context) => {
    const options = fuzzOptionsOf(10_000);
    context.diagnostic(`FUZZ_SEED=${options.seed}`);
    await fuzz(siege, options);
  });
});

describe('random connections to a gateway with TLS', () => {
  const siege = createBoundedSiege({ tls: true });
  after(() => siege.close());
  for (const [door, name] of ['by TLS', 'at the plain listener beside it'].entries()) {
    it(`leave it as it was: ${name}`, async (context) => {
      const options = fuzzOptionsOf(2000);
      context.diagnostic(`FUZZ_SEED=${options.seed}`);
      await fuzz(siege, { ...options, door });
    });
  }
});
