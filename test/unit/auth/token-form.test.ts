import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isShortEnough, looksLikeToken, parseToken } from '../../../gateway/auth/tokens/token-form.ts';
import { compact } from '../../support/issuer.ts';
import { hinted, makeKey } from './samples.ts';

const header = { alg: 'EdDSA', kid: 'k1', typ: 'JWT' };
const claims = { iss: 'https://issuer.example', sub: 'user-1' };
const signed = (head: object | string = header, body: object | string = claims) =>
  compact(head, body, () => 'signature');

test('a token names its issuer, its algorithm and its key', () => {
  assert.deepEqual(parseToken(signed()), { issuer: 'https://issuer.example', algorithm: 'EdDSA', kid: 'k1' });
  assert.equal(parseToken(signed({ alg: 'EdDSA' })).kid, undefined);
});

test('the types of tokens are accepted in every spelling, and may be absent', () => {
  for (const typ of ['JWT', 'jwt', 'at+jwt', 'AT+JWT', 'application/at+jwt', 'application/jwt', undefined])
    assert.ok(parseToken(signed({ ...header, typ })), typ);
});

for (const [what, token, hint] of [
  ['a signature that was taken away', signed().replace(/\.[^.]+$/, '.'), 'form'],
  ['two parts', signed().replace(/\.[^.]+$/, ''), 'form'],
  ['four parts', `${signed()}.x`, 'form'],
  ['five parts, as an encrypted token has', `${signed()}.x.x`, 'form'],
  ['characters that base64url does not have', `${signed()}+`, 'form'],
  ['padding', `${signed()}=`, 'form'],
  ['a blank', `${signed()} x`, 'form'],
  ['an impossible length of a part', signed().replace(/\.([^.]+)\./, '.A.'), 'form'],
  ['a header that is no JSON', signed('{"alg"'), 'form'],
  ['a header that is a list', signed('["EdDSA"]'), 'form'],
  ['claims that are no JSON', signed(header, '{"iss":'), 'form'],
  ['claims that are no object', signed(header, '"https://issuer.example"'), 'form'],
  ['claims that are nested deeply', signed(header, '['.repeat(5000)), 'form'],
  [
    'claims that are not UTF-8',
    signed().replace(/\.[^.]+\./, `.${Buffer.from('{"iss":"\xff"}', 'latin1').toString('base64url')}.`),
    'form',
  ],
  ['no algorithm', signed({ kid: 'k1' }), 'form'],
  ['an algorithm that is no text', signed({ alg: ['EdDSA'] }), 'form'],
  ['a kid that is no text', signed({ ...header, kid: 7 }), 'form'],
  ['another type', signed({ ...header, typ: 'JOSE' }), 'form'],
  ['a type that is no text', signed({ ...header, typ: null }), 'form'],
  ['the type of a logout token', signed({ ...header, typ: 'logout+jwt' }), 'form'],
  ['no issuer', signed(header, { sub: 'user-1' }), 'issuer'],
  ['a list of issuers', signed(header, { iss: ['https://issuer.example'] }), 'issuer'],
  ['an issuer that only its prototype has', signed(header, '{"__proto__":{"iss":"https://issuer.example"}}'), 'issuer'],
] as const) {
  test(`${what}: token_invalid (${hint})`, () => {
    assert.throws(() => parseToken(token), hinted('token_invalid', hint));
  });
}

test('of a repeated member the last one counts, in header and claims', () => {
  const token = signed('{"alg":"none","alg":"EdDSA"}', '{"iss":"first","iss":"last"}');
  assert.deepEqual(parseToken(token), { issuer: 'last', algorithm: 'EdDSA', kid: undefined });
});

test('a signature has one spelling: its spare bits are zero', () => {
  const [head, body] = signed().split('.');
  assert.ok(parseToken(`${head}.${body}.AA`));
  for (const spelling of ['AB', 'AP', 'AAB']) {
    assert.throws(() => parseToken(`${head}.${body}.${spelling}`), hinted('token_invalid', 'form'));
  }
});

test('a string with a dot is taken for a token, for any header; a string that begins like a key never is', () => {
  const spaced = Buffer.from('{ "alg": "ES256" }').toString('base64url');
  for (const text of [signed(), 'eyJ.', 'eyJhbGciOiJub25lIn0..', `${spaced}.e30.c2ln`])
    assert.ok(looksLikeToken(text), text);
  for (const text of [makeKey(), 'eyJhbGciOiJub25lIn0', `${makeKey()}.x`, '']) assert.ok(!looksLikeToken(text), text);
});

test('8,192 characters are the most', () => {
  assert.ok(isShortEnough('x'.repeat(8192)));
  assert.ok(!isShortEnough('x'.repeat(8193)));
});
