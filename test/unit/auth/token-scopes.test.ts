import assert from 'node:assert/strict';
import { test } from 'node:test';
import { grantedScopes, parseScopes } from '../../../gateway/auth/tokens/token-scopes.ts';
import { createScopeRules } from '../../../gateway/shared/contracts/scopes.ts';

for (const [what, claim, scopes] of [
  ['no claim', undefined, []],
  ['an empty text', '', []],
  ['one scope', 'jobs:read', ['jobs:read']],
  ['several in one text', 'jobs:read jobs:write', ['jobs:read', 'jobs:write']],
  ['more blanks than needed', ' jobs:read  jobs:write ', ['jobs:read', 'jobs:write']],
  ['a list', ['jobs:read', '*'], ['jobs:read', '*']],
  ['an empty list', [], []],
  ['null', null, undefined],
  ['a number', 7, undefined],
  ['an object', { jobs: 'read' }, undefined],
  ['a list with something else in it', ['jobs:read', 7], undefined],
  ['a list in a list', [['jobs:read']], undefined],
  ['a list with an empty text', [''], undefined],
  ['a list with two scopes in one text', ['jobs:read jobs:write'], undefined],
  ['other blanks', 'jobs:read\tjobs:write', undefined],
  ['quotation marks', '"*"', undefined],
  ['letters beyond ASCII', 'jöbs:read', undefined],
] as const) {
  test(`${what} as a claim: ${scopes === undefined ? 'malformed' : `[${scopes}]`}`, () => {
    assert.deepEqual(parseScopes(claim), scopes);
  });
}

const scopeRules = createScopeRules(['mail:read', 'mail:write'], true);
const granted = (wanted: string[], scopesMax: string[], operator = false) =>
  [...grantedScopes(wanted, { scopesMax, scopeRules, operator })].sort();

test('a token gets the scopes that it requests, as far as its issuer may grant them', () => {
  assert.deepEqual(granted(['jobs:read', 'plans:read'], ['*']), ['jobs:read', 'plans:read']);
  assert.deepEqual(granted(['jobs:read', 'plans:read'], ['jobs:read', 'jobs:write']), ['jobs:read']);
  assert.deepEqual(granted(['plans:read'], ['jobs:read']), []);
  assert.deepEqual(granted([], ['*']), []);
});

test('a request for everything is granted as everything the issuer may grant', () => {
  assert.deepEqual(granted(['*'], ['*']), ['*']);
  assert.deepEqual(granted(['*'], ['jobs:read', 'plans:read']), ['jobs:read', 'plans:read']);
  assert.deepEqual(granted(['*', 'jobs:write'], ['jobs:read']), ['jobs:read']);
  assert.deepEqual(granted(['*'], []), []);
});

test("scopes of the gateway's own contract are named by the token and by the issuer", () => {
  assert.deepEqual(granted(['gateway:read', 'gateway:keys'], ['*', 'gateway:read']), ['gateway:read']);
  assert.deepEqual(granted(['gateway:read'], ['*']), []);
  assert.deepEqual(granted(['*'], ['*', 'gateway:read', 'gateway:keys']), ['*']);
  assert.deepEqual(granted(['*'], ['gateway:read', 'jobs:read']), ['jobs:read']);
  assert.deepEqual(granted(['gateway:keys:write'], ['gateway:keys:write', '*']), []);
  assert.deepEqual(granted(['gateway:keys:write'], ['gateway:keys:write', '*'], true), ['gateway:keys:write']);
});

test('without that contract, its scopes are like any others', () => {
  const bounds = { scopesMax: ['*'], scopeRules: createScopeRules([], false), operator: false };
  assert.deepEqual([...grantedScopes(['gateway:write', 'gateway:read'], bounds)], ['gateway:write', 'gateway:read']);
});

test('operator scopes need all three: named by the token, named by the issuer, an operator organization', () => {
  assert.deepEqual(granted(['mail:write'], ['mail:write'], true), ['mail:write']);
  assert.deepEqual(granted(['mail:write'], ['mail:write'], false), []);
  assert.deepEqual(granted(['mail:write'], ['*'], true), []);
  assert.deepEqual(granted(['*'], ['*', 'mail:write'], true), ['*']);
  assert.deepEqual(granted(['*', 'mail:write'], ['*', 'mail:write', 'mail:read'], true), ['*', 'mail:write']);
});
