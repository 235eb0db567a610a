// In the mail server a `set` of roles, memberOf or lists empties the other two of them. The gateway reads the principal and sends the items
// that the `set` adds and removes, so that clients keep the promise of the contract. A read that fails is a failed request, never a `set`.

import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { describe, it } from 'node:test';
import { closesAfterAll } from '../../support/closing.ts';
import { type Answer, until } from '../../support/connection.ts';
import { assertRefusal } from '../../support/errors.ts';
import { basic, bodyOf, newPassword, startMail, startMailGateway } from '../../support/mail.ts';
import { startMailFront } from '../../support/mail-front.ts';

const password = newPassword();
const ofUsers = newPassword();
const TIMEOUT_MS = 3000;
const call = (line: string, body?: unknown, headers?: Record<string, string>) => gateway.call(line, body, headers);

const start = closesAfterAll();
const mail = await start(startMail(password));
const front = await start(startMailFront(mail.url));
const gateway = await start(startMailGateway(front.url, password, { timeoutMs: TIMEOUT_MS }));
for (const name of ['staff', 'crew', 'board']) await create({ type: 'group', name });
for (const name of ['news', 'offers']) await create({ type: 'list', name });
await create({ type: 'role', name: 'boss' });

async function create(principal: object): Promise<void> {
  const created = await call('POST /api/principal', principal);
  assert.equal(created.status, 200, created.body.toString());
}
const set = (field: string, value: unknown) => ({ action: 'set', field, value });
const add = (field: string, value: unknown) => ({ action: 'addItem', field, value });
const remove = (field: string, value: unknown) => ({ action: 'removeItem', field, value });

const held = { roles: ['boss', 'user'], memberOf: ['crew', 'staff'], lists: ['news'] };
let number = 0;
/** A new individual with a role, a group and a list. */
async function someone(more: object = {}) {
  number += 1;
  const name = `person-${number}`;
  await create({ name, ...held, ...more });
  front.taken();
  return {
    name,
    patch: (...changes: readonly object[]) => call(`PATCH /api/principal/${name}`, changes),
    async lists() {
      const { data } = bodyOf(await call(`GET /api/principal/${name}`));
      const { roles, memberOf, lists } = data as Record<string, readonly string[] | undefined>;
      // The mail server has an order of its own.
      return { roles: roles?.toSorted(), memberOf: memberOf?.toSorted(), lists: lists?.toSorted() };
    },
  };
}
const done = (answer: Answer) => assert.deepEqual([answer.status, answer.body.toString()], [200, '{"data":null}']);

