import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toKeySet } from '../../../gateway/auth/tokens/issuer-key-set.ts';
import { type TokenRules, verifyToken } from '../../../gateway/auth/tokens/verify-token.ts';
import { AUDIENCE, compact, makeSigningKey, signatureOf, signToken, soundClaims } from '../../support/issuer.ts';
import { hinted, refusal, START_MS } from './samples.ts';

const START = START_MS / 1000;
const iss = 'https://issuer.example';
const signer = makeSigningKey('EdDSA');
const [key] = (await toKeySet(JSON.stringify({ keys: [signer.jwk] }), ['EdDSA'])).keys;
assert.ok(key);

const rules: TokenRules = {
  issuer: iss,
  audience: AUDIENCE,
  claims: { organization: 'org', scopes: 'scope' },
  clockToleranceSeconds: 30,
};
const sound = { iss, ...soundClaims(START_MS) };

function verify(claims: object | string, nowMs = START_MS, other: Partial<TokenRules> = {}) {
  const token = compact({ alg: 'EdDSA', kid: signer.kid }, claims, (input) => signatureOf(signer, input));
  return verifyToken(token, key as NonNullable<typeof key>, { ...rules, ...other }, nowMs);
}

test('a sound token names its organization and its expiry', async () => {
  assert.deepEqual(await verify({ ...sound, scope: 'jobs:read plans:read' }), {
    subject: 'user-1',
    organization: 'org_test',
    scopes: ['jobs:read', 'plans:read'],
    expiresAtMs: START_MS + 3_630_000,
  });
});

test('the claims have the names that the issuer gives them', async () => {
  const claims = { organization: 'https://issuer.example/tenant', scopes: 'scp' };
  const { organization, scopes } = await verify(
    { ...sound, [claims.organization]: 'org_other', scp: ['jobs:read'], scope: 'plans:read' },
    START_MS,
    { claims },
  );
  assert.deepEqual([organization, scopes], ['org_other', ['jobs:read']]);
});

test('an audience among others is enough', async () => {
  assert.ok(await verify({ ...sound, aud: ['https://other.test', AUDIENCE] }));
});

for (const [what, claims, expected] of [
  ['another audience', { aud: 'https://other.test' }, refusal('token_audience')],
  ['an audience that only begins like ours', { aud: `${AUDIENCE}.evil.test` }, refusal('token_audience')],
  ['other audiences', { aud: ['https://other.test', ''] }, refusal('token_audience')],
  ['no audience in its list', { aud: [] }, refusal('token_audience')],
  ['no audience', { aud: undefined }, hinted('token_invalid', 'claims')],
  ['another issuer', { iss: 'https://issuer.example/' }, hinted('token_invalid', 'claims')],
  ['no expiry', { exp: undefined }, hinted('token_invalid', 'claims')],
  ['an expiry that is text', { exp: String(START + 60) }, hinted('token_invalid', 'claims')],
  ['an expiry of null', { exp: null }, hinted('token_invalid', 'claims')],
  ['an expiry in milliseconds', { exp: START_MS + 60_000 }, hinted('token_invalid', 'claims')],
  ['an expiry before time began', { exp: -1 }, refusal('token_expired')],
  ['a beginning that is text', { nbf: 'now' }, hinted('token_invalid', 'claims')],
  ['a time of issue that is a list', { iat: [START] }, hinted('token_invalid', 'claims')],
  ['no subject', { sub: undefined }, hinted('token_invalid', 'claims')],
  ['an empty subject', { sub: '' }, hinted('token_invalid', 'claims')],
  ['a subject that looks like the id of a key', { sub: 'key_4fGh' }, hinted('token_invalid', 'claims')],
  ['a number as subject', { sub: 7 }, hinted('token_invalid', 'claims')],
  ['a subject with a blank', { sub: 'user 1' }, hinted('token_invalid', 'claims')],
  ['a subject with a line break', { sub: 'user\r\nX-Admin: 1' }, hinted('token_invalid', 'claims')],
  ['a subject beyond ASCII', { sub: 'müller' }, hinted('token_invalid', 'claims')],
  ['a subject of 256 characters', { sub: 'x'.repeat(256) }, hinted('token_invalid', 'claims')],
  ['no organization', { org: undefined }, hinted('token_invalid', 'claims')],
  ['an empty organization', { org: '' }, hinted('token_invalid', 'claims')],
  ['several organizations', { org: ['org_a', 'org_b'] }, hinted('token_invalid', 'claims')],
  ['an organization that is too long', { org: 'x'.repeat(256) }, hinted('token_invalid', 'claims')],
  ['scopes that are an object', { scope: { '*': true } }, hinted('token_invalid', 'claims')],
] as const) {
  test(`${what} is refused`, async () => {
    await assert.rejects(verify({ ...sound, ...claims }), expected);
  });
}

