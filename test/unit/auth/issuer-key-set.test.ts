import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { test } from 'node:test';
import { findIn, isSameKeySet, toKeySet } from '../../../gateway/auth/tokens/issuer-key-set.ts';
import { makeSigningKey } from '../../support/issuer.ts';

const ed = makeSigningKey('EdDSA');
const ec = makeSigningKey('ES256');
const rsa = makeSigningKey('RS256');
const all = ['EdDSA', 'ES256', 'RS256', 'PS256'];
const setOf = (keys: readonly unknown[], algorithms = all) => toKeySet(JSON.stringify({ keys }), algorithms);

test('each key serves the allowed algorithms of its kind', async () => {
  const { keys } = await setOf([ed.jwk, ec.jwk, rsa.jwk]);
  assert.deepEqual(
    keys.map(({ kid, algorithm }) => [kid, algorithm]),
    [
      [ed.kid, 'EdDSA'],
      [ec.kid, 'ES256'],
      [rsa.kid, 'RS256'],
      [rsa.kid, 'PS256'],
    ],
  );
  assert.deepEqual((await setOf([ed.jwk, rsa.jwk], ['EdDSA'])).keys.length, 1);
});

test('a key serves the uses that its members allow', async () => {
  for (const members of [{ use: 'sig' }, { key_ops: ['verify'] }, { alg: 'EdDSA' }, { ext: true }, { x5t: 'unknown' }])
    assert.equal((await setOf([{ ...ed.jwk, ...members }])).keys.length, 1, JSON.stringify(members));
  const { keys } = await setOf([{ ...rsa.jwk, alg: 'PS256' }]);
  assert.deepEqual(
    keys.map(({ algorithm }) => algorithm),
    ['PS256'],
  );
});

const short = generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey.export({ format: 'jwk' });
for (const [what, jwk] of [
  ['a key for encryption', { ...ed.jwk, use: 'enc' }],
  ['a key for a use that is not known', { ...ed.jwk, use: 'SIG' }],
  ['a key for signing only', { ...ed.jwk, key_ops: ['sign'] }],
  ['a key for no operation', { ...ed.jwk, key_ops: [] }],
  ['operations that are no list', { ...ed.jwk, key_ops: 'verify' }],
  ['an operation that is there twice', { ...ed.jwk, key_ops: ['verify', 'verify'] }],
  ['a key for another algorithm', { ...ed.jwk, alg: 'ES256' }],
  ['a key for an algorithm of another kind', { ...rsa.jwk, alg: 'HS256' }],
  ['a secret', { kty: 'oct', kid: 'k', k: 'c2VjcmV0', alg: 'HS256' }],
  ['a secret for all algorithms', { kty: 'oct', kid: 'k', k: 'c2VjcmV0' }],
  ['another curve', { kty: 'OKP', crv: 'X25519', x: ed.jwk.x }],
  ['a private key', { ...ed.privateKey.export({ format: 'jwk' }), kid: 'k' }],
  ['an RSA key of 1024 bits', { ...short, kid: 'k' }],
  ['half a key', { ...ec.jwk, y: undefined }],
  ['a point that is not on the curve', { ...ec.jwk, y: ec.jwk.x }],
  ['an unknown kind', { kty: 'quantum', kid: 'k' }],
  ['no object', 'key'],
  ['null', null],
] as const) {
  test(`${what} is passed over, and alone it makes no key set`, async () => {
    assert.deepEqual(
      (await setOf([jwk, ed.jwk])).keys.map(({ kid }) => kid),
      [ed.kid],
    );
    await assert.rejects(setOf([jwk]), /no key that tokens can be verified with/);
  });
}

test('a document that is no key set is refused with a text that does not repeat it', async () => {
  for (const [text, message] of [
    ['<html>', /it is not JSON/],
    ['', /it is not JSON/],
    ['null', /it is not a JWK Set/],
    ['[]', /it is not a JWK Set/],
    ['{"keys":{}}', /it is not a JWK Set/],
    ['{"keys":[]}', /no key/],
    [JSON.stringify({ keys: Array(101).fill(ed.jwk) }), /more than 100 keys/],
  ] as const)
    await assert.rejects(toKeySet(text, all), message);
});

test('a key is found by its name and algorithm', async () => {
  const set = await setOf([ed.jwk, ec.jwk]);
  const found = findIn(set, ed.kid, 'EdDSA');
  assert.deepEqual(found.outcome === 'found' && [found.key.kid, found.key.algorithm], [ed.kid, 'EdDSA']);
  assert.equal(findIn(set, 'another', 'EdDSA').outcome, 'unknown');
  assert.equal(findIn(set, ed.kid, 'ES256').outcome, 'unfit', 'the name of a key of another kind');
  assert.equal(findIn(undefined, ed.kid, 'EdDSA').outcome, 'unknown');
});

test('without a name it is the only one that fits', async () => {
  assert.equal(findIn(await setOf([ed.jwk, ec.jwk]), undefined, 'EdDSA').outcome, 'found');
  assert.equal(findIn(await setOf([ec.jwk]), undefined, 'EdDSA').outcome, 'unknown');
  assert.equal(findIn(await setOf([ed.jwk, makeSigningKey('EdDSA').jwk]), undefined, 'EdDSA').outcome, 'unfit');
});

test('two keys of one name and kind stand for none', async () => {
  const twin = { ...makeSigningKey('EdDSA').jwk, kid: ed.kid };
  assert.equal(findIn(await setOf([ed.jwk, twin]), ed.kid, 'EdDSA').outcome, 'unfit');
});

test('sets are equal if their keys are, in any order and with any other members', async () => {
  const set = await setOf([ed.jwk, ec.jwk]);
  assert.ok(isSameKeySet(set, await setOf([ec.jwk, { ...ed.jwk, x5t: 'new' }, { kty: 'oct' }])));
  for (const other of [[ed.jwk], [ed.jwk, ec.jwk, rsa.jwk], [ed.jwk, { ...ec.jwk, kid: 'renamed' }]])
    assert.ok(!isSameKeySet(set, await setOf(other)));
  const renewed = { ...makeSigningKey('EdDSA').jwk, kid: ed.kid };
  assert.ok(!isSameKeySet(set, await setOf([renewed, ec.jwk])), 'another key under an old name');
  assert.ok(!isSameKeySet(undefined, set));
});
