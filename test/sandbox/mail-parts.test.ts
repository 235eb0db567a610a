// The pure parts of the sandbox mail server: credentials and secrets, on their own; and the store of uploads.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import fc from 'fast-check';
import { createBlobs } from '../../sandbox/mail/blobs.ts';
import { parseMailAuthorization } from '../../sandbox/mail/credentials.ts';
import { judge, kindOf, withoutFurtherPasswords } from '../../sandbox/mail/secrets.ts';
import { anyCharacter } from '../support/characters.ts';
import { temporaryDirectory } from '../support/directory.ts';
import { basic } from './support/mail.ts';

test('every name without a colon and every password are read back, the name trimmed and lower-cased', () => {
  const wellFormed = fc.string({ unit: anyCharacter });
  fc.assert(
    fc.property(wellFormed, wellFormed, (sent, password) => {
      const name = sent.replaceAll(':', '');
      const read = parseMailAuthorization(basic(name, password));
      assert.deepEqual(read, { kind: 'basic', name: name.trim().toLowerCase(), password });
    }),
  );
});

test('no header makes the reading of credentials fail', () => {
  fc.assert(
    fc.property(fc.string(), fc.constantFrom('', 'Basic ', 'bearer ', 'Other '), (value, scheme) => {
      const { kind } = parseMailAuthorization(scheme + value);
      assert.ok(['none', 'malformed', 'otherScheme', 'basic', 'bearer'].includes(kind));
    }),
  );
  assert.deepEqual(parseMailAuthorization('BEARER x y'), { kind: 'bearer', token: 'x y' });
  assert.equal(parseMailAuthorization('Basic YTpi').kind, 'basic');
  assert.equal(parseMailAuthorization('Basic YTp').kind, 'malformed', 'padding is missing');
});

test('the beginning of a secret determines its kind, and the first password is the one', () => {
  const kinds = ['otpauth://x', '$app$x$y', '$scrypt$x', 'plain', 'app$x'].map(kindOf);
  assert.deepEqual(kinds, ['totp', 'app', 'password', 'password', 'password']);
  assert.deepEqual(withoutFurtherPasswords(['$app$a$b', 'one', 'two', 'one', 'otpauth://x']), [
    '$app$a$b',
    'one',
    'otpauth://x',
  ]);
});

test('secrets that cannot be read are no way in', async () => {
  assert.equal(await judge([], '', 0), 'wrong');
  assert.equal(await judge(['otpauth://x?secret=A'], 'x', 0), 'wrong', 'a second factor alone');
  assert.equal(await judge(['word', 'otpauth:////:'], 'word$123456', 0), 'wrong');
  assert.equal(await judge(['{MD5}x'], 'x', 0), 'unknownFormat');
});

test('uploads together never take more than their bound: the oldest give way', async () => {
  const directory = temporaryDirectory();
  writeFileSync(join(directory, 'from before'), 'x');
  const blobs = createBlobs(directory, 10);
  const keep = async (content: string) => (await blobs.keep('u1', Readable.from([Buffer.from(content)]), 8)).id;
  const [one, two] = [await keep('1111'), await keep('2222')];
  assert.equal(await keep('1111'), one, 'the same bytes have the same name, and are now the newest');
  const three = await keep('3333');
  const contents = [one, two, three].map((id) => blobs.open('u1', id)?.content);
  assert.deepEqual(await Promise.all(contents.map((content) => content && text(content))), ['1111', undefined, '3333']);
  assert.equal(blobs.open('u2', one), undefined, 'belongs to another account');
  await Promise.all(Array.from({ length: 50 }, () => assert.rejects(keep('123456789'), /400/)));
  assert.equal(readdirSync(directory).length, 2, 'nothing is left of refused uploads, or of earlier ones');
  blobs.close();
  assert.equal(existsSync(directory), false);
});
