import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createChargesOf } from '../../../gateway/limits/charges.ts';
import type { LimitRules } from '../../../gateway/limits/limit-rules.ts';
import { applicableCounters, applicableLimits } from '../../../gateway/limits/limit-usage.ts';
import { caller, operation, organization, rule, rules } from './parties.ts';

const acme = organization('org_acme');
const counted = { organization: acme, keys: ['key_1', 'key_2'] };
const listJobs = operation('listJobs');
const createJob = operation('createJob', { extraLimit: 'job-creation' });
const operations = [listJobs, createJob];
const perKey = { ...rule(30, { enforce: false }), per: 'key' } as const;
const perOrganization = { ...rule(5), per: 'organization' } as const;

const told = (table: LimitRules) =>
  applicableLimits(table, operations, counted).map(({ counter, ruleName, key }) => [counter, ruleName, key]);

test('an organization has its own rule, the rule of its tier, or the strictest rule', () => {
  assert.deepEqual(told(rules()), [['rl:{org_acme}:organization', 'tiers.standard', undefined]]);
  assert.equal(told(rules({ organizations: { org_acme: rule(7) } }))[0]?.[1], 'organizations.org_acme');
  assert.equal(told(rules({ tiers: { large: rule(50), small: rule(5) } }))[0]?.[1], 'tiers.small');
  assert.deepEqual(told(rules({ tiers: {} })), []);
});

test('counted per key, there is one limit for each of its keys', () => {
  assert.deepEqual(told(rules({ countPer: 'key' })), [
    ['rl:{org_acme}:key:key_1', 'tiers.standard', 'key_1'],
    ['rl:{org_acme}:key:key_2', 'tiers.standard', 'key_2'],
  ]);
});

test('an extra limit lists its operations, and is left out if it has none', () => {
  const table = rules({
    extra: { heavy: perOrganization, 'job-creation': perKey, unused: perOrganization },
    operations: { listJobs: { extra: 'heavy' } },
  });
  assert.deepEqual(
    applicableLimits(table, operations, counted).map(({ policy, ruleName, key, operations: under }) => [
      policy,
      ruleName,
      key,
      under,
    ]),
    [
      ['organization', 'tiers.standard', undefined, undefined],
      ['heavy', 'extra.heavy', undefined, ['listJobs']],
      ['job-creation', 'extra.job-creation', 'key_1', ['createJob']],
      ['job-creation', 'extra.job-creation', 'key_2', ['createJob']],
    ],
  );
});

test('show and reset use the counters that requests are charged to, for rules of every kind', () => {
  const extra = { 'job-creation': perKey, heavy: perOrganization };
  for (const countPer of ['organization', 'key'] as const) {
    const table = rules({ countPer, extra, operations: { listJobs: { extra: 'heavy' } } });
    const chargesOf = createChargesOf(table);
    const charged = counted.keys.flatMap((key) =>
      operations.flatMap((wanted) => chargesOf(caller(key, acme), wanted, '').charges.map(({ counter }) => counter)),
    );
    const shown = applicableLimits(table, operations, counted).map(({ counter }) => counter);
    assert.deepEqual(new Set(shown), new Set(charged));
    assert.deepEqual(
      charged.filter((name) => !applicableCounters(table, counted).includes(name)),
      [],
    );
  }
});

test('all counters of an organization share its hash tag', () => {
  const table = rules({ extra: { 'job-creation': perKey } });
  const names = applicableCounters(table, counted);
  assert.equal(names.length, new Set(names).size);
  assert.deepEqual(
    names.filter((name) => !name.startsWith('rl:{org_acme}:')),
    [],
  );
});
