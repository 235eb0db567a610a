// A key ring opens what any of its keys has sealed, and nothing that was changed, moved or sealed by a key that was taken out.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { createKeyRing } from '../../../gateway/shared/stores/seal.ts';

const ringOf = (...secrets: string[]) => createKeyRing(() => secrets, 'tests');
const OLD = 'an old secret of some length';
const NEW = 'a new secret of some length';

it('keys are rotated: the first seals, all open, and one that was taken out opens nothing', () => {
  const before = ringOf(OLD).seal('token', 'session 1');
  assert.ok(!before.includes('token'));
  const both = ringOf(NEW, OLD);
  assert.equal(both.open(before, 'session 1'), 'token');
  const after = both.seal('token', 'session 1');
  assert.equal(ringOf(NEW).open(after, 'session 1'), 'token');
  assert.throws(() => ringOf(OLD).open(after, 'session 1'), /not known/);
  assert.throws(() => ringOf(NEW).open(before, 'session 1'), /not known/);
});

it('the secrets are read again for each text', () => {
  let secrets = [OLD];
  const ring = createKeyRing(() => secrets, 'tests');
  const sealed = ring.seal('token', 'r');
  secrets = [NEW];
  assert.throws(() => ring.open(sealed, 'r'), /not known/);
  secrets = [NEW, OLD];
  assert.equal(ring.open(sealed, 'r'), 'token');
});

it('another record, another purpose and changed bytes are refused', () => {
  const ring = ringOf(OLD);
  const sealed = ring.seal('token', 'session 1');
  assert.throws(() => ring.open(sealed, 'session 2'));
  assert.throws(() => createKeyRing(() => [OLD], 'others').open(sealed, 'session 1'));
  for (const wrong of ['', '.', sealed.slice(0, -8), sealed.replace('.', ''), `${sealed}.x`.replace(/.\.x$/, '')])
    assert.throws(() => ring.open(wrong, 'session 1'));
});
