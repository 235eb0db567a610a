import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { test } from 'node:test';
import { createLocalJWKSet, decodeJwt, decodeProtectedHeader, type JSONWebKeySet, jwtVerify } from 'jose';
import { type AssertionKey, kidOf, rotateKeys } from '../../../gateway/auth/assertions/assertion-keys.ts';
import { createAssertions } from '../../../gateway/auth/assertions/assertions.ts';
import { ANONYMOUS } from '../../../gateway/auth/authenticate.ts';
import { until } from '../../support/connection.ts';
import { caller, fakeClock, organization } from './samples.ts';

function newKey(): AssertionKey {
  return generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' }) as unknown as AssertionKey;
}

async function create(keys = [newKey()], random = () => 0.5) {
  const clock = fakeClock();
  const assertions = await createAssertions({ keys, issuer: 'https://gateway.example', now: clock.now, random });
  return { clock, keys, assertions };
}

const acme = caller({
  subject: 'key_1',
  organization: organization({ tier: 'premium' }),
  scopes: new Set(['jobs:read', 'jobs:write']),
});

test('an upstream can verify the caller with the published keys alone', async () => {
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

test('each upstream and each caller gets its own assertion', async () => {
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

test('assertions that were signed together are renewed apart, between 20 and 40 s after', async () => {
  const draws = [0, 0.25, 0.5, 0.75, 1];
  const { clock, assertions } = await create(undefined, () => draws.shift() ?? 0);
  const callers = Array.from({ length: 5 }, (_, number) => caller({ subject: `key_${number}` }));
  const tokensNow = () => Promise.all(callers.map((one) => assertions.assertionFor(one, 'platform')));
  const first = await tokensNow();
  const renewed = async () => (await tokensNow()).filter((token, index) => token !== first[index]).length;
  for (const count of [1, 2, 3, 4, 5]) {
    clock.advance(count === 1 ? 19_999 : 4999);
    assert.equal(await renewed(), count - 1);
    clock.advance(1);
    await until(async () => (await renewed()) === count);
  }
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

test('the gateway can sign for an organization without a key', async () => {
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
  await assert.rejects(create([]), /No key of the secrets entry assertion_keys may sign at 2026-11-20T12:00:00.000Z/);
});

test('a key that is next is published at once, signs by itself when its time comes, and the former ends after the overlap', async () => {
  const { clock, assertions, keys } = await create();
  const [former, next] = [keys[0], newKey()] as [AssertionKey, AssertionKey];
  const nowMs = clock.now();
  await assertions.useKeys(rotateKeys([former], next, { nowMs, leadMs: 600_000, overlapMs: 120_000 }));
  const kidNow = async () => decodeProtectedHeader(await assertions.assertionFor(acme, 'platform')).kid;
  const [formerKid, nextKid] = [await kidOf(former), await kidOf(next)];
  const publishedKids = () => assertions.jwks().keys.map(({ kid }) => kid);

  assert.deepEqual([publishedKids(), await kidNow()], [[formerKid, nextKid], formerKid]);
  clock.advance(599_999);
  assert.equal(await kidNow(), formerKid);
  clock.advance(1);
  assert.equal(await kidNow(), formerKid, 'the stored assertions are used up');
  clock.advance(45_000);
  assert.equal(await kidNow(), nextKid);
  clock.advance(74_999);
  assert.deepEqual(publishedKids(), [formerKid, nextKid]);
  clock.advance(1);
  assert.deepEqual(publishedKids(), [nextKid]);
});

test('an assertion of the former key can be verified until it ends', async () => {
  const { clock, assertions, keys } = await create();
  const nowMs = clock.now();
  await assertions.useKeys(rotateKeys(keys, newKey(), { nowMs, leadMs: 10_000, overlapMs: 120_000 }));
  clock.advance(9999);
  const token = await assertions.assertionFor(acme, 'platform');
  for (let passed = 0; passed < 59; passed += 1) {
    const published = createLocalJWKSet(assertions.jwks() as JSONWebKeySet);
    await jwtVerify(token, published, { currentDate: new Date(clock.now()) });
    clock.advance(1000);
  }
});

test('assertions of a key that is withdrawn early are not used any more', async () => {
  const { assertions } = await create();
  const first = await assertions.assertionFor(acme, 'platform');
  const other = newKey();
  await assertions.useKeys([other]);
  const second = await assertions.assertionFor(acme, 'platform');
  assert.notEqual(second, first);
  assert.equal(decodeProtectedHeader(second).kid, await kidOf(other));
});

test('a set without a signing key is refused, and the present set stays in use', async () => {
  const { clock, assertions, keys } = await create();
  const endsAt = clock.now() / 1000 + 60;
  await assert.rejects(
    assertions.useKeys([{ ...newKey(), published_until: endsAt }]),
    /^Error: No key of the secrets entry assertion_keys may sign at 2026-11-20T12:01:00.000Z: one of them must\.$/,
  );
  const { kid } = decodeProtectedHeader(await assertions.assertionFor(acme, 'platform'));
  assert.equal(kid, await kidOf(keys[0] as AssertionKey));
});
