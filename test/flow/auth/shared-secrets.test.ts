// Where secrets come from; instances that share them agree on the secrets that the gateway made itself.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { createAssertions } from '../../../gateway/auth/assertions/assertions.ts';
import { loadSecrets, type Secrets } from '../../../gateway/config/secrets.ts';
import { temporaryDirectory } from '../../support/directory.ts';

function setUp() {
  const root = temporaryDirectory();
  const [directory, dataDirectory] = [join(root, 'secrets-store'), join(root, 'data')];
  mkdirSync(directory);
  const put = (entry: string, text: string) => writeFileSync(join(directory, entry), text);
  return { directory, dataDirectory, put };
}

function newKeySet() {
  return { keys: [generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' })] };
}

test('the file wins over the environment, and loses one newline at its end', () => {
  const { put, ...where } = setUp();
  put('one', 'from the file\n');
  put('two', 'windows line\r\n');
  put('three', 'two newlines\n\n');
  const { read } = loadSecrets({ ...where, environment: { ONE: 'from the environment', FOUR: 'four', FIVE: '' } });
  assert.equal(read('one'), 'from the file');
  assert.equal(read('two'), 'windows line');
  assert.equal(read('three'), 'two newlines\n');
  assert.equal(read('four'), 'four');
  assert.equal(read('five'), undefined);
  assert.equal(read('six'), undefined);
});

test('a file that changes is read anew', () => {
  const { put, ...where } = setUp();
  const { read } = loadSecrets({ ...where, environment: {} });
  put('admin_token', 'old');
  assert.equal(read('admin_token'), 'old');
  put('admin_token', 'new');
  assert.equal(read('admin_token'), 'new');
});

test('shared secrets are made once, kept, and readable by their owner only', async () => {
  const { dataDirectory } = setUp();
  const first = loadSecrets({ environment: {}, dataDirectory });
  const all = ({ keyPepper, cursorSecret, assertionKeys }: Secrets) =>
    Promise.all([keyPepper(), cursorSecret(), assertionKeys()]);
  const made = await all(first);
  const second = loadSecrets({ environment: {}, dataDirectory });
  assert.deepEqual(await all(second), made);
  assert.deepEqual(second.foundInRedis(), []);
  const folder = join(dataDirectory, 'secrets');
  assert.deepEqual(readdirSync(folder).sort(), ['assertion_keys', 'cursor_secret', 'key_pepper']);
  assert.equal(statSync(folder).mode & 0o777, 0o700);
  for (const name of readdirSync(folder)) assert.equal(statSync(join(folder, name)).mode & 0o777, 0o600);
});

test('nothing is made until it is needed, nor when it is given', async () => {
  const { put, ...where } = setUp();
  put('key_pepper', 'a pepper from the secrets store');
  const secrets = loadSecrets({ ...where, environment: { CURSOR_SECRET: 'a secret of the environment' } });
  assert.equal(await secrets.keyPepper(), 'a pepper from the secrets store');
  assert.equal(await secrets.cursorSecret(), 'a secret of the environment');
  assert.throws(() => statSync(where.dataDirectory), /ENOENT/);
});

test('processes that start at once agree', async () => {
  const { dataDirectory } = setUp();
  const program = `
    import { loadSecrets } from '${join(import.meta.dirname, '../../../gateway/config/secrets.ts')}';
    const { keyPepper, assertionKeys } = loadSecrets({ environment: {}, dataDirectory: '${dataDirectory}' });
    process.stdout.write((await keyPepper()) + JSON.stringify(await assertionKeys()));
  `;
  const outputs = await Promise.all(
    Array.from({ length: 5 }, async () => {
      const child = spawn(process.execPath, ['--input-type=module-typescript', '-e', program]);
      let output = '';
      child.stdout.on('data', (chunk) => (output += chunk));
      const [code] = await once(child, 'close');
      assert.equal(code, 0);
      return output;
    }),
  );
  assert.equal(new Set(outputs).size, 1);
  assert.deepEqual(readdirSync(join(dataDirectory, 'secrets')).sort(), ['assertion_keys', 'key_pepper']);
});

test('keys that were made can sign', async () => {
  const { dataDirectory } = setUp();
  const keys = await loadSecrets({ environment: {}, dataDirectory }).assertionKeys();
  const assertions = await createAssertions({ keys, issuer: 'x', now: Date.now });
  const claims = { subject: 's', organization: undefined, tier: undefined, mode: 'live', scopes: [] } as const;
  assert.match(await assertions.assertionOf(claims, 'platform'), /^[\w-]+\.[\w-]+\.[\w-]+$/);
});

test('several assertion keys keep their order', async () => {
  const { put, ...where } = setUp();
  const [{ keys: one }, { keys: two }] = [newKeySet(), newKeySet()];
  put('assertion_keys', JSON.stringify({ keys: [...one, ...two] }));
  const loaded = await loadSecrets({ ...where, environment: {} }).assertionKeys();
  assert.deepEqual(
    loaded.map(({ x }) => x),
    [one[0]?.x, two[0]?.x],
  );
});

const mixed = { keys: [{ ...newKeySet().keys[0], x: newKeySet().keys[0]?.x }] };
const twice = newKeySet().keys[0];
const withTimes = (times: object) => JSON.stringify({ keys: [{ ...newKeySet().keys[0], ...times }] });
const publicOnly = { keys: [{ ...newKeySet().keys[0], d: undefined }] };
for (const [what, text, message] of [
  ['no JSON', 'the secret of my life', /it is not JSON/],
  ['no keys', '{"keys":[]}', /not a JWK Set with at least one key/],
  ['null', 'null', /not a JWK Set/],
  ['a public key', JSON.stringify(publicOnly), /key 1 is not a private Ed25519 key/],
  ['halves of two keys', JSON.stringify(mixed), /halves belong together/],
  ['another curve', '{"keys":[{"kty":"EC","crv":"P-256","x":"AA","d":"AA"}]}', /key 1/],
  ['one key twice', JSON.stringify({ keys: [twice, twice] }), /key 2 is a duplicate/],
  ['a time that is text', withTimes({ signs_from: '1700000000' }), /key 1 has a signs_from that is no whole number/],
  ['a time in milliseconds', withTimes({ published_until: 1_700_000_000_000 }), /no whole number of epoch seconds/],
  ['a term that ends first', withTimes({ signs_from: 20, published_until: 20 }), /not after its signs_from/],
  ['a key of the wrong length', '{"keys":[{"kty":"OKP","crv":"Ed25519","x":"AA","d":"AA"}]}', /key 1/],
] as const) {
  test(`assertion_keys with ${what} is refused without repeating it`, async () => {
    const { put, ...where } = setUp();
    put('assertion_keys', text);
    await assert.rejects(loadSecrets({ ...where, environment: {} }).assertionKeys(), (thrown) => {
      assert.ok(thrown instanceof Error);
      assert.match(thrown.message, message);
      assert.ok(!thrown.message.includes(text) && thrown.cause === undefined);
      return true;
    });
  });
}

test('empty, short and misspelled entries are refused with a sentence', async () => {
  const { put, ...where } = setUp();
  const secrets = loadSecrets({ ...where, environment: { CURSOR_SECRET: 'hunter2' } });
  put('key_pepper', '\n');
  await assert.rejects(secrets.keyPepper(), /key_pepper in .* is an empty file/);
  await assert.rejects(
    secrets.cursorSecret(),
    (thrown) => thrown instanceof Error && /too short/.test(thrown.message) && !thrown.message.includes('hunter2'),
  );
  assert.throws(() => secrets.read('../etc/passwd'), /misspelled/);
  mkdirSync(join(where.directory, 'a_folder'));
  assert.throws(() => secrets.read('a_folder'), /a_folder in .* cannot be read \(EISDIR\)/);
});

test('a made secret is whole on disk: one line', async () => {
  const { dataDirectory } = setUp();
  const pepper = await loadSecrets({ environment: {}, dataDirectory }).keyPepper();
  assert.equal(readFileSync(join(dataDirectory, 'secrets', 'key_pepper'), 'utf8'), `${pepper}\n`);
  assert.equal(Buffer.from(pepper, 'base64url').length, 32);
});
