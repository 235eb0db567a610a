import assert from 'node:assert/strict';
import { test } from 'node:test';
import { grantedScopes, parseScopes } from '../../../gateway/auth/tokens/token-scopes.ts';

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

const operatorScopes = new Set(['mail:read', 'mail:write']);
const granted = (wanted: string[], scopesMax: string[], operator = false) =>
  [...grantedScopes(wanted, { scopesMax, operatorScopes, operator })].sort();

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

test('operator scopes need all three: named by the token, named by the issuer, an operator organization', () => {
  assert.deepEqual(granted(['mail:write'], ['mail:write'], true), ['mail:write']);
  assert.deepEqual(granted(['mail:write'], ['mail:write'], false), []);
  assert.deepEqual(granted(['mail:write'], ['*'], true), []);
  assert.deepEqual(granted(['*'], ['*', 'mail:write'], true), ['*']);
  assert.deepEqual(granted(['*', 'mail:write'], ['*', 'mail:write', 'mail:read'], true), ['*', 'mail:write']);
});
