import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ADMINISTRATOR, createBasicReader, parseUserAndPassword } from '../../../gateway/auth/basic.ts';
import { operation, refusal } from './samples.ts';

const encode = (text: string | Buffer) => Buffer.from(text).toString('base64');

const open = operation({
  upstream: 'post',
  security: [
    { scheme: 'apiKey', scopes: ['post:read'] },
    { scheme: 'basic', scopes: [] },
  ],
});

test('a pair without a colon in its user name and without control characters is read unchanged', () => {
  const text = fc.string({ unit: 'grapheme' }).filter((value) => !/\p{Cc}/u.test(value));
  fc.assert(
    fc.property(
      text.filter((user) => !user.includes(':')),
      text,
      (user, password) => {
        assert.deepEqual(parseUserAndPassword(encode(`${user}:${password}`)), { user, password });
      },
    ),
  );
});

for (const [what, value, user, password] of [
  ['the example of RFC 7617', 'QWxhZGRpbjpvcGVuIHNlc2FtZQ==', 'Aladdin', 'open sesame'],
  ['its example with a pound sign', 'dGVzdDoxMjPCow==', 'test', '123£'],
  ['a password with colons', encode('admin:a:b:'), 'admin', 'a:b:'],
  ['an empty password', encode('admin:'), 'admin', ''],
  ['an empty user name', encode(':secret'), '', 'secret'],
] as const) {
  test(`${what} is read`, () => assert.deepEqual(parseUserAndPassword(value), { user, password }));
}

for (const [what, value] of [
  ['nothing', ''],
  ['no colon', encode('admin')],
  ['no Base64', 'admin:secret'],
  ['Base64 without its padding', encode('admin:wo').replace('=', '')],
  ['too much padding', `${encode('admin:secret')}=`],
  ['the alphabet of URLs', encode('admin:~~~???').replaceAll('/', '_').replaceAll('+', '-')],
  ['a space inside', 'QWxhZGRpbjpv cGVuIHNlc2FtZQ=='],
  ['bits beyond the end', 'QWxhZGRpbjpvcGVuIHNlc2FtZR=='],
  ['two values', 'QWxhZGRpbjpvcGVuIHNlc2FtZQ==, QWxhZGRpbjpvcGVuIHNlc2FtZQ=='],
  ['Latin-1', encode(Buffer.from('test:123£', 'latin1'))],
  ['half a surrogate pair', encode(Buffer.from([0x61, 0x3a, 0xed, 0xa0, 0x80]))],
  ['an overlong colon', encode(Buffer.from([0x61, 0xc0, 0xba, 0x62]))],
  ['a newline at the end', encode('admin:secret\n')],
  ['a NUL in the user name', encode('ad\0min:secret')],
  ['a DEL in the password', encode('admin:sec\x7fret')],
] as const) {
  test(`${what} is refused without being compared`, () => {
    assert.equal(parseUserAndPassword(value), undefined);
    const read = createBasicReader(() => assert.fail('compared'));
    assert.throws(() => read({ scheme: 'basic', value }, open), refusal('basic_credentials_invalid'));
  });
}

test('a matching pair is the administrator; others are refused', () => {
  const read = createBasicReader((...given) => given.join() === 'post,admin,right');
  const given = (text: string) => ({ scheme: 'basic', value: encode(text) });
  assert.equal(read(given('admin:right'), open), ADMINISTRATOR);
  assert.throws(() => read(given('admin:wrong'), open), refusal('basic_credentials_invalid'));
  assert.throws(() => read(given('other:right'), open), refusal('basic_credentials_invalid'));
  assert.throws(() => read(given('admin:right'), { ...open, upstream: 'other' }), refusal('basic_credentials_invalid'));
});

test('other schemes, and operations that do not accept this one, are left to other readers', () => {
  const read = createBasicReader(() => true);
  const value = encode('admin:right');
  assert.equal(read({ scheme: 'bearer', value }, open), undefined);
  assert.equal(read({ scheme: 'basic', value }, operation()), undefined);
});

test('the administrator is one frozen object, without scopes and without an end', () => {
  const { organization } = ADMINISTRATOR;
  assert.ok(organization !== undefined);
  for (const part of [ADMINISTRATOR, organization, organization.contacts]) assert.ok(Object.isFrozen(part));
  assert.equal(ADMINISTRATOR.scopes.size, 0);
  assert.equal(ADMINISTRATOR.mode, 'live');
  assert.deepEqual([organization.id, organization.tier], ['mail-administrator', 'mail-administrator']);
  assert.ok(!organization.id.startsWith('org_'), 'no organization of the store can have its id');
});
