import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { createIssuers, type IssuerSettings } from '../../../gateway/auth/tokens/issuers.ts';
import { createTokenReader } from '../../../gateway/auth/tokens/token-reader.ts';
import { GatewayError } from '../../../gateway/catalogue/errors.ts';
import type { Organization } from '../../../gateway/exchange/caller.ts';
import type { Awaitable } from '../../../gateway/shared/awaitable.ts';
import { createScopeRules } from '../../../gateway/shared/contracts/scopes.ts';
import { AUDIENCE, startIssuer, type TestIssuer } from '../../support/issuer.ts';
import { fakeClock, hinted, makeKey, organization, refusal, until } from './samples.ts';

const rules = createScopeRules(['mail:write'], true);

const settingsOf = ({ iss, entry }: TestIssuer, other: Partial<IssuerSettings> = {}): IssuerSettings => ({
  issuer: iss,
  jwksUrl: entry.jwksUrl,
  audience: AUDIENCE,
  algorithms: ['EdDSA'],
  claims: { organization: 'org', scopes: 'scope' },
  mode: 'live',
  scopesMax: ['*'],
  clockToleranceSeconds: 30,
  refreshSeconds: 300,
  ...other,
});

/** A reader with two issuers, and the organizations it finds. */
async function start(test: TestContext, other: Partial<IssuerSettings> = {}, cacheMax = 100) {
  const clock = fakeClock();
  const [issuer, second] = [await startIssuer(clock.now), await startIssuer(clock.now)];
  const organizations = new Map<string, Awaitable<Organization | undefined>>();
  organizations.set('org_test', organization({ id: 'org_test' }));
  const issuers = createIssuers({
    issuers: { web: settingsOf(issuer, other), desktop: settingsOf(second) },
    now: clock.now,
    onHealth: () => undefined,
    tickMs: 2,
  });
  for (const close of [issuers.close, issuer.close, second.close]) test.after(close);
  const directory = { organizationOf: (id: string) => organizations.get(id) };
  const scopeRules = () => rules;
  const reader = createTokenReader({ issuers, directory, scopeRules, cacheMax, now: clock.now });
  await issuers.ready();
  const read = async (token: string) => reader.readToken({ scheme: 'bearer', value: token });
  return { clock, issuer, second, issuers, organizations, reader, read };
}

test('a token is read as its caller', async (t) => {
  const { issuer, organizations, clock, read } = await start(t, { mode: 'test' });
  const caller = await read(issuer.sign({ scope: 'jobs:read' }));
  assert.deepEqual(
    { ...caller, memory: undefined },
    {
      subject: 'user-1',
      scheme: 'apiKey',
      issuer: 'web',
      organization: organizations.get('org_test'),
      mode: 'test',
      scopes: new Set(['jobs:read']),
      revoked: false,
      expiresAtMs: clock.now() + 3_630_000,
      allowsAddress: undefined,
      memory: undefined,
    },
  );
});

test('a known token is read without waiting, as the same caller', async (t) => {
  const { issuer, reader, read } = await start(t);
  const token = issuer.sign();
  const first = await read(token);
  assert.equal(reader.readToken({ scheme: 'bearer', value: token }), first);
  assert.notEqual(await read(issuer.sign({ jti: 'another' })), first);
});

test('the same token at once is one caller', async (t) => {
  const { issuer, reader, read } = await start(t);
  const token = issuer.sign();
  const callers = await Promise.all(Array.from({ length: 20 }, () => read(token)));
  assert.deepEqual([new Set(callers).size, reader.size()], [1, 1]);
});

test('a string that is no token is left to other readers', async (t) => {
  const { reader, issuer } = await start(t);
  for (const [scheme, value] of [
    ['bearer', makeKey()],
    ['bearer', ''],
    ['bearer', `${makeKey()}.x`],
    ['basic', issuer.sign()],
    ['dpop', issuer.sign()],
  ] as const)
    assert.equal(reader.readToken({ scheme, value }), undefined, `${scheme} ${value}`);
});

test('without issuers nothing is a token', async () => {
  const options = { scopeRules: () => rules, cacheMax: 1, now: Date.now };
  const issuers = createIssuers({ issuers: {}, now: Date.now, onHealth: () => undefined });
  await issuers.ready();
  const directory = { organizationOf: () => undefined };
  const { readToken } = createTokenReader({ issuers, directory, ...options });
  assert.equal(readToken({ scheme: 'bearer', value: 'eyJ.eyJ.AA' }), undefined);
});

test('a caller is made anew when something about its organization changes, and only then', async (t) => {
  const { issuer, organizations, read } = await start(t, { scopesMax: ['*', 'mail:write'] });
  const token = issuer.sign({ scope: ['*', 'mail:write'] });
  const first = await read(token);
  organizations.set('org_test', organization({ id: 'org_test', tier: 'premium', operator: true }));
  const second = await read(token);
  assert.deepEqual(
    [first, second].map((caller) => [caller?.organization?.tier, [...(caller?.scopes ?? [])]]),
    [
      ['standard', ['*']],
      ['premium', ['*', 'mail:write']],
    ],
  );
  assert.equal(await read(token), second);
});

