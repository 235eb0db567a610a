import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ANONYMOUS } from '../../../gateway/auth/authenticate.ts';
import { createAuthorize } from '../../../gateway/auth/authorize.ts';
import { ADMINISTRATOR } from '../../../gateway/auth/basic.ts';
import { GatewayError } from '../../../gateway/catalogue/errors.ts';
import type { Caller } from '../../../gateway/exchange/caller.ts';
import type { Identified } from '../../../gateway/exchange/exchange.ts';
import type { Operation } from '../../../gateway/exchange/operation.ts';
import { createScopeRules } from '../../../gateway/shared/contracts/scopes.ts';
import { caller, fakeClock, matched, operation, organization, refusal, START_MS } from './samples.ts';

const clock = fakeClock();
const authorize = createAuthorize({
  scopeRules: createScopeRules(['mail:read', 'mail:write'], true),
  takesTestKeys: ({ upstream }) => upstream === 'platform',
  now: clock.now,
});

function identified(who: Partial<Caller>, what: Partial<Operation> = {}): Identified {
  return { ...matched(), operation: operation(what), caller: caller(who) };
}

function needing(...alternatives: string[][]): Partial<Operation> {
  return { security: alternatives.map((scopes) => ({ scheme: 'apiKey', scopes })) };
}

for (const [scopes, required, allowed] of [
  [['customers:read'], [['customers:read']], true],
  [['customers:write'], [['customers:read']], false],
  [['customers:read'], [['customers:read', 'jobs:read']], false],
  [['customers:read', 'jobs:read'], [['customers:read', 'jobs:read']], true],
  [['jobs:read'], [['customers:read'], ['jobs:read']], true],
  [['vendors:read'], [['customers:read'], ['jobs:read']], false],
  [[], [['customers:read']], false],
  [[], [[]], true],
  [['*'], [['customers:read', 'jobs:write']], true],
  [['*'], [['mail:read']], false],
  [['*'], [['customers:read', 'mail:read']], false],
  [['*', 'mail:read'], [['mail:read']], true],
  [['mail:read'], [['mail:write']], false],
  [['mail:read'], [['customers:read']], false],
] as const) {
  test(`scopes [${scopes}] ${allowed ? 'suffice' : 'do not suffice'} for ${JSON.stringify(required)}`, () => {
    const who = { scopes: new Set(scopes), organization: organization({ operator: true }) };
    const exchange = identified(who, needing(...required.map((all) => [...all])));
    if (allowed) assert.equal(authorize(exchange).permitted, true);
    else assert.throws(() => authorize(exchange), refusal('insufficient_scope'));
  });
}

for (const [scopes, required, operator, allowed] of [
  [['*'], 'gateway:read', false, false],
  [['*'], 'gateway:keys', true, false],
  [['*'], 'gateway:organizations:read', true, false],
  [['gateway:read'], 'gateway:read', false, true],
  [['*', 'gateway:keys'], 'gateway:keys', false, true],
  [['gateway:read'], 'gateway:keys', false, false],
  [['gateway:organizations:read'], 'gateway:organizations:read', false, false],
  [['gateway:organizations:read'], 'gateway:organizations:read', true, true],
  [['gateway:organizations:read'], 'gateway:organizations:write', true, false],
  [['gateway:keys'], 'gateway:keys:write', true, false],
] as const) {
  const who = operator ? 'an operator' : 'an organization';
  test(`[${scopes}] of ${who} ${allowed ? 'suffice' : 'do not suffice'} for ${required}`, () => {
    const exchange = identified(
      { scopes: new Set(scopes), organization: organization({ operator }) },
      needing([required]),
    );
    if (allowed) assert.equal(authorize(exchange).permitted, true);
    else assert.throws(() => authorize(exchange), refusal('insufficient_scope'));
  });
}

test('without the contract of the gateway, scopes with its prefix belong to services', () => {
  const plain = createAuthorize({ scopeRules: createScopeRules([], false), takesTestKeys: () => true, now: clock.now });
  assert.equal(plain(identified({ scopes: new Set(['*']) }, needing(['gateway:write']))).permitted, true);
});

test('an operator scope counts for operator organizations only, however a key came by it', () => {
  const scopes = new Set(['mail:read', 'customers:read']);
  const asks = (...all: string[]) =>
    identified({ scopes, organization: organization({ operator: false }) }, needing(all));
  assert.throws(() => authorize(asks('mail:read')), refusal('insufficient_scope'));
  assert.throws(() => authorize(asks('customers:read', 'mail:read')), refusal('insufficient_scope'));
  assert.equal(authorize(asks('customers:read')).permitted, true);
});

