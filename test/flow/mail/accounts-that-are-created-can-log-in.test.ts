// The mail server stores passwords as it gets them and gives an account no role. Through the gateway a created account can log in, and the
// mail server's store does not reveal its password.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import { basic, newPassword, startMailWorld } from '../../support/mail.ts';
import { LIMIT_RUNS } from '../../unit/limits/scenarios.ts';

const world = await startMailWorld({}, {}, { failuresMax: 10_000 });
after(() => world.stop());

/** The account's own login, at the mail server itself. */
async function logsIn(name: string, password: string): Promise<boolean> {
  const answer = await fetch(`${world.mail.url}/jmap/session`, { headers: { authorization: basic(name, password) } });
  assert.ok(answer.status === 200 || answer.status === 401 || answer.status === 403, `${answer.status}`);
  return answer.status === 200;
}

/** The account as the mail server has stored it. */
async function storedSecrets(name: string): Promise<string[]> {
  const headers = { authorization: world.administrator };
  const answer = await fetch(`${world.mail.url}/api/principal/${name}`, { headers });
  const { data } = (await answer.json()) as { data: { secrets: string[] } };
  return data.secrets;
}

const hash = /^\$scrypt\$ln=15,r=8,p=1\$[A-Za-z0-9+/]+\$[A-Za-z0-9+/]+$/;

describe('a created account', () => {
  it('can log in by its password, for any case of its name', async () => {
    const password = newPassword();
    const created = await world.call('POST /api/principal', { name: 'Dana', type: 'individual', secrets: password });
    assert.equal(created.status, 200);
    assert.ok(await logsIn('dana', password));
    assert.ok(!(await logsIn('dana', newPassword())));
    const [stored, ...more] = await storedSecrets('dana');
    assert.match(stored ?? '', hash);
    assert.equal(more.length, 0);
    assert.ok(!(await logsIn('dana', stored ?? '')), 'the hash is no password');
  });

  it('cannot without a role, if it was to have none', async () => {
    const password = newPassword();
    await world.call('POST /api/principal', { name: 'nobody', secrets: [password], roles: [] });
    assert.ok(!(await logsIn('nobody', password)));
    await world.call('PATCH /api/principal/nobody', [{ action: 'addItem', field: 'roles', value: 'user' }]);
    assert.ok(await logsIn('nobody', password));
  });

  it('gets no role if it is no account', async () => {
    for (const type of ['group', 'list', 'domain', 'role', 'apiKey', 'oauthClient', 'resource', 'location']) {
      await world.call('POST /api/principal', { name: `a-${type}`, type });
      const { data } = JSON.parse((await world.call(`GET /api/principal/a-${type}`)).body.toString());
      assert.equal(data.type, type);
      assert.equal(data.roles, undefined);
    }
  });

  it('keeps a hash that was made elsewhere', async () => {
    const password = newPassword();
    await world.call('POST /api/principal', { name: 'first', secrets: password });
    const [made] = await storedSecrets('first');
    await world.call('POST /api/principal', { name: 'second', secrets: [made] });
    assert.deepEqual(await storedSecrets('second'), [made]);
    assert.ok(await logsIn('second', password));
  });

  it('can log in with a password of any characters', async () => {
    let count = 0;
    const passwords = fc.oneof(
      fc.string({ minLength: 1, maxLength: 40, unit: 'grapheme' }),
      fc.constantFrom(
        '$',
        '$6$',
        '$2a$10$short',
        '{PLAIN}x',
        '{SSHA}x',
        '_x',
        '$app',
        '$scrypt$ln=15,r=8,p=1$x',
        ':',
        'a:b',
        '"',
        '\\',
      ),
    );
    const lonely = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;
    await fc.assert(
      fc.asyncProperty(
        passwords.filter((text) => !lonely.test(text)),
        async (password) => {
          const name = `any-${count++}`;
          const created = await world.call('POST /api/principal', { name, secrets: [password] });
          assert.equal(created.status, 200, created.body.toString());
          for (const stored of await storedSecrets(name)) assert.match(stored, hash);
          assert.ok(await logsIn(name, password), JSON.stringify(password));
        },
      ),
      { numRuns: LIMIT_RUNS > 1 ? 3 * LIMIT_RUNS : 2 },
    );
  });
});

describe('an account with a changed password', () => {
  const change = (changes: readonly object[]) => world.call('PATCH /api/principal/changing', changes);
  const [first, second, app] = [newPassword(), newPassword(), newPassword()];
  before(() => world.call('POST /api/principal', { name: 'changing', secrets: first }));

  it('can log in by the new one alone', async () => {
    const changed = await change([{ action: 'addItem', field: 'secrets', value: second }]);
    assert.equal(changed.status, 200);
    assert.ok(await logsIn('changing', second));
    assert.ok(!(await logsIn('changing', first)));
  });

  it('can have a password for an application besides', async () => {
    await change([{ action: 'addItem', field: 'secrets', value: `$app$phone$${app}` }]);
    assert.ok(await logsIn('changing', app));
    assert.ok(await logsIn('changing', second));
    const stored = await storedSecrets('changing');
    assert.ok(
      stored.some((secret) => secret.startsWith('$app$phone$') && hash.test(secret.slice('$app$phone$'.length))),
    );
    await change([{ action: 'removeItem', field: 'secrets', value: '$app$phone$' }]);
    assert.ok(!(await logsIn('changing', app)));
  });

  it('can have all of them replaced, as one text or as a list', async () => {
    await change([{ action: 'set', field: 'secrets', value: [first] }]);
    assert.ok(await logsIn('changing', first));
    await change([{ action: 'set', field: 'secrets', value: second }]);
    assert.ok(await logsIn('changing', second));
    for (const stored of await storedSecrets('changing')) assert.match(stored, hash);
  });

  it('can be renamed', async () => {
    await change([{ action: 'set', field: 'name', value: 'Changed' }]);
    assert.ok(await logsIn('changed', second));
    assert.equal((await world.call('GET /api/principal/changing')).status, 404);
    assert.equal((await world.call('GET /api/principal/CHANGED')).status, 200);
  });
});
