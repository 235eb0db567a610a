import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lowersLimit } from '../../../gateway/console/causes/lowered-limits.ts';

const ORGANIZATION = { organization: 'org_a', tier: 'standard', policy: 'organization', limit: 50 };

test('the suspect of refusals is a change that lowers a limit of this organization', () => {
  const suspects = [
    'tiers.standard.requests: 100 → 50',
    'tiers.standard.windowSeconds: – → 120',
    'tiers.standard.enforce: false → –',
    'organizations.org_a.requests: 900 → 50',
    'organizations.org_a: – → {"requests":50}',
    'organizations.org_a: {"requests":900} → –',
    'operations.listThings.cost: – → 3',
  ];
  for (const change of suspects) assert.equal(lowersLimit(change, ORGANIZATION), true, change);
  const others = [
    'tiers.premium.requests: 50000 → 50',
    'tiers.standard.requests: 20 → 50',
    'tiers.standard.windowSeconds: 120 → 60',
    'tiers.standard.openStreams: 10 → 5',
    'tiers.standard-plus.requests: 100 → 50',
    'organizations.org_b.requests: 100 → 50',
    'organizations.org_a: {"requests":5} → –',
    'operations.listThings.cost: 3 → 1',
    'operations.createJob.extra: – → job-creation',
    'extra.job-creation.requests: 30 → 3',
    'whenStoreIsAway: local → refuse',
    'and 3 more',
  ];
  for (const change of others) assert.equal(lowersLimit(change, ORGANIZATION), false, change);
});

test('the suspect of refusals by another limit is a change of that limit', () => {
  const job = { ...ORGANIZATION, policy: 'job-creation' };
  for (const change of [
    'extra.job-creation.requests: 30 → 3',
    'operations.createJob.extra: – → job-creation',
    'operations.createJob: – → {"extra":"job-creation","cost":1}',
  ])
    assert.equal(lowersLimit(change, job), true, change);
  assert.equal(lowersLimit('tiers.standard.requests: 100 → 50', job), false);
  assert.equal(lowersLimit('tiers.anonymous.requests: 60 → 6', { ...ORGANIZATION, policy: 'address' }), true);
  assert.equal(lowersLimit('persons.requests: 600 → 6', { ...ORGANIZATION, policy: 'person' }), true);
});
