import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createChargesOf } from '../../../gateway/limits/charges.ts';
import { type LimitRules, ruleOf } from '../../../gateway/limits/limit-rules.ts';
import { caller, operation, organization, rule, rules } from './parties.ts';

const acme = organization('org_acme');
const anonymous = caller('anonymous', undefined);
const listJobs = operation('listJobs');
const createJob = operation('createJob', { extraLimit: 'job-creation', cost: 2 });

function countersOf(table: LimitRules, by = caller('key_1', acme), wanted = listJobs, address = '192.0.2.1'): string[] {
  return createChargesOf(table)(by, wanted, address).charges.map(({ counter }) => counter);
}

test('an organization is counted under its tier, live and test keys together', () => {
  const chargesOf = createChargesOf(rules());
  const live = chargesOf(caller('key_1', acme), listJobs, '192.0.2.1').charges;
  const trial = chargesOf(caller('key_2', acme, 'test'), listJobs, '192.0.2.1').charges;
  assert.deepEqual(live, trial);
  assert.deepEqual(live, [
    {
      counter: 'rl:{org_acme}:organization',
      policy: 'organization',
      requests: 100,
      windowSeconds: 60,
      windowMs: 60_000,
      cost: 1,
      enforce: true,
    },
  ]);
});

test('an organization with its own rule is counted by this rule', () => {
  const table = rules({ organizations: { org_acme: rule(5000) } });
  assert.equal(createChargesOf(table)(caller('key_1', acme), listJobs, '').charges[0]?.requests, 5000);
});

test('an organization of a tier that the rules do not know gets the strictest one', () => {
  const table = rules({ tiers: { fast: rule(10, { windowSeconds: 1 }), slow: rule(60), large: rule(1000) } });
  const lost = caller('key_1', organization('org_lost', 'gone'));
  assert.equal(createChargesOf(table)(lost, listJobs, '').charges[0]?.requests, 60);
});

test('counted per key, each key has its own counter and the policy is called key', () => {
  const [only] = createChargesOf(rules({ countPer: 'key' }))(caller('key_1', acme), listJobs, '').charges;
  assert.deepEqual([only?.counter, only?.policy], ['rl:{org_acme}:key:key_1', 'key']);
});

test('counted per key, a token counts by its issuer and subject, and never as the key of that name', () => {
  const table = rules({ countPer: 'key', extra: { 'job-creation': { ...rule(30), per: 'key' } } });
  const ofToken = (issuer: string) => ({ ...caller('key_1', acme), issuer });
  assert.deepEqual(countersOf(table, ofToken('web'), createJob), [
    'rl:{org_acme}:key:web/key_1',
    'rl:{org_acme}:extra:job-creation:key:web/key_1',
  ]);
  assert.deepEqual(countersOf(table, ofToken('desktop')), ['rl:{org_acme}:key:desktop/key_1']);
});

test('the extra limit of an operation comes second, per organization or per key', () => {
  const extra = (per: 'organization' | 'key') => rules({ extra: { 'job-creation': { ...rule(30), per } } });
  const by = caller('key_1', acme);
  assert.deepEqual(countersOf(extra('organization'), by, createJob), [
    'rl:{org_acme}:organization',
    'rl:{org_acme}:extra:job-creation',
  ]);
  assert.equal(countersOf(extra('key'), by, createJob)[1], 'rl:{org_acme}:extra:job-creation:key:key_1');
  const { charges, texts } = createChargesOf(extra('key'))(by, createJob, '');
  assert.deepEqual(
    charges.map(({ cost }) => cost),
    [2, 2],
  );
  assert.equal(texts.policies, '"organization";q=100;w=60, "job-creation";q=30;w=60');
});

test('limits.yaml overrides the contract of an operation', () => {
  const table = rules({
    extra: { 'job-creation': { ...rule(30), per: 'key' }, heavy: { ...rule(5), per: 'organization' } },
    operations: { createJob: { extra: 'heavy', cost: 7 } },
  });
  const { charges } = createChargesOf(table)(caller('key_1', acme), createJob, '');
  assert.deepEqual(
    charges.map(({ policy, cost }) => [policy, cost]),
    [
      ['organization', 7],
      ['heavy', 7],
    ],
  );
});

