import assert from 'node:assert/strict';
import { test } from 'node:test';
import { longestLengthened } from '../../../gateway/serving/changed-limits.ts';

const rule = (windowSeconds: number) => ({ requests: 1, windowSeconds, enforce: true });
const rules = (tiers: Record<string, ReturnType<typeof rule>>, organizations = {}) => ({
  tiers,
  extra: {},
  organizations,
});

test('the longest of the windows that are longer than before, or new', () => {
  const before = rules({ standard: rule(10), premium: rule(3600) });
  assert.equal(longestLengthened(before, before), undefined);
  assert.equal(longestLengthened(before, rules({ standard: rule(5), premium: rule(3600) })), undefined);
  assert.equal(longestLengthened(before, rules({ standard: rule(60), premium: rule(3600) })), 60_000);
  assert.equal(longestLengthened(before, rules(before.tiers, { org_a: rule(120) })), 120_000);
});
