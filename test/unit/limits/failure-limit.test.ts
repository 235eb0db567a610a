import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FailureLimit } from '../../../gateway/limits/addresses/failure-limit.ts';

const settings = { name: 'address', rules: () => ({ failures: 3, windowSeconds: 60 }), now: () => 0 };

test('a flood of addresses does not grow memory without end', async () => {
  const failures = new FailureLimit({ ...settings, addressesMax: 1_000 });
  for (let block = 0; block < 5_000; block += 1) await failures.countFailure(`2001:db8:${block.toString(16)}::1`);
  assert.equal(failures.size(), 1_000);
});

test('addresses are forgotten once their window has ended', async () => {
  let nowMs = 1_795_190_400_000;
  const failures = new FailureLimit({ ...settings, now: () => nowMs });
  for (const address of ['192.0.2.1', '192.0.2.1', '192.0.2.1', '192.0.2.2']) await failures.countFailure(address);
  nowMs += 60_000;
  await failures.countFailure('192.0.2.3');
  assert.equal(failures.size(), 1);
});
