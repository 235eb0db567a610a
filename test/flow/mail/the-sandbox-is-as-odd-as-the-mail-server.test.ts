// What was measured on a real mail server, release 0.15.5, holds for the sandbox behind the gateway: each oddity with what clients get. The
// contract accepts what the mail server accepts.

import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { basic, bodyOf, newPassword, startMailWorld } from '../../support/mail.ts';

const world = await startMailWorld();
for (const principal of [
  { type: 'domain', name: 'example.org' },
  { type: 'domain', name: 'empty.org' },
  ...['staff', 'crew'].map((name) => ({ type: 'group', name })),
  ...['news', 'brief'].map((name) => ({ type: 'list', name })),
  ...['helpdesk', 'boss'].map((name) => ({ type: 'role', name })),
])
  assert.equal((await world.call('POST /api/principal', principal)).status, 200);
after(() => world.stop());

let number = 0;
const newName = () => {
  number += 1;
  return `odd-${number}`;
};

const show = async (name: string) =>
  bodyOf(await world.call(`GET /api/principal/${name}`)).data as Record<string, unknown>;
const find = async (filter: string) => {
  const { data } = bodyOf(await world.call(`GET /api/principal?filter=${encodeURIComponent(filter)}`));
  return (data as { items: { name: string }[] }).items.map(({ name }) => name);
};

type Change = readonly [action: 'set' | 'addItem' | 'removeItem', field: string, value: unknown];

interface Case {
  readonly oddity: string;
  /** Of a new principal, beside its name; an individual by default. */
  readonly create?: object;
  readonly changes?: readonly Change[];
  /** Members of the principal afterwards; undefined: absent. */
  readonly shows?: Record<string, unknown>;
  /** The error of the last request. */
  readonly refused?: readonly [status: number, code: string, message?: RegExp];
}

const jmap = ['jmap-email-get', 'imap-my-rights', 'dav-cal-prop-find', 'pop3-dele', 'sieve-have-space'];
const external = (value: string): readonly Change[] => [['addItem', 'externalMembers', value]];

const cases: readonly Case[] = [
  {
    oddity: 'permissions have the names of the release',
    create: { enabledPermissions: jmap },
    changes: [['addItem', 'disabledPermissions', 'jmap-blob-upload']],
    shows: { enabledPermissions: jmap, disabledPermissions: ['jmap-blob-upload'] },
  },
  {
    oddity: 'a catch-all address is created',
    create: { emails: ['@example.org'] },
    shows: { emails: ['@example.org'] },
  },
  {
    oddity: 'a catch-all address is added',
    changes: [['addItem', 'emails', '@empty.org']],
    shows: { emails: ['@empty.org'] },
  },
  {
    oddity: 'an external member is trimmed and lower-cased',
    create: { type: 'list' },
    changes: external(' Reader@Example.COM '),
    shows: { externalMembers: ['reader@example.com'] },
  },
  ...['x@intranet', 'x@mail.intranet', 'x..y@example.com', 'x@com', '@example.com', 'x@example..com'].map((value) => ({
    oddity: `an external member ${value} is refused`,
    create: { type: 'list' },
    changes: external(value),
    refused: [422, 'upstream_rejected', /Invalid email address/] as const,
  })),
  {
    oddity: 'an unknown permission is not even removed',
    changes: [['removeItem', 'enabledPermissions', 'fly']],
    refused: [422, 'upstream_rejected', /Invalid enabledPermissions value/],
  },
  {
    oddity: 'a permission that is absent is removed without an error',
    changes: [['removeItem', 'disabledPermissions', 'email-send']],
    shows: { disabledPermissions: undefined },
  },
  {
    oddity: 'a permission that is enabled and disabled at once is enabled',
    create: { enabledPermissions: ['email-send'], disabledPermissions: ['email-send', 'email-receive'] },
    shows: { enabledPermissions: ['email-send'], disabledPermissions: ['email-receive'] },
  },
  {
    oddity: 'an unknown permission is called by its field on create',
    create: { enabledPermissions: ['fly'] },
    refused: [422, 'upstream_rejected', /Invalid enabledPermissions value/],
  },
  { oddity: 'a domain without addresses counts them', create: { type: 'domain' }, shows: { members: 0 } },
  { oddity: 'a quota of 0 stays', changes: [['set', 'quota', 0]], shows: { quota: 0 } },
  {
    oddity: 'a quota is cleared by the empty text',
    create: { quota: 5 },
    changes: [['set', 'quota', '']],
    shows: { quota: undefined },
  },
  {
    oddity: 'quotas of an individual come back as thirteen numbers',
    create: { quota: [1024, 5] },
    shows: { quota: [1024, 5, ...Array(11).fill(0)] },
  },
  {
    oddity: 'an empty text is kept on create',
    create: { description: '', locale: '' },
    shows: { description: '', locale: '' },
  },
  {
    oddity: 'an empty text clears on a change',
    create: { description: 'x' },
    changes: [['set', 'description', '']],
    shows: { description: undefined },
  },
  {
    oddity: 'duplicates are merged on create',
    create: { urls: ['a', 'b', 'a'], memberOf: ['staff', 'staff'], enabledPermissions: ['email-send', 'email-send'] },
    shows: { urls: ['a', 'b'], memberOf: ['staff'], enabledPermissions: ['email-send'] },
  },
  {
    oddity: 'related principals come in the order in which they were created, roles of the server last',
    create: { memberOf: ['crew', 'staff'], lists: ['brief', 'news'], roles: ['admin', 'user', 'boss', 'helpdesk'] },
    shows: { memberOf: ['staff', 'crew'], lists: ['news', 'brief'], roles: ['helpdesk', 'boss', 'user', 'admin'] },
  },
];