test('insufficient_scope names the scopes of the way in that is nearest', () => {
  const exchange = identified({ scopes: new Set(['b:read']) }, needing(['a:read', 'c:read'], ['b:read', 'b:write']));
  assert.throws(
    () => authorize(exchange),
    (thrown) => {
      assert.ok(thrown instanceof GatewayError);
      assert.deepEqual(thrown.details.fields, { required_scopes: ['b:read', 'b:write'] });
      return true;
    },
  );
});

for (const [what, who, code] of [
  ['a revoked key', { revoked: true }, 'api_key_revoked'],
  ['an expired key', { expiresAtMs: START_MS }, 'api_key_expired'],
  ['a token that expired since it was read', { expiresAtMs: START_MS, issuer: 'web' }, 'token_expired'],
  ['an address that is not listed', { allowsAddress: () => false }, 'ip_not_allowed'],
  ['a suspended organization', { organization: organization({ state: 'suspended' }) }, 'account_inactive'],
] as const) {
  test(`${what}: ${code}, for any scopes`, () => {
    assert.throws(() => authorize(identified({ ...who, scopes: new Set() })), refusal(code));
  });
}

test('the allow-list is compared with the address of the client', () => {
  const asked: string[] = [];
  const exchange = identified({ allowsAddress: (address) => asked.push(address) > 0 });
  authorize(exchange);
  assert.deepEqual(asked, [exchange.clientAddress]);
});

test('expiry is decided anew by each request', () => {
  const exchange = identified({ expiresAtMs: clock.now() + 1000 });
  authorize(exchange);
  clock.advance(1000);
  assert.throws(() => authorize(exchange), refusal('api_key_expired'));
});

test('a test key never passes to an upstream without a test address', () => {
  assert.throws(() => authorize(identified({ mode: 'test' }, { upstream: 'mail' })), refusal('key_mode_mismatch'));
  assert.equal(authorize(identified({ mode: 'test' })).permitted, true);
  assert.equal(authorize(identified({ mode: 'live' }, { upstream: 'mail' })).permitted, true);
});

test('a caller without the scope gets no message about modes', () => {
  const exchange = identified({ mode: 'test', scopes: new Set() }, { upstream: 'mail' });
  assert.throws(() => authorize(exchange), refusal('insufficient_scope'));
});

test('a public operation accepts every caller', () => {
  const exchange = { ...matched(), operation: operation({ security: [] }), caller: ANONYMOUS };
  assert.equal(authorize(exchange).permitted, true);
});

const keyOrBasic: Partial<Operation> = {
  security: [
    { scheme: 'basic', scopes: [] },
    { scheme: 'apiKey', scopes: ['mail:read', 'mail:write'] },
    { scheme: 'apiKey', scopes: ['jobs:read'] },
  ],
};

test('user name and password are let in by their own alternative only', () => {
  assert.equal(authorize(identified(ADMINISTRATOR, keyOrBasic)).permitted, true);
  assert.throws(() => authorize(identified(ADMINISTRATOR, needing([]))), refusal('auth_scheme_unsupported'));
  assert.throws(() => authorize(identified(ADMINISTRATOR, needing(['jobs:read']))), refusal('auth_scheme_unsupported'));
});

test('a key is not let in by the alternative without scopes that is meant for user name and password', () => {
  const every = { scopes: new Set(['*']), organization: organization({ operator: true }) };
  const basicOnly: Partial<Operation> = { security: [{ scheme: 'basic', scopes: [] }] };
  assert.throws(() => authorize(identified(every, basicOnly)), refusal('auth_scheme_unsupported'));
  assert.throws(() => authorize(identified({ scopes: new Set() }, keyOrBasic)), refusal('insufficient_scope'));
  assert.equal(authorize(identified(every, keyOrBasic)).permitted, true);
});

test('a key that lacks scopes gets the scopes of a key, though Basic needs none', () => {
  const exchange = identified({ scopes: new Set(['mail:read']) }, keyOrBasic);
  assert.throws(
    () => authorize(exchange),
    (thrown) => {
      assert.ok(thrown instanceof GatewayError);
      assert.equal(thrown.code, 'insufficient_scope');
      assert.deepEqual(thrown.details.fields, { required_scopes: ['jobs:read'] });
      return true;
    },
  );
});

test('a token without the scopes of its operator has no access to administration', () => {
  const token = { issuer: 'web', scopes: new Set(['*']), organization: organization({ operator: true }) };
  const mail: Partial<Operation> = {
    security: [
      { scheme: 'apiKey', scopes: ['mail:read'] },
      { scheme: 'basic', scopes: [] },
    ],
  };
  assert.throws(() => authorize(identified(token, mail)), refusal('insufficient_scope'));
});
