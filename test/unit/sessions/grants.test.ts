// What the claims of a person mean: organization and scopes, by claims of any shape.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { keptClaims, organizationClaimed, scopesIn } from '../../../gateway/sessions/grants.ts';

const grants = [
  { claim: undefined, value: undefined, scopes: ['jobs:read'] },
  { claim: ['roles'], value: 'admin', scopes: ['jobs:write'] },
  { claim: ['realm_access', 'roles'], value: 'sales', scopes: ['customers:read'] },
  { claim: ['verified'], value: undefined, scopes: ['invoices:read'] },
];
const scopes = (claims: Record<string, unknown>) => [...scopesIn(claims, { grants })].sort();

it('scopes follow from values, alone, in a list, in a text with spaces, and inside of other claims', () => {
  assert.deepEqual(scopes({}), ['jobs:read']);
  assert.deepEqual(scopes({ roles: 'admin' }), ['jobs:read', 'jobs:write']);
  assert.deepEqual(scopes({ roles: ['user', 'admin'] }), ['jobs:read', 'jobs:write']);
  assert.deepEqual(scopes({ roles: 'user admin' }), ['jobs:read', 'jobs:write']);
  assert.deepEqual(scopes({ realm_access: { roles: ['sales'] } }), ['customers:read', 'jobs:read']);
  assert.deepEqual(scopes({ verified: true }), ['invoices:read', 'jobs:read']);
});

it('no scope follows from a similar claim', () => {
  for (const roles of ['administrator', ['Admin'], { admin: true }, [['admin']], null, 7, ['admin ', ' admin']])
    assert.deepEqual(scopes({ roles }), ['jobs:read'], JSON.stringify(roles));
  assert.deepEqual(scopes({ verified: false }), ['jobs:read']);
  assert.deepEqual(scopes({ realm_access: 'sales' }), ['jobs:read']);
});

it('names of inherited members are no claims', () => {
  const inherited = [{ claim: ['constructor'], value: undefined, scopes: ['jobs:write'] }];
  assert.deepEqual([...scopesIn({}, { grants: inherited })], []);
  assert.equal(organizationClaimed({}, { organization: { claim: ['constructor', 'name'] } }), undefined);
  assert.equal(organizationClaimed({ org: 'toString' }, { organization: { claim: ['org'], names: {} } }), undefined);
});

it('the organization is a text, or a list of one, translated where names are given', () => {
  const organization = { claim: ['org'], names: { 'Acme Ltd': 'org_acme' } };
  assert.equal(organizationClaimed({ org: 'Acme Ltd' }, { organization }), 'org_acme');
  assert.equal(organizationClaimed({ org: 'org_acme' }, { organization }), undefined);
  assert.equal(organizationClaimed({ org: 'org_acme' }, { organization: { claim: ['org'] } }), 'org_acme');
  assert.equal(organizationClaimed({}, { organization: { id: 'org_all' } }), 'org_all');
  assert.equal(organizationClaimed({ org: ['Acme Ltd'] }, { organization }), 'org_acme');
  for (const org of ['', 7, [], ['org_acme', 'org_other'], [['org_acme']], { 0: 'org_acme' }, null, 'x'.repeat(256)])
    assert.equal(organizationClaimed({ org }, { organization: { claim: ['org'] } }), undefined);
});

it('a session keeps the claims that the rules look at, and no other', () => {
  const claims = {
    org: 'org_acme',
    roles: ['admin'],
    realm_access: { roles: [] },
    name: 'Ada',
    at_hash: 'x',
    aud: 'gateway',
  };
  const kept = keptClaims(claims, { organization: { claim: ['org'] }, grants });
  assert.deepEqual(Object.keys(kept).sort(), ['name', 'org', 'realm_access', 'roles']);
});