test('an organization that has to be waited for is waited for, also by known tokens', async (t) => {
  const { issuer, organizations, read } = await start(t);
  const [found, token] = [organizations.get('org_test'), issuer.sign()];
  organizations.set('org_test', Promise.resolve(found));
  const first = await read(token);
  assert.equal(first?.organization, await found);
  assert.equal(await read(token), first);
});

test('an organization that does not exist, or not any more', async (t) => {
  const { issuer, organizations, read } = await start(t);
  await assert.rejects(read(issuer.sign({ org: 'org_none' })), hinted('token_invalid', 'organization'));
  const token = issuer.sign();
  await read(token);
  organizations.clear();
  await assert.rejects(read(token), hinted('token_invalid', 'organization'));
});

test('a key store that is away is no fault of the token', async (t) => {
  const { issuer, organizations, read } = await start(t);
  const unavailable = Promise.reject(new GatewayError('auth_unavailable'));
  unavailable.catch(() => undefined);
  organizations.set('org_test', unavailable);
  await assert.rejects(read(issuer.sign()), refusal('auth_unavailable'));
});

test('a known token expires at its second, and from then on costs nothing', async (t) => {
  const { issuer, clock, read, reader } = await start(t);
  const token = issuer.sign();
  await read(token);
  clock.advance(3_629_999);
  assert.ok(await read(token));
  clock.advance(1);
  assert.throws(() => reader.readToken({ scheme: 'bearer', value: token }), refusal('token_expired'));
});

test('a token with a withdrawn key stops being known; tokens of other keys are not affected', async (t) => {
  const { issuer, issuers, clock, read } = await start(t);
  const old = issuer.sign();
  await read(old);
  issuer.rotate();
  clock.advance(300_000);
  await until(() => issuers.status().web?.keys.length === 2);
  const fresh = issuer.sign();
  const [before, freshBefore] = [await read(old), await read(fresh)];
  assert.ok(before && freshBefore);
  issuer.publish([issuer.key().jwk]);
  clock.advance(300_000);
  await until(() => issuers.status().web?.keys.length === 1);
  await assert.rejects(read(old), hinted('token_invalid', 'key'));
  assert.equal(await read(fresh), freshBefore);
});

test('an issuer cannot sign for another, not even with a key of that name', async (t) => {
  const { issuer, second, read } = await start(t);
  const stolen = second.sign({ iss: issuer.iss });
  await assert.rejects(read(stolen), hinted('token_invalid', 'key'));
  const renamed = second.sign({ iss: issuer.iss }, { kid: issuer.key().kid });
  await assert.rejects(read(renamed), hinted('token_invalid', 'signature'));
  assert.equal((await read(second.sign()))?.issuer, 'desktop');
});

test('an unknown issuer, an algorithm it does not use, and a token that is too long cost no question', async (t) => {
  const { issuer, clock, read, reader } = await start(t);
  clock.advance(100_000);
  await assert.rejects(read(issuer.sign({ iss: `${issuer.iss}/` })), hinted('token_invalid', 'issuer'));
  await assert.rejects(read(issuer.sign({}, { alg: 'ES256' })), hinted('token_invalid', 'algorithm'));
  await assert.rejects(read(issuer.sign({ pad: 'x'.repeat(8192) })), hinted('token_invalid', 'form'));
  assert.deepEqual([issuer.asked(), reader.size()], [1, 0]);
});

test('only good tokens are remembered, and no more than there is room for', async (t) => {
  const { issuer, read, reader } = await start(t, {}, 3);
  for (let index = 0; index < 20; index += 1) {
    await read(issuer.sign({ jti: `${index}` }));
    await assert.rejects(read(issuer.sign({ jti: `${index}`, aud: 'other' })), refusal('token_audience'));
  }
  assert.equal(reader.size(), 3);
});

test('known to be good is a token that was accepted, has not expired, and has an active organization', async (t) => {
  const { issuer, organizations, clock, read, reader } = await start(t);
  const token = issuer.sign();
  assert.ok(!reader.isKnown(`Bearer ${token}`), 'not seen yet');
  await read(token);
  for (const spelling of ['Bearer', 'bearer', 'BEARER ']) assert.ok(reader.isKnown(`${spelling} ${token}`));
  for (const other of [undefined, '', token, `Basic ${token}`, `Bearer ${token}x`, `Bearer ${makeKey()}`])
    assert.ok(!reader.isKnown(other), other);
  organizations.set('org_test', organization({ id: 'org_test', state: 'suspended' }));
  await read(token);
  assert.ok(!reader.isKnown(`Bearer ${token}`), 'suspended');
  organizations.set('org_test', organization({ id: 'org_test' }));
  await read(token);
  assert.ok(reader.isKnown(`Bearer ${token}`));
  clock.advance(3_630_000);
  assert.ok(!reader.isKnown(`Bearer ${token}`), 'expired');
});

test('an issuer that does not answer holds up the boot for two seconds and no longer', async (t) => {
  const clock = fakeClock();
  const issuer = await startIssuer(clock.now);
  t.after(issuer.close);
  issuer.answers(() => undefined);
  const issuers = createIssuers({ issuers: { web: settingsOf(issuer) }, now: clock.now, onHealth: () => undefined });
  t.after(issuers.close);
  const startedAt = performance.now();
  await issuers.ready();
  const waitedMs = performance.now() - startedAt;
  assert.ok(waitedMs > 1900 && waitedMs < 4500, `${waitedMs} ms`);
});
