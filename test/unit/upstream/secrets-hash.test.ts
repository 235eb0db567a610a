import assert from 'node:assert/strict';
import { createHook } from 'node:async_hooks';
import { scryptSync } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { isHashed } from '../../../gateway/upstream/rules/requests/hash-forms.ts';
import { hashedSecret } from '../../../gateway/upstream/rules/requests/scrypt.ts';
import { anyCharacter } from '../../support/characters.ts';
import { LIMIT_RUNS } from '../limits/scenarios.ts';

const phc = /^\$scrypt\$ln=15,r=8,p=1\$([A-Za-z0-9+/]{22})\$([A-Za-z0-9+/]{43})$/;

/** Whether a stored hash is one of this password, computed anew from the parameters in the hash. */
function verifies(stored: string, password: string): boolean {
  const [, salt = '', hash] = phc.exec(stored) ?? [];
  const options = { N: 2 ** 15, r: 8, p: 1, maxmem: 64 * 1_048_576 };
  return scryptSync(password, Buffer.from(salt, 'base64'), 32, options).toString('base64').replace(/=+$/, '') === hash;
}

/** Text of a length in the alphabet of an encoding; the hash of no password. */
const text = (length: number) => 'Ab0/'.repeat(length).slice(0, length);
const base64 = (bytes: number) => Buffer.alloc(bytes, 7).toString('base64');

const argon2 = `$argon2id$v=19$m=65536,t=3,p=4$${text(22)}$${text(43)}`;
const pbkdf2 = `$pbkdf2-sha256$i=600000,l=32$${text(22)}$${text(43)}`;
const sha512 = `$6$${text(16)}$${text(86)}`;
const stored = [
  argon2,
  argon2.replace('v=19$', '').replace('2id', '2i'),
  pbkdf2,
  `$pbkdf2$i=10000$${text(22)}$${text(43)}`,
  `$scrypt$ln=17,r=8,p=1$${text(22)}$${text(43)}`,
  ...['a', 'b', 'y'].map((version) => `$2${version}$12$${text(53)}`),
  sha512,
  `$6$rounds=100000$${text(8)}$${text(86)}`,
  `$5$${text(16)}$${text(43)}`,
  `{SSHA512}${base64(72)}`,
  `{SHA512}${base64(64)}`,
  `{SSHA256}${base64(40)}`,
  `{SHA256}${base64(32)}`,
  `{ARGON2ID}${argon2}`,
  `{PBKDF2}${pbkdf2}`,
  `{CRYPT}${sha512}`,
  `otpauth://totp/Example:jane?secret=${'ABCD'.repeat(8)}&issuer=Example`,
  `otpauth://totp/jane?issuer=Example&secret=${'ABCD'.repeat(8)}`,
];

test('a value in a stored form passes unchanged, also under a label', async () => {
  for (const secret of stored) {
    assert.equal(await hashedSecret(secret), secret);
    assert.equal(await hashedSecret(`$app$phone$${secret}`), `$app$phone$${secret}`);
  }
});

test('a stored form that is not whole, too costly or weak is a password like any other', () => {
  for (const whole of stored)
    for (const secret of [` ${whole}`, `${whole}\n`, `${whole} `, `x${whole}`, whole.slice(1)])
      assert.ok(!isHashed(secret), JSON.stringify(secret));
  for (const whole of [sha512, `$5$${text(16)}$${text(43)}`, `$2b$12$${text(53)}`, `{SHA512}${base64(64)}`])
    for (const secret of [whole.slice(0, -1), `${whole}A`]) assert.ok(!isHashed(secret), secret);
  for (const secret of [
    ...['$', '$6$', '$6$salt$short', '$2b$12$', '$argon2id$', '$app', '$app$', '$app$x', '$1$salt$', '{', '{}', '{x}'],
    `$argon2id$v=19$m=9999999,t=3,p=4$${text(22)}$${text(43)}`,
    `$scrypt$ln=31,r=8,p=1$${text(22)}$${text(43)}`,
    `$2b$31$${text(53)}`,
    `$2x$12$${text(53)}`,
    `$1$${text(8)}$${text(22)}`,
    `$sha1$40000$${text(8)}$${text(28)}`,
    `{PLAIN}${text(86)}`,
    `{CLEAR}${base64(64)}`,
    `{MD5}${base64(16)}`,
    `{SHA}${base64(20)}`,
    `{SSHA}${base64(28)}`,
    `{CRYPT}${text(13)}`,
    `{CRYPT}$1$${text(8)}$${text(22)}`,
    `{SHA512}${base64(63)}`,
    `{SSHA512}${base64(64)}`,
    `{SSHA512}${base64(72)} `,
    `{ssha512}${base64(72)}`,
    `{toString}${base64(64)}`,
    `{ARGON2ID}${sha512}`,
    `{PBKDF2}plain`,
    '_J9..K0AyUubLR7MyiLXQ',
    'otpauth://totp/',
    'otpauth://totp/x?secret=short',
    `otpauth://hotp/x?secret=${'ABCD'.repeat(8)}`,
    `otpauth://totp/x?notsecret=${'ABCD'.repeat(8)}`,
    `otpauth://totp/x y?secret=${'ABCD'.repeat(8)}`,
  ])
    assert.ok(!isHashed(secret), secret);
});

test('everything else leaves as a hash that is one of it', async () => {
  // A hash takes a tenth of a second, and as long to verify.
  for (const password of ['ünï pass\u0000\n', '$'.repeat(600)]) {
    const sent = await hashedSecret(password);
    assert.ok(verifies(sent, password), password);
    assert.ok(isHashed(sent));
  }
  for (const password of ['a', '{PLAIN}x', '$app$x']) assert.match(await hashedSecret(password), phc);
});

test('no password leaves in plain text, for any characters', async () => {
  const part = fc.oneof(
    fc.string({ unit: anyCharacter }),
    fc.constantFrom('$', '{', '}', '$2b$', '$6$', '{SSHA512}', 'otpauth://'),
  );
  const password = fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => parts.join(''));
  await fc.assert(
    fc.asyncProperty(password, async (plain) => {
      fc.pre(plain !== '');
      assert.match(await hashedSecret(plain), phc);
    }),
    { numRuns: LIMIT_RUNS > 1 ? 4 * LIMIT_RUNS : 2 },
  );
});

test('under a label only the secret is hashed, and an empty one stays empty', async () => {
  const sent = await hashedSecret('$app$my phone$pass$word');
  assert.ok(sent.startsWith('$app$my phone$$scrypt$'), sent);
  assert.ok(verifies(sent.slice('$app$my phone$'.length), 'pass$word'));
  for (const empty of ['', '$app$my phone$']) assert.equal(await hashedSecret(empty), empty);
});

test('of a burst, two run at a time, because each takes 32 MiB, and every hash has its own salt', async () => {
  const atWork = new Set<number>();
  let most = 0;
  const hook = createHook({
    init(id, type) {
      if (type === 'SCRYPTREQUEST') most = Math.max(most, atWork.add(id).size);
    },
    before: (id) => atWork.delete(id),
  }).enable();
  const hashes = await Promise.all(Array.from({ length: 4 }, () => hashedSecret('again')));
  hook.disable();
  assert.equal(most, 2);
  assert.equal(new Set(hashes).size, hashes.length);
  assert.ok(verifies(hashes.at(-1) ?? '', 'again'));
});
