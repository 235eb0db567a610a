import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { test } from 'node:test';
import { createLocalJWKSet, decodeJwt, type JSONWebKeySet, jwtVerify } from 'jose';
import { type AssertionKey, createAssertions } from '../../../gateway/auth/assertion.ts';
import { ANONYMOUS } from '../../../gateway/auth/authenticate.ts';
import { caller, fakeClock, organization } from './samples.ts';

function newKey(): AssertionKey {
  return generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' }) as unknown as AssertionKey;
}

async function create(keys = [newKey()]) {
  const clock = fakeClock();
  return { clock, assertions: await createAssertions({ keys, issuer: 'https://gateway.example', now: clock.now }) };
}

const acme = caller({
  subject: 'key_1',
  organization: organization({ tier: 'premium' }),
  scopes: new Set(['jobs:read', 'jobs:write']),
});

test('an upstream can verify who is calling with the published keys alone', async () => {
  const { clock, assertions } = await create();
  const token = await assertions.assertionFor(acme, 'platform');
  const { payload, protectedHeader } = await jwtVerify(token, createLocalJWKSet(assertions.jwks() as JSONWebKeySet), {
    algorithms: ['EdDSA'],
    issuer: 'https://gateway.example',
    audience: 'platform',
    currentDate: new Date(clock.now()),
  });
  assert.equal(protectedHeader.alg, 'EdDSA');
  const issuedAt = clock.now() / 1000;
  assert.deepEqual(payload, {
    iss: 'https://gateway.example',
    aud: 'platform',
    sub: 'key_1',
    org: 'org_acme',
    tier: 'premium',
    mode: 'live',
    scopes: ['jobs:read', 'jobs:write'],
    iat: issuedAt,
    exp: issuedAt + 60,
  });
});

test('an anonymous caller has neither organization nor tier', async () => {
  const { assertions } = await create();
  const claims = decodeJwt(await assertions.assertionFor(ANONYMOUS, 'platform'));
  assert.equal(claims.sub, 'anonymous');
  assert.deepEqual(claims.scopes, []);
  assert.ok(!('org' in claims) && !('tier' in claims));
});

test('nothing private is published, and every key is', async () => {
  const keys = [newKey(), newKey()];
  const { assertions } = await create(keys);
  const { keys: published } = assertions.jwks() as JSONWebKeySet;
  assert.deepEqual(
    published.map(({ x }) => x),
    keys.map(({ x }) => x),
  );
  for (const key of published) assert.deepEqual(Object.keys(key).sort(), ['alg', 'crv', 'kid', 'kty', 'use', 'x']);
});

test('the first signature is waited for, later ones are at hand', async () => {
  const { assertions } = await create();
  const first = assertions.assertionFor(acme, 'platform');
  assert.ok(first instanceof Promise);
  assert.equal(assertions.assertionFor(acme, 'platform') instanceof Promise, true);
  const token = await first;
  assert.equal(assertions.assertionFor(acme, 'platform'), token);
});

test('requests that come at once share one signature', async () => {
  const { assertions } = await create();
  const promises = Array.from({ length: 20 }, () => assertions.assertionFor(acme, 'platform'));
  assert.equal(new Set(promises).size, 1);
});

test('another upstream and another caller get assertions of their own', async () => {
  const { assertions } = await create();
  const mine = await assertions.assertionFor(acme, 'platform');
  assert.equal(decodeJwt(await assertions.assertionFor(acme, 'mail')).aud, 'mail');
  assert.notEqual(await assertions.assertionFor(caller({ subject: 'key_2' }), 'platform'), mine);
});

test('from half life on a new one is made beside the traffic; none with less than 15 s of life is used', async () => {
  const { clock, assertions } = await create();
  const first = await assertions.assertionFor(acme, 'platform');
  clock.advance(29_999);
  assert.equal(assertions.assertionFor(acme, 'platform'), first);
  clock.advance(1);
  assert.equal(assertions.assertionFor(acme, 'platform'), first);
  while (assertions.assertionFor(acme, 'platform') === first) await new Promise(setImmediate);
  const second = await assertions.assertionFor(acme, 'platform');
  clock.advance(44_001);
  const third = assertions.assertionFor(acme, 'platform');
  assert.ok(third instanceof Promise);
  assert.notEqual(await third, second);
});

test('at every moment at least 15 and at most 60 seconds of life are left', async () => {
  const { clock, assertions } = await create();
  for (let step = 0; step < 150; step += 1) {
    const { exp } = decodeJwt(await assertions.assertionFor(acme, 'platform'));
    const leftMs = (exp ?? 0) * 1000 - clock.now();
    assert.ok(leftMs >= 15_000 && leftMs <= 60_000, `${leftMs} ms left`);
    clock.advance(1337);
  }
});

test('the gateway can speak for an organization without a key', async () => {
  const { assertions } = await create();
  const claims = {
    subject: 'gateway',
    organization: 'org_demo',
    tier: undefined,
    mode: 'test',
    scopes: ['*'],
  } as const;
  const { sub, org, mode, aud, scopes } = decodeJwt(await assertions.assertionOf(claims, 'platform'));
  assert.deepEqual(
    { sub, org, mode, aud, scopes },
    { sub: 'gateway', org: 'org_demo', mode: 'test', aud: 'platform', scopes: ['*'] },
  );
});

test('without a key there is nothing to sign with', async () => {
  await assert.rejects(create([]), /no key to sign/);
});
