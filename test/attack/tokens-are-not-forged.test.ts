// A token is text that its bearer wrote. Its header names the algorithm and the key to check it with, so a verifier that follows the header
// can be made to accept anything: no signature at all ("none"), a MAC with the issuer's public key as its secret, a key that the token
// brings along or points at (RFC 8725 section 2). Here the header only ever chooses among the keys and algorithms that the configuration
// and the issuer allow, and each of these ways ends at the same 401, without a request to anywhere.

import assert from 'node:assert/strict';
import { createPublicKey } from 'node:crypto';
import { after, describe, it } from 'node:test';
import { ask, requestOf } from '../support/connection.ts';
import { assertRefusal } from '../support/errors.ts';
import { startGateway } from '../support/gateway.ts';
import {
  compact,
  macOf,
  makeSigningKey,
  type SigningKey,
  signatureOf,
  signToken,
  soundClaims,
  startIssuer,
  type TestIssuer,
} from '../support/issuer.ts';
import { thingsAt } from '../support/things.ts';
import { startUpstream } from '../support/upstream.ts';

const attacker = makeSigningKey('EdDSA');

const upstream = await startUpstream();
/** An address of keys that must not be fetched. */
const lure = await startUpstream((_request, response) => response.end(JSON.stringify({ keys: [attacker.jwk] })));
const rsa = await startIssuer(Date.now, 'RS256');
const ed = await startIssuer(Date.now, 'EdDSA');
const gateway = await startGateway({
  ...thingsAt(upstream.url),
  gateway: { issuers: { rsa: rsa.entry, ed: { ...ed.entry, algorithms: ['EdDSA', 'ES256'] } } },
});
await gateway.issueKey();
after(async () => {
  await gateway.stop();
  for (const server of [upstream, lure, rsa, ed]) await server.close();
});

const call = (token: string) => ask(gateway.port, requestOf('GET /v1/things', { Authorization: `Bearer ${token}` }));
const claimsOf = (issuer: TestIssuer, other: object = {}) => ({
  iss: issuer.iss,
  ...soundClaims(Date.now()),
  ...other,
});
const pemOf = ({ privateKey }: SigningKey) =>
  createPublicKey(privateKey).export({ type: 'spki', format: 'pem' }).toString();

/** Signed by the attacker with a key of their own, under the name of the issuer's. */
const forged = (header: object, claims: object = claimsOf(ed)) =>
  signToken(attacker, claims, { kid: ed.key().kid, ...header });

const attacks: Readonly<Record<string, () => string>> = {
  'no signature, and "none" as algorithm': () => compact({ alg: 'none', kid: ed.key().kid }, claimsOf(ed), () => ''),
  'a signature of "none" that is not empty': () => compact({ alg: 'none' }, claimsOf(ed), () => 'x'),
  '"None", spelt otherwise': () => compact({ alg: 'None' }, claimsOf(ed), () => 'x'),
  '"nOnE", spelt otherwise': () => compact({ alg: 'nOnE' }, claimsOf(ed), () => 'x'),
  'an empty algorithm': () => compact({ alg: '' }, claimsOf(ed), () => 'x'),
  'no algorithm': () => compact({ kid: ed.key().kid }, claimsOf(ed), () => 'x'),
  'a signature that was taken away': () => ed.sign().replace(/[^.]+$/, ''),
  'no third part at all': () => ed.sign().replace(/\.[^.]+$/, ''),
  'a signature of zeros': () => ed.sign().replace(/[^.]+$/, Buffer.alloc(64).toString('base64url')),
  'the public RSA key as the secret of a MAC': () =>
    compact({ alg: 'HS256', kid: rsa.key().kid }, claimsOf(rsa), (input) => macOf(pemOf(rsa.key()), input)),
  'the same, by the text of the JWK': () =>
    compact({ alg: 'HS256' }, claimsOf(rsa), (input) => macOf(JSON.stringify(rsa.key().jwk), input)),
  'a MAC that calls itself RS256': () =>
    compact({ alg: 'RS256', kid: rsa.key().kid }, claimsOf(rsa), (input) => macOf(pemOf(rsa.key()), input)),
  'an Ed25519 signature that calls itself ES256': () =>
    compact({ alg: 'ES256', kid: ed.key().kid }, claimsOf(ed), (input) => signatureOf(ed.key(), input)),
  'an RSA signature of another padding than is allowed': () => rsa.sign({}, { alg: 'PS256' }),
  'a signature of another hash than is allowed': () => rsa.sign({}, { alg: 'RS512' }),
  'a key of the attacker under the name of a good one': () => forged({}),
  'a key that the token brings along': () => forged({ jwk: attacker.jwk, kid: attacker.kid }),
  'a key that the token brings along under a good name': () => forged({ jwk: attacker.jwk }),
  'keys that the token points at': () => forged({ jku: `${lure.url}/jwks.json`, kid: attacker.kid }),
  'a certificate that the token points at': () => forged({ x5u: `${lure.url}/cert.pem` }),
  'a certificate that the token brings along': () => forged({ x5c: [Buffer.from('certificate').toString('base64')] }),
  'an issuer that is an address of the attacker': () => forged({}, claimsOf(ed, { iss: lure.url })),
  'the name of a key that is a path': () => forged({ kid: '../../../../dev/null' }),
  'the name of a key that is a query': () => forged({ kid: "' UNION SELECT 'secret" }),
  'the name of a key that every object has': () => forged({ kid: '__proto__' }),
  'something critical that is not understood': () =>
    ed.sign({}, { crit: ['http://example.com/ext'], 'http://example.com/ext': true }),
  'a payload that is not encoded': () => ed.sign({}, { b64: false, crit: ['b64'] }),
  'an encrypted token': () => `${ed.sign()}.AAAA.AAAA`,
  'another issuer, with a good key of one': () => rsa.sign({ iss: ed.iss }),
  'the name of a key of another issuer': () => forged({ kid: rsa.key().kid }),
  'no expiry': () => ed.sign({ exp: undefined }),
  'an expiry that never comes': () => ed.sign({ exp: Number.MAX_SAFE_INTEGER }),
  'a subject that is none': () => ed.sign({ sub: { $ne: '' } }),
  'an organization that every object has': () => ed.sign({ org: '__proto__' }),
  'more than 8,192 characters': () => ed.sign({ pad: 'x'.repeat(7000) }),
};