test('an expiry beyond all numbers is refused: it would hold for ever', async () => {
  const text = JSON.stringify(sound).replace(/"exp":\d+/, '"exp":1e400');
  await assert.rejects(verify(text), hinted('token_invalid', 'claims'));
});

test('a property of every object is no claim', async () => {
  const scopes = { claims: { organization: 'org', scopes: 'toString' } };
  assert.deepEqual((await verify(sound, START_MS, scopes)).scopes, []);
  const organization = { claims: { organization: 'constructor', scopes: 'scope' } };
  await assert.rejects(verify(sound, START_MS, organization), hinted('token_invalid', 'claims'));
});

test('of repeated claims the last one counts, as everywhere', async () => {
  const text = JSON.stringify(sound).replace('{', '{"sub":"first","org":"org_first",');
  const { subject, organization } = await verify(text);
  assert.deepEqual([subject, organization], ['user-1', 'org_test']);
});

test('clocks may differ by the tolerance, and by nothing more', async () => {
  for (const claims of [{ nbf: START + 30 }, { iat: START + 30 }, { exp: START - 29 }])
    assert.ok(await verify({ ...sound, ...claims }), JSON.stringify(claims));
  await assert.rejects(verify({ ...sound, nbf: START + 31 }), hinted('token_invalid', 'not_yet'));
  await assert.rejects(verify({ ...sound, iat: START + 31 }), hinted('token_invalid', 'not_yet'));
  await assert.rejects(verify({ ...sound, exp: START - 30 }), refusal('token_expired'));
});

test('without tolerance the second counts', async () => {
  const strict = { clockToleranceSeconds: 0 };
  assert.ok(await verify({ ...sound, nbf: START, iat: START, exp: START + 1 }, START_MS, strict));
  await assert.rejects(verify({ ...sound, exp: START }, START_MS, strict), refusal('token_expired'));
});

for (const exp of [START + 10, START + 10.4]) {
  test(`a token that expires at ${exp} is first refused at its own expiry`, async () => {
    const { expiresAtMs } = await verify({ ...sound, exp });
    assert.ok(await verify({ ...sound, exp }, expiresAtMs - 1));
    await assert.rejects(verify({ ...sound, exp }, expiresAtMs), refusal('token_expired'));
  });
}

test('any single bit of the signature that is wrong is found', async () => {
  const token = signToken(signer, sound);
  const signature = Buffer.from(token.split('.')[2] ?? '', 'base64url');
  for (let bit = 0; bit < signature.length * 8; bit += 7) {
    const forged = Buffer.from(signature);
    forged[bit >> 3] = (forged[bit >> 3] as number) ^ (1 << (bit & 7));
    const text = `${token.slice(0, token.lastIndexOf('.'))}.${forged.toString('base64url')}`;
    await assert.rejects(verifyToken(text, key, rules, START_MS), hinted('token_invalid', 'signature'), `bit ${bit}`);
  }
});

test('a critical header that is not understood is refused, also an unencoded payload', async () => {
  for (const header of [{ crit: ['exp'], exp: 1 }, { crit: ['b64'], b64: false }, { crit: [] }, { crit: 'x' }]) {
    const token = signToken(signer, sound, header);
    await assert.rejects(verifyToken(token, key, rules, START_MS), hinted('token_invalid', 'form'));
  }
});