describe('the mail server', () => {
  for (const { oddity, create = {}, changes = [], shows, refused } of cases) {
    it(oddity, async () => {
      const name = newName();
      let answer = await world.call('POST /api/principal', { name, ...create });
      if (changes.length > 0) {
        assert.equal(answer.status, 200);
        const body = changes.map(([action, field, value]) => ({ action, field, value }));
        answer = await world.call(`PATCH /api/principal/${name}`, body);
      }
      if (refused !== undefined) {
        const [status, code, message = /./] = refused;
        assert.deepEqual([answer.status, answer.error.code], [status, code]);
        assert.match(String(answer.error.message), message);
      } else {
        assert.equal(answer.status, 200, String(answer.body));
        const shown = await show(name);
        for (const [field, value] of Object.entries(shows ?? {})) assert.deepEqual(shown[field], value, field);
      }
    });
  }

  it('a location shows no members, and they show it as their group', async () => {
    const [room, person] = [newName(), newName()];
    await world.call('POST /api/principal', { name: person });
    await world.call('POST /api/principal', { type: 'location', name: room, members: [person] });
    assert.equal((await show(room)).members, undefined);
    assert.deepEqual((await show(person)).memberOf, [room]);
  });

  it('an individual that is its own group is among its members', async () => {
    const name = newName();
    await world.call('POST /api/principal', { name });
    const itself = [{ action: 'addItem', field: 'memberOf', value: name }];
    assert.equal((await world.call(`PATCH /api/principal/${name}`, itself)).status, 200);
    const { members, memberOf } = await show(name);
    assert.deepEqual({ members, memberOf }, { members: [name], memberOf: undefined });
  });

  it('a first word that matches nothing is ignored, and punctuation finds nothing', async () => {
    const name = newName();
    await world.call('POST /api/principal', { name, description: 'Lighthouse keeper' });
    assert.deepEqual(await find('lighthouse keeper'), [name]);
    assert.deepEqual(await find('zebra keeper'), [name]);
    assert.deepEqual(await find('keeper zebra'), []);
    assert.deepEqual(await find('zebra'), []);
    for (const punctuation of ['-', '...', '@ @']) assert.deepEqual(await find(punctuation), [], punctuation);
  });

  it('an API key is for the administration, and does not log in for JMAP', async () => {
    const [name, secret] = [newName(), newPassword()];
    const key = { type: 'apiKey', name, secrets: [secret], roles: ['admin'] };
    assert.equal((await world.call('POST /api/principal', key)).status, 200);
    const Authorization = `Bearer api_${Buffer.from(`${name}:${secret}`).toString('base64')}`;
    // The gateway hashes the secret, and takes no key of the mail server for its own administration.
    const direct = await fetch(`${world.mail.url}/api/principal?limit=1`, { headers: { Authorization } });
    assert.equal(direct.status, 200);
    assert.equal((await world.call('GET /jmap/session', undefined, { Authorization })).status, 401);
    assert.equal((await world.call('POST /jmap', '{}', { Authorization })).status, 401);
  });

  it('app passwords and the second factor are removed by name, and nothing by an empty text', async () => {
    const [name, password] = [newName(), newPassword()];
    const app = newPassword();
    const secrets = [password, `$app$phone$${app}`, `$app$desk$${newPassword()}`];
    assert.equal((await world.call('POST /api/principal', { name, secrets })).status, 200);
    const remove = async (value: string) => {
      const change = [{ action: 'removeItem', field: 'secrets', value }];
      return (await world.call(`PATCH /api/principal/${name}`, change)).status;
    };
    const logsIn = async (by: string) =>
      (await world.call('GET /jmap/session', undefined, { Authorization: basic(name, by) })).status;
    assert.deepEqual([await remove(''), await remove(password), await remove(`$${password}`)], [400, 400, 400]);
    assert.deepEqual([await logsIn(password), await logsIn(app)], [200, 200]);
    assert.deepEqual([await remove('$app$phone$'), await logsIn(app), await logsIn(password)], [200, 401, 200]);
    assert.deepEqual([await remove('$app$'), await remove('otpauth://'), await logsIn(password)], [200, 200, 200]);
  });
});