describe('a set', () => {
  it('of roles, groups or lists leaves the other two alone, and the account can still log in', async () => {
    const { name, patch, lists } = await someone({ secrets: [ofUsers] });
    done(await patch(set('memberOf', ['staff', 'board'])));
    assert.deepEqual(await lists(), { ...held, memberOf: ['board', 'staff'] });
    done(await patch(set('lists', [])));
    assert.deepEqual(await lists(), { ...held, memberOf: ['board', 'staff'], lists: undefined });
    done(await patch(set('roles', ['user'])));
    assert.deepEqual(await lists(), { roles: ['user'], memberOf: ['board', 'staff'], lists: undefined });
    const session = await fetch(`${mail.url}/jmap/session`, { headers: { authorization: basic(name, ofUsers) } });
    assert.equal(session.status, 200);
  });

  it('reaches the mail server as removals and additions, in the order of the lists', async () => {
    const { name, patch } = await someone();
    done(await patch(set('memberOf', ['board', 'staff'])));
    assert.deepEqual(front.taken(), [
      `GET /api/principal/${name}`,
      `PATCH /api/principal/${name} ${JSON.stringify([remove('memberOf', 'crew'), add('memberOf', 'board')])}`,
    ]);
  });

  it('is compared with the lists after the changes before it', async () => {
    const { name, patch, lists } = await someone();
    const changes = [
      add('memberOf', 'board'),
      set('description', 'set'),
      set('memberOf', ['BOARD', 'Crew', 'crew']),
      remove('memberOf', 'CREW'),
      set('lists', ['offers', 'news']),
      set('memberOf', ['crew']),
    ];
    const { status } = await patch(...changes);
    const [, sent = ''] = front.taken();
    assert.deepEqual(JSON.parse(sent.slice(sent.indexOf('['))), [
      add('memberOf', 'board'),
      set('description', 'set'),
      remove('memberOf', 'staff'),
      remove('memberOf', 'crew'),
      add('lists', 'offers'),
      remove('memberOf', 'board'),
      add('memberOf', 'crew'),
    ]);
    assert.equal(status, 200);
    assert.deepEqual((await lists()).lists, ['news', 'offers'], name);
  });

  it('of equal lists sends no change, and gets the usual answer', async () => {
    const { name, patch, lists } = await someone();
    done(await patch(set('roles', ['Boss', 'user']), set('lists', ['news'])));
    assert.deepEqual(front.taken(), [`GET /api/principal/${name}`, `PATCH /api/principal/${name} []`]);
    assert.deepEqual(await lists(), held);
  });

  it('however its name is escaped is no `set` for the mail server', async () => {
    const { name, lists } = await someone();
    const body = '[{"action":"s\\u0065t","f\\u0069eld":"role\\u0073","value":["user"]}]';
    done(await call(`PATCH /api/principal/${name}`, body));
    assert.deepEqual(await lists(), { ...held, roles: ['user'] });
  });

  it('that names an unknown group is refused with its place in the request', async () => {
    const { patch, lists } = await someone();
    const refused = await patch(add('lists', 'offers'), set('memberOf', ['staff', 'nowhere']));
    assertRefusal(refused, 'reference_missing');
    assert.deepEqual([refused.error.param, refused.error.item], ['[1].value[1]', 'nowhere']);
    assert.deepEqual(await lists(), held);
  });

  it('of any other field costs no read', async () => {
    const { name, patch } = await someone();
    const others = [set('description', 'x'), add('roles', 'admin'), remove('lists', 'news'), set('emails', [])];
    for (const change of others) done(await patch(change));
    assert.deepEqual(
      front.taken().map((line) => line.split(' ', 2).join(' ')),
      others.map(() => `PATCH /api/principal/${name}`),
    );
  });
});

describe('a principal that cannot be read', () => {
  const json =
    (body: unknown, status = 200) =>
    (response: ServerResponse) => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    };
  const problem = (status: number) => json({ type: 'about:blank', status, title: 'x', detail: 'x' }, status);
  const cases: readonly (readonly [what: string, answer: (response: ServerResponse) => void, code: string])[] = [
    ['that is missing', json({ error: 'notFound', item: 'any' }), 'resource_missing'],
    ['without a data object', json({ data: null }), 'upstream_bad_response'],
    ['with roles that are no list', json({ data: { roles: 'user' } }), 'upstream_bad_response'],
    ['with roles that are no texts', json({ data: { roles: [1] } }), 'upstream_bad_response'],
    ['with half an answer', (response) => response.end('{"data":{'), 'upstream_bad_response'],
    ['in place of which there is a page', (response) => response.end('<html></html>'), 'upstream_bad_response'],
    ['with 500', problem(500), 'upstream_error'],
    ['with 503', problem(503), 'upstream_unavailable'],
    ['with 429', problem(429), 'upstream_overloaded'],
    ['on a connection that breaks', (response) => response.socket?.destroy(), 'upstream_unreachable'],
    ['in time', () => undefined, 'upstream_timeout'],
  ];

  for (const [what, answer, code] of cases) {
    it(`(${what}) is not changed`, async () => {
      const { name, patch, lists } = await someone();
      front.meddle(({ method }, response) => {
        if (method === 'GET') answer(response);
        return method === 'GET';
      });
      assertRefusal(await patch(set('roles', ['user'])), code);
      front.meddle(undefined);
      assert.deepEqual(
        front.taken().filter((line) => !line.startsWith('GET')),
        [],
      );
      assert.deepEqual(await lists(), held);
      // Neither the place nor the lock is kept.
      done(await patch(set('roles', ['user'])));
      assert.deepEqual(await lists(), { ...held, roles: ['user'] }, name);
    });
  }

  it('is not changed either when its client leaves, and the read ends', async () => {
    const { name, patch, lists } = await someone();
    let isHeld = false;
    let isClosed = false;
    front.meddle(({ method }, response) => {
      isHeld = true;
      response.once('close', () => {
        isClosed = true;
      });
      return method === 'GET';
    });
    const gone = new AbortController();
    const left = fetch(`${gateway.gateway.url}/api/principal/${name}`, {
      method: 'PATCH',
      headers: { authorization: gateway.administrator, 'content-type': 'application/json', 'idempotency-key': name },
      body: JSON.stringify([set('roles', [])]),
      signal: gone.signal,
    });
    await until(() => isHeld);
    gone.abort();
    await assert.rejects(left);
    await until(() => isClosed);
    front.meddle(undefined);
    done(await patch(set('lists', [])));
    assert.deepEqual(await lists(), { ...held, lists: undefined });
  });
});