describe('refused as token_invalid is', () => {
  for (const [what, token] of Object.entries(attacks)) {
    it(what, async () => assertRefusal(await call(token()), 'token_invalid'));
  }

  it('a token with any character of its signature changed', async () => {
    const token = ed.sign();
    const start = token.lastIndexOf('.') + 1;
    for (let at = start; at < token.length; at += 1) {
      const other = token[at] === 'A' ? 'B' : 'A';
      assertRefusal(await call(token.slice(0, at) + other + token.slice(at + 1)), 'token_invalid');
    }
  });

  it('and none of it caused a request or left the gateway', () => {
    assert.deepEqual([upstream.requests, lure.requests], [[], []]);
  });
});

describe('refused for its content', () => {
  it('a token of yesterday, also with a good expiry in front of it', async () => {
    const yesterday = Math.floor(Date.now() / 1000) - 86_400;
    assertRefusal(await call(ed.sign({ exp: yesterday })), 'token_expired');
    const twice = JSON.stringify(claimsOf(ed, { exp: yesterday })).replace('{', `{"exp":${yesterday + 172_800},`);
    const token = compact({ alg: 'EdDSA', kid: ed.key().kid }, twice, (input) => signatureOf(ed.key(), input));
    assertRefusal(await call(token), 'token_expired');
  });

  it('a token for another audience', async () => {
    for (const aud of ['https://api.test.evil.test', ['https://other.test'], 'HTTPS://API.TEST'])
      assertRefusal(await call(ed.sign({ aud })), 'token_audience');
  });

  it('more scopes than were granted', async () => {
    for (const scope of ['', 'mail:write', 'things:write', 'things:readx', 'THINGS:READ'])
      assertRefusal(await call(ed.sign({ scope })), 'insufficient_scope');
  });
});

describe('honest tokens', () => {
  it('of both issuers get through, with any other headers', async () => {
    for (const token of [ed.sign(), rsa.sign(), ed.sign({}, { jku: `${lure.url}/jwks.json`, jwk: attacker.jwk })])
      assert.equal((await call(token)).status, 200);
    assert.deepEqual(lure.requests, []);
  });

  it('a flood of forgeries leaves nothing behind, and sends the issuer at most one request in 5 s', async () => {
    const asked = ed.asked();
    const startedAt = performance.now();
    for (let index = 0; index < 200; index += 1) await call(forged({ kid: `made-up-${index}` }));
    assert.ok(ed.asked() - asked <= 1 + (performance.now() - startedAt) / 5000);
    assert.equal((await call(ed.sign())).status, 200);
  });
});
