// The sandbox trusts the gateway's assertion and nothing else.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SignJWT, UnsecuredJWT } from 'jose';
import { assertionOf, type Claims, createGatewayKey, ISSUER, platformForFile, send } from './support/platform.ts';

const platform = await platformForFile();
const { clock, key, url } = platform;
const seconds = (): number => Math.floor(clock.nowMs / 1000);
const signed = (claims: Claims, header = {}): SignJWT => assertionOf(claims, clock.nowMs, header);
const list = (token: string | undefined) => send(url, token, 'GET', '/v1/customers');

test('a request without an assertion is 401 for any identity headers', async () => {
  const headers = { 'x-organization-id': 'org_one', 'x-api-key-id': 'key_one', authorization: 'Bearer x' };
  const reply = await send(url, undefined, 'GET', '/v1/customers', { headers });
  assert.equal(reply.status, 401);
  assert.equal(reply.body.error.code, 'assertion_missing');
  assert.equal(reply.body.error.status, 401);
});

test('an assertion of the gateway is accepted', async () => {
  assert.equal((await list(await signed({}).sign(key.privateKey))).status, 200);
});

test('an assertion that names the issuer of a token is accepted', async () => {
  const token = await signed({ token_issuer: 'web' }).setSubject('user-1').sign(key.privateKey);
  assert.equal((await list(token)).status, 200);
});

const attacks: Readonly<Record<string, () => string | Promise<string>>> = {
  'no JWT at all': () => 'not.a.token',
  'an empty assertion': () => '',
  'alg none': () =>
    new UnsecuredJWT({ org: 'org_one', mode: 'live', scopes: ['*'] })
      .setIssuer(ISSUER)
      .setAudience('platform')
      .setSubject('key_one')
      .setExpirationTime(seconds() + 60)
      .encode(),
  'an HMAC made with the public key as its secret': () =>
    signed({}, { alg: 'HS256' }).sign(new TextEncoder().encode(JSON.stringify(key.jwks.keys[0]))),
  'another audience': () => signed({}).setAudience('mail').sign(key.privateKey),
  'another issuer': () => signed({}).setIssuer('https://elsewhere.example.com').sign(key.privateKey),
  'an assertion that has expired': () =>
    signed({})
      .setExpirationTime(seconds() - 6)
      .sign(key.privateKey),
  'an assertion from the future': () =>
    signed({})
      .setNotBefore(seconds() + 60)
      .sign(key.privateKey),
  'an assertion without an end': () =>
    new SignJWT({ org: 'org_one', mode: 'live', scopes: ['*'] })
      .setProtectedHeader({ alg: 'EdDSA', kid: 'gateway-1' })
      .setIssuer(ISSUER)
      .setAudience('platform')
      .setSubject('key_one')
      .sign(key.privateKey),
  'another key under the same name': async () => signed({}).sign((await createGatewayKey()).privateKey),
  'an unknown key': () => signed({}, { kid: 'other' }).sign(key.privateKey),
  'no organization': () => signed({ org: undefined }).sign(key.privateKey),
  'an empty organization': () => signed({ org: '' }).sign(key.privateKey),
  'an organization that is no text': () => signed({ org: ['org_one'] }).sign(key.privateKey),
  'an unknown mode': () => signed({ mode: 'live:org_two' }).sign(key.privateKey),
  'no scopes': () => signed({ scopes: undefined }).sign(key.privateKey),
  'a changed payload': async () => {
    const [head, , signature] = (await signed({}).sign(key.privateKey)).split('.');
    const [, payload] = (await signed({ org: 'org_two' }).sign(key.privateKey)).split('.');
    return `${head}.${payload}.${signature}`;
  },
};

for (const [attack, make] of Object.entries(attacks)) {
  test(`${attack} is 401 assertion_invalid`, async () => {
    const reply = await list(await make());
    assert.equal(reply.status, 401);
    assert.equal(reply.body.error.code, 'assertion_invalid');
    assert.equal(reply.body.error.type, 'authentication_error');
  });
}

test('an assertion that was accepted before is refused once it has expired', async () => {
  const token = await signed({}).sign(key.privateKey);
  assert.equal((await list(token)).status, 200);
  clock.nowMs += 64_000;
  assert.equal((await list(token)).status, 200, 'within the clock tolerance');
  clock.nowMs += 2_000;
  assert.equal((await list(token)).status, 401);
});

test('the seed needs an assertion too', async () => {
  assert.equal((await send(url, undefined, 'POST', '/_sandbox/seed')).status, 401);
});