describe('sets of one principal', () => {
  /** Holds the first PATCH until it is told otherwise. */
  function holdFirst() {
    let letGo: (() => void) | undefined;
    front.meddle(({ method }) => {
      if (method !== 'PATCH' || letGo !== undefined) return false;
      return new Promise((resolve) => {
        letGo = () => resolve(false);
      });
    });
    return { isHeld: () => letGo !== undefined, letGo: () => letGo?.() };
  }

  it('run one after the other, and sets of other principals meanwhile', async () => {
    const { name, patch, lists } = await someone();
    const other = await someone();
    const hold = holdFirst();
    const first = patch(set('memberOf', ['board']));
    await until(hold.isHeld);
    const second = patch(set('memberOf', ['crew']));
    done(await other.patch(set('memberOf', ['crew'])));
    assert.equal(front.taken().filter((line) => line.startsWith(`GET /api/principal/${name}`)).length, 1);
    hold.letGo();
    done(await first);
    done(await second);
    front.meddle(undefined);
    assert.deepEqual(await lists(), { ...held, memberOf: ['crew'] });
  });

  it('that wait for one without an answer are refused by their deadlines, and the lock is free', async () => {
    const { patch } = await someone();
    front.meddle(({ method }) => method === 'PATCH');
    const answers = await Promise.all([patch(set('roles', [])), patch(set('roles', [])), patch(set('roles', []))]);
    front.meddle(undefined);
    for (const answer of answers) assertRefusal(answer, 'upstream_timeout');
    done(await patch(set('roles', ['boss'])));
  });

  it('read and write over one place of the concurrency limit', async () => {
    const people: Awaited<ReturnType<typeof someone>>[] = [];
    while (people.length < 12) people.push(await someone());
    const most = front.mostAtOnce();
    for (const answer of await Promise.all(people.map(({ patch }) => patch(set('lists', ['offers']))))) done(answer);
    assert.ok(Math.max(most, front.mostAtOnce()) <= 4);
    for (const { lists } of people) assert.deepEqual(await lists(), { ...held, lists: ['offers'] });
  });
});

describe('a set with an Idempotency-Key', () => {
  it('is read and written once, and its outcome is kept', async () => {
    const { name } = await someone();
    const keyed = () =>
      call(`PATCH /api/principal/${name}`, [set('roles', ['boss'])], { 'Idempotency-Key': `once-${name}` });
    const answers = [...(await Promise.all([keyed(), keyed()])), await keyed()];
    assert.ok(answers.every(({ status }) => status === 200 || status === 409));
    assert.equal(answers.at(-1)?.headers['idempotent-replayed'], 'true');
    assert.deepEqual(
      front.taken().map((line) => line.split(' ')[0]),
      ['GET', 'PATCH'],
    );
  });

  it('whose read fails has executed nothing: its repetition runs', async () => {
    const { name, lists } = await someone();
    const keyed = () =>
      call(`PATCH /api/principal/${name}`, [set('roles', ['boss'])], { 'Idempotency-Key': `again-${name}` });
    front.meddle(({ method }, response) => {
      if (method === 'GET') response.writeHead(503).end();
      return method === 'GET';
    });
    assertRefusal(await keyed(), 'upstream_unavailable');
    front.meddle(undefined);
    done(await keyed());
    assert.deepEqual(await lists(), { ...held, roles: ['boss'] });
  });
});

describe('a refused credential', () => {
  it('fails the read: the principal is not changed, and the next secret is used', async () => {
    const { patch, lists } = await someone();
    mail.useAdministrator(`${password}-2`);
    assertRefusal(await patch(set('roles', ['boss'])), 'upstream_auth_failed');
    assert.deepEqual(
      front.taken().map((line) => line.split(' ')[0]),
      ['GET'],
    );
    mail.useAdministrator(password);
    gateway.gateway.app.reload();
    done(await patch(set('roles', ['boss'])));
    assert.deepEqual(await lists(), { ...held, roles: ['boss'] });
  });
});
