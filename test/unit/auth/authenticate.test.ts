import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ANONYMOUS, createAuthenticate } from '../../../gateway/auth/authenticate.ts';
import { ADMINISTRATOR } from '../../../gateway/auth/basic.ts';
import type { GatewayError } from '../../../gateway/catalogue/errors.ts';
import type { Caller } from '../../../gateway/exchange/caller.ts';
import { trailOf } from '../../../gateway/exchange/trail.ts';
import { caller, makeKey, matched, operation, refusal } from './samples.ts';

const key = makeKey();
const known = caller();
const ofToken = caller({ subject: 'user-1', issuer: 'web' });
const asked: string[] = [];
const compared: unknown[] = [];
const withBasic = operation({
  upstream: 'post',
  security: [
    { scheme: 'apiKey', scopes: ['post:read'] },
    { scheme: 'basic', scopes: [] },
  ],
});
const authenticate = createAuthenticate({
  directory: {
    callerOf(presented) {
      asked.push(presented);
      return presented === key ? known : undefined;
    },
  },
  readToken: ({ value }) => (value === 'a token' ? ofToken : undefined),
  matchesBasic(upstream, user, password) {
    compared.push([upstream, user, password]);
    return password === 'right';
  },
});

for (const authorization of [`Bearer ${key}`, `bearer ${key}`, `BEARER ${key}`, `Bearer   ${key}`]) {
  test(`"${authorization.slice(0, 10)}…" is accepted, and without waiting`, () => {
    const exchange = matched(authorization);
    const identified = authenticate(exchange);
    assert.ok(!(identified instanceof Promise));
    assert.equal(identified.caller, known);
    assert.equal(trailOf(exchange.trail).caller, known);
  });
}

for (const [what, authorization, query, code] of [
  ['no header', undefined, '', 'api_key_missing'],
  ['an empty header', '', '', 'api_key_missing'],
  ['an unsuspicious query', undefined, 'task_id=sk_2', 'api_key_missing'],
  ['a key as query parameter', undefined, `limit=5&api_key=${key}`, 'api_key_misplaced'],
  ['a key somewhere in the query', undefined, `q=x${key}y`, 'api_key_misplaced'],
  ['Basic', 'Basic dXNlcjpwYXNz', '', 'auth_scheme_unsupported'],
  ['the key without a scheme', key, '', 'auth_scheme_unsupported'],
  ['a scheme that begins like Bearer', `Bearers ${key}`, '', 'auth_scheme_unsupported'],
  ['Bearer and nothing', 'Bearer', '', 'api_key_malformed'],
  ['Bearer and two keys', `Bearer ${key} ${key}`, '', 'api_key_malformed'],
  ['a token of another kind', 'Bearer aaaa.bbbb.cccc', '', 'api_key_malformed'],
] as const) {
  test(`${what}: ${code}, without a look-up`, () => {
    asked.length = 0;
    assert.throws(() => authenticate(matched(authorization, { query })), refusal(code));
    assert.deepEqual(asked, []);
  });
}

for (const [what, authorization, hint] of [
  ['the key without a scheme', key, 'bearer'],
  ['the key with another scheme', `Token ${key}`, 'bearer'],
  ['half a key', key.slice(0, 30), 'bearer'],
  ['another credential', 'Digest username="admin"', undefined],
] as const) {
  test(`${what}: the refusal ${hint === undefined ? 'names no remedy' : 'says to write "Bearer"'}`, () => {
    const says = (thrown: unknown) => (thrown as GatewayError).details.hint === hint;
    assert.throws(() => authenticate(matched(authorization)), says);
  });
}

test('an operation that accepts no keys does not ask for "Bearer"', () => {
  const basicOnly = operation({ security: [{ scheme: 'basic', scopes: [] }] });
  const says = (thrown: unknown) => (thrown as GatewayError).details.hint === undefined;
  assert.throws(() => authenticate(matched(key, { operation: basicOnly })), says);
});

test('a token is read as a token, and no key is looked up', async () => {
  asked.length = 0;
  assert.equal((await authenticate(matched('Bearer a token'))).caller, ofToken);
  assert.deepEqual(asked, []);
});

test('a well-formed key that does not exist: api_key_invalid', () => {
  assert.throws(() => authenticate(matched(`Bearer ${makeKey()}`)), refusal('api_key_invalid'));
});

test('a public operation has the anonymous caller, for any credentials', () => {
  const exchange = matched('Bearer nonsense', { operation: operation({ security: [] }) });
  const identified = authenticate(exchange);
  assert.ok(!(identified instanceof Promise));
  assert.equal(identified.caller, ANONYMOUS);
  assert.equal(trailOf(exchange.trail).caller, ANONYMOUS);
});

test('a store that has to be waited for is waited for', async () => {
  const answers = new Map<string, Caller>([[key, known]]);
  const directory = { callerOf: async (presented: string) => answers.get(presented) };
  const waiting = createAuthenticate({ directory, readToken: () => undefined, matchesBasic: () => false });
  const identified = await waiting(matched(`Bearer ${key}`));
  assert.equal(identified.caller, known);
  await assert.rejects(async () => waiting(matched(`Bearer ${makeKey()}`)), refusal('api_key_invalid'));
});

const basic = (pair: string) => `Basic ${Buffer.from(pair).toString('base64')}`;

test('user name and password are compared with the credential of the operation’s upstream', () => {
  compared.length = 0;
  const exchange = matched(basic('admin:right'), { operation: withBasic });
  const identified = authenticate(exchange);
  assert.ok(!(identified instanceof Promise));
  assert.equal(identified.caller, ADMINISTRATOR);
  assert.equal(trailOf(exchange.trail).caller, ADMINISTRATOR);
  assert.deepEqual(compared, [['post', 'admin', 'right']]);
});

test('wrong ones are refused, and no caller is noted', () => {
  const exchange = matched(basic('admin:wrong'), { operation: withBasic });
  assert.throws(() => authenticate(exchange), refusal('basic_credentials_invalid'));
  assert.equal(trailOf(exchange.trail).caller, undefined);
});

test('where Basic is not accepted nothing is compared, however right it is', () => {
  compared.length = 0;
  assert.throws(() => authenticate(matched(basic('admin:right'))), refusal('auth_scheme_unsupported'));
  assert.deepEqual(compared, []);
});

test('where Basic is accepted, keys, tokens and their refusals work as elsewhere', async () => {
  const call = (authorization?: string) => authenticate(matched(authorization, { operation: withBasic }));
  assert.equal((await call(`Bearer ${key}`)).caller, known);
  assert.equal((await call('Bearer a token')).caller, ofToken);
  assert.throws(() => call(`Bearer ${makeKey()}`), refusal('api_key_invalid'));
  assert.throws(() => call('Digest username="admin"'), refusal('auth_scheme_unsupported'));
  assert.throws(() => call(), refusal('api_key_missing'));
});

test('a 401 of an operation that accepts Basic has its challenge, whether it is thrown at once or after a look-up', async () => {
  const says = (basic: string | undefined) => (thrown: unknown) => (thrown as GatewayError).details.basic === basic;
  const waiting = createAuthenticate({
    directory: { callerOf: () => Promise.resolve(undefined) },
    readToken: () => undefined,
    matchesBasic: () => false,
  });
  assert.throws(() => authenticate(matched(undefined, { operation: withBasic })), says('also'));
  await assert.rejects(async () => waiting(matched(`Bearer ${makeKey()}`, { operation: withBasic })), says('also'));
  assert.throws(() => authenticate(matched()), says(undefined));
});