test('a shadow limit is charged but not announced', () => {
  const table = rules({ extra: { 'job-creation': { ...rule(30, { enforce: false }), per: 'key' } } });
  const { charges, texts } = createChargesOf(table)(caller('key_1', acme), createJob, '');
  assert.deepEqual(
    charges.map(({ enforce }) => enforce),
    [true, false],
  );
  assert.equal(texts.policies, '"organization";q=100;w=60');
});

test('anonymous clients are counted per address if there is a tier for them, otherwise they are not counted', () => {
  assert.deepEqual(countersOf(rules(), anonymous), []);
  const table = rules({ tiers: { anonymous: rule(20) } });
  assert.deepEqual(countersOf(table, anonymous, listJobs, '192.0.2.7'), ['rl:{address:192.0.2.7}:address']);
  const [one, other] = ['2001:db8:0:1::a', '2001:db8:0:1:ffff::b'].map((from) =>
    countersOf(table, anonymous, listJobs, from),
  );
  assert.deepEqual(one, other);
});

test('an organization of an unknown tier is never counted under the tier for addresses', () => {
  const table = rules({ tiers: { standard: rule(100), anonymous: rule(1) } });
  assert.equal(ruleOf(table, { ...acme, tier: 'gone' })?.name, 'tiers.standard');
});

test('an extra limit on a public operation counts per address', () => {
  const table = rules({ extra: { 'job-creation': { ...rule(30), per: 'key' } } });
  assert.deepEqual(countersOf(table, anonymous, createJob), ['rl:{address:192.0.2.1}:extra:job-creation']);
});

test('an extra limit that the rules do not have is a mistake, not a free pass', () => {
  assert.throws(() => countersOf(rules(), caller('key_1', acme), createJob), /no extra limit "job-creation"/);
});

test('counters are resolved once per caller for all operations that are counted alike', () => {
  const chargesOf = createChargesOf(rules());
  const by = caller('key_1', acme);
  assert.equal(chargesOf(by, listJobs, ''), chargesOf(by, operation('listCustomers'), ''));
  assert.notEqual(chargesOf(by, listJobs, ''), chargesOf(by, operation('export', { cost: 3 }), ''));
});

test('counters are resolved once per block of addresses, and kept for the latest blocks', () => {
  const chargesOf = createChargesOf(rules({ tiers: { anonymous: rule(5) } }));
  const of = (address: string) => chargesOf(anonymous, listJobs, address);
  const first = of('2001:db8:0:1::a');
  assert.equal(of('2001:db8:0:1:ffff::b'), first);
  assert.notEqual(of('2001:db8:0:2::a'), first);
  assert.notEqual(chargesOf(anonymous, operation('export', { cost: 3 }), '2001:db8:0:1::a'), first);
  for (let host = 0; host < 1900; host += 1) of(`10.0.${host >> 8}.${host & 255}`);
  assert.equal(of('2001:db8:0:1::a'), first);
  for (let host = 0; host < 2000; host += 1) of(`10.1.${host >> 8}.${host & 255}`);
  const again = of('2001:db8:0:1::a');
  assert.notEqual(again, first);
  assert.deepEqual(again.charges, first.charges);
});

test('callers under the same rules share texts, and a rule that also counts addresses has a text for each', () => {
  const chargesOf = createChargesOf(rules({ tiers: { anonymous: rule(5) } }));
  const [one, other] = ['org_one', 'org_other'].map((id) =>
    chargesOf(caller(id, organization(id, 'anonymous')), listJobs, ''),
  );
  assert.equal(one?.texts, other?.texts);
  assert.equal(one?.texts.policies, '"organization";q=5;w=60');
  assert.equal(chargesOf(anonymous, listJobs, '192.0.2.1').texts.policies, '"address";q=5;w=60');
  assert.notEqual(one?.charges[0]?.counter, other?.charges[0]?.counter);
});
