// Private keys in the store are readable with the right certificate_key and in the right record only.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { createSeal } from '../../../gateway/acme/seal.ts';

const seal = createSeal('a secret of sixteen characters');

it('a sealed text is opened by the same secret', () => {
  const sealed = seal.seal('private', 'key a.test');
  assert.ok(!Buffer.from(sealed, 'base64').includes('private'));
  assert.equal(createSeal('a secret of sixteen characters').open(sealed, 'key a.test'), 'private');
  assert.notEqual(seal.seal('private', 'key a.test'), sealed);
});

it('another secret, another record and changed bytes are refused with the name of the record', () => {
  const sealed = seal.seal('private', 'key a.test');
  const changed = Buffer.from(sealed, 'base64');
  changed[14] = (changed[14] ?? 0) ^ 1;
  const other = createSeal('another secret of some length');
  assert.throws(() => other.open(sealed, 'key a.test'), /record "key a\.test" cannot be decrypted/);
  assert.throws(() => seal.open(sealed, 'key b.test'), /cannot be decrypted/);
  assert.throws(() => seal.open(changed.toString('base64'), 'key a.test'), /cannot be decrypted/);
  assert.throws(() => seal.open('', 'key a.test'), /cannot be decrypted/);
  assert.notEqual(other.fingerprint, seal.fingerprint);
});
