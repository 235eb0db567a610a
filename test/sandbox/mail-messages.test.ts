// Mail by JMAP at the sandbox mail server: mailboxes, messages, and sending between its accounts.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { basic, mailFor, PASSWORD } from './support/mail.ts';

const server = await mailFor({ after });
const { call, create, url } = server;
await create({ type: 'domain', name: 'example.org' });
const account = async (name: string, emails: readonly string[]) => ({
  as: basic(name, PASSWORD),
  accountId: `u${await create({ name, secrets: [PASSWORD], roles: ['user'], emails })}`,
});
const alice = await account('alice', ['alice@example.org']);
const bob = await account('bob', ['bob@example.org', '@example.org']);
const carol = await account('carol', []);
await create({ type: 'list', name: 'team', emails: ['team@example.org'], members: ['alice', 'carol'] });

const using = ['urn:ietf:params:jmap:core', 'urn:ietf:params:jmap:mail', 'urn:ietf:params:jmap:submission'];
type Who = typeof alice;
type Sent = readonly [method: string, given: object];

/** The answers of several calls in one request, which may refer to each other as c0, c1 and so on. */
async function ask({ as, accountId }: Who, ...calls: readonly Sent[]) {
  const methodCalls = calls.map(([method, given], index) => [method, { accountId, ...given }, `c${index}`]);
  const { status, text, body } = await call('POST', '/jmap', { as, body: { using, methodCalls } });
  assert.equal(status, 200, text);
  // biome-ignore lint/suspicious/noExplicitAny: answers are asserted member by member
  return (body.methodResponses as [string, any, string][]).map(([method, answer]) =>
    method === 'error' ? answer.type : answer,
  );
}

const draft = (members: object = {}) => ({
  mailboxIds: { b: true },
  keywords: { $draft: true },
  from: [{ name: 'Alice', email: 'alice@example.org' }],
  to: [{ name: null, email: 'bob@example.org' }],
  subject: 'Hello',
  bodyValues: { t: { value: 'A line.\n\nAnother one.' } },
  textBody: [{ partId: 't' }],
  ...members,
});

/** A message that was written and sent. */
async function send(who: Who, members: object, envelope?: object) {
  const [set, submitted] = await ask(
    who,
    ['Email/set', { create: { k: draft(members) } }],
    [
      'EmailSubmission/set',
      {
        create: { s: { emailId: '#k', envelope } },
        onSuccessUpdateEmail: { '#s': { 'mailboxIds/b': null, 'mailboxIds/c': true } },
      },
    ],
  );
  return { emailId: set.created.k.id as string, submitted };
}

/** What lies in the inbox, newest first. */
async function inboxOf(who: Who) {
  const ids = { resultOf: 'c0', name: 'Email/query', path: '/ids' };
  const [, got] = await ask(
    who,
    ['Email/query', { filter: { inMailbox: 'a' }, sort: [{ property: 'receivedAt', isAscending: false }] }],
    ['Email/get', { '#ids': ids, fetchTextBodyValues: true }],
  );
  return got.list;
}

test('every account has its mailboxes, and counts what is in them', async () => {
  const [{ list }] = await ask(carol, ['Mailbox/get', {}]);
  assert.deepEqual(
    list.map(({ role, totalEmails }: { role: string; totalEmails: number }) => [role, totalEmails]),
    [
      ['inbox', 0],
      ['drafts', 0],
      ['sent', 0],
      ['trash', 0],
      ['junk', 0],
    ],
  );
  const [one, query] = await ask(
    carol,
    ['Mailbox/get', { ids: ['c', 'x'], properties: ['name'] }],
    ['Mailbox/query', { filter: { role: 'sent' } }],
  );
  assert.deepEqual([one.list, one.notFound, query.ids], [[{ id: 'c', name: 'Sent Items' }], ['x'], ['c']]);
});

test('a message is written, sent and received, with its text and without the blind copies', async () => {
  const { emailId, submitted } = await send(alice, {
    subject: 'Grüße',
    bcc: [{ name: null, email: 'carol@example.org' }],
  });
  assert.equal(submitted.created.s.undoStatus, 'final');
  const [received] = await inboxOf(bob);
  assert.deepEqual([received.subject, received.from], ['Grüße', [{ name: 'Alice', email: 'alice@example.org' }]]);
  assert.deepEqual([received.bcc, received.keywords], [[], {}]);
  assert.equal(received.bodyValues['1'].value, 'A line.\n\nAnother one.');
  const [own] = await ask(alice, ['Email/get', { ids: [emailId], properties: ['mailboxIds', 'bcc'] }]);
  assert.deepEqual(own.list[0].mailboxIds, { c: true });
  assert.equal(own.list[0].bcc[0].email, 'carol@example.org');
  const raw = await fetch(`${url}/jmap/download/${bob.accountId}/${received.blobId}/a.eml`, {
    headers: { authorization: bob.as },
  });
  const text = await raw.text();
  assert.match(text, /^From: Alice <alice@example\.org>\r\n/);
  assert.equal(/^bcc:/im.test(text), false);
});

test('a list delivers to its members, and a catch-all address gets the rest of its domain', async () => {
  await send(bob, { subject: 'To the team', to: [{ name: null, email: 'TEAM@example.org' }] });
  for (const who of [alice, carol]) assert.equal((await inboxOf(who))[0].subject, 'To the team');
  await send(alice, { subject: 'To an unknown name', to: [{ name: null, email: 'unknown@example.org' }] });
  assert.equal((await inboxOf(bob))[0].subject, 'To an unknown name');
  const before = (await inboxOf(bob)).length;
  const { submitted } = await send(alice, {}, { rcptTo: [{ email: 'x@elsewhere.net' }] });
  assert.equal(submitted.created.s.undoStatus, 'final', 'the sandbox sends nothing away');
  assert.equal((await inboxOf(bob)).length, before);
});

test('a message without recipients, or that is missing, is not sent', async () => {
  const { submitted } = await send(alice, { to: [] });
  assert.deepEqual(submitted.notCreated.s, { type: 'noRecipients' });
  const [missing] = await ask(alice, ['EmailSubmission/set', { create: { s: { emailId: 'm0' } } }]);
  assert.equal(missing.notCreated.s.type, 'invalidProperties');
});

test('no line break of a client begins a field of the header', async () => {
  const names = [{ name: 'A\r\nX-Evil: 1', email: 'bob@example.org\r\nX-Evil: 2' }];
  await send(alice, { subject: 'One\r\nX-Evil: 3', to: names }, { rcptTo: [{ email: 'bob@example.org' }] });
  const [{ blobId }] = await inboxOf(bob);
  const raw = await fetch(`${url}/jmap/download/${bob.accountId}/${blobId}/a`, { headers: { authorization: bob.as } });
  assert.equal(/^x-evil/im.test(await raw.text()), false);
});

test('messages are found by what they hold, in the order of their arrival, in pages', async () => {
  const made: Record<string, object> = {};
  for (const subject of ['one', 'two', 'three'])
    made[subject] = draft({ subject: `page ${subject}`, mailboxIds: { e: true } });
  await ask(carol, ['Email/set', { create: made }]);
  const find = async (given: object) => {
    const ids = { resultOf: 'c0', name: 'Email/query', path: '/ids' };
    const [query, { list }] = await ask(
      carol,
      ['Email/query', given],
      ['Email/get', { '#ids': ids, properties: ['subject'] }],
    );
    return { total: query.total, subjects: list.map(({ subject }: { subject: string }) => subject.slice(5)) };
  };
  const ascending = [{ property: 'receivedAt', isAscending: true }];
  const inMailbox = 'e';
  assert.deepEqual((await find({ filter: { inMailbox }, sort: ascending })).subjects, ['one', 'two', 'three']);
  assert.deepEqual((await find({ filter: { inMailbox } })).subjects, ['three', 'two', 'one']);
  assert.deepEqual(
    await find({ filter: { inMailbox }, sort: ascending, position: 1, limit: 1, calculateTotal: true }),
    {
      total: 3,
      subjects: ['two'],
    },
  );
  for (const filter of [{ text: 'PAGE TWO' }, { subject: 'two' }, { subject: 'two', from: 'alice', to: 'bob@' }])
    assert.deepEqual((await find({ filter: { ...filter, inMailbox } })).subjects, ['two'], JSON.stringify(filter));
  assert.deepEqual((await find({ filter: { hasKeyword: '$seen', inMailbox } })).subjects, []);
  assert.equal((await find({ filter: { notKeyword: '$seen', inMailbox } })).subjects.length, 3);
});

test('keywords and mailboxes change by paths, and a message is in one at least', async () => {
  const [{ created }] = await ask(carol, ['Email/set', { create: { k: draft() } }]);
  const { id } = created.k;
  const change = async (patch: object) => (await ask(carol, ['Email/set', { update: { [id]: patch } }]))[0];
  assert.deepEqual(
    (await change({ 'keywords/$seen': true, 'keywords/$draft': null, mailboxIds: { a: true, d: true } })).updated,
    { [id]: null },
  );
  const [{ list }] = await ask(carol, ['Email/get', { ids: [id], properties: ['keywords', 'mailboxIds'] }]);
  assert.deepEqual(list, [{ id, keywords: { $seen: true }, mailboxIds: { a: true, d: true } }]);
  assert.equal((await change({ mailboxIds: {} })).notUpdated[id].type, 'invalidProperties');
  assert.equal((await change({ 'mailboxIds/x': true })).notUpdated[id].type, 'invalidProperties');
  const [set] = await ask(carol, ['Email/set', { destroy: [id, 'm0'], update: { m0: {} } }]);
  assert.deepEqual(
    [set.destroyed, set.notDestroyed, set.notUpdated],
    [[id], { m0: { type: 'notFound' } }, { m0: { type: 'notFound' } }],
  );
});

test('an upload becomes a message, whose state and push change', async () => {
  const raw =
    'Subject: =?utf-8?B?w4Q=?=\r\nFrom: "X, Y" <x@y.org>,\r\n z@y.org\r\nDate: Mon, 2 Mar 2026 10:00:00 +0000\r\nMessage-ID: <a@b>\r\n\r\nText\r\n';
  const { blobId } = (await call('POST', `/jmap/upload/${carol.accountId}/`, { as: carol.as, body: raw })).body;
  const emails = {
    k: { blobId, mailboxIds: { a: true } },
    l: { blobId: 'c0', mailboxIds: { a: true } },
    m: { blobId },
  };
  const [before] = await ask(carol, ['Email/get', { ids: [] }]);
  const [imported, after] = await ask(
    carol,
    ['Email/import', { emails }],
    ['Email/get', { '#ids': { resultOf: 'c0', name: 'Email/import', path: '/created/k/id' } }],
  );
  assert.deepEqual([imported.notCreated.l.type, imported.notCreated.m.type], ['blobNotFound', 'invalidProperties']);
  assert.notEqual(imported.newState, before.state);
  assert.equal(after, 'invalidArguments', 'ids are a list');
  const [{ list }] = await ask(carol, ['Email/get', { ids: [imported.created.k.id] }]);
  const { subject, from, sentAt, messageId, preview } = list[0];
  assert.deepEqual([subject, sentAt, messageId, preview], ['Ä', '2026-03-02T10:00:00Z', ['a@b'], 'Text\r\n']);
  assert.deepEqual(from, [
    { name: 'X, Y', email: 'x@y.org' },
    { name: null, email: 'z@y.org' },
  ]);
});

test('a call that cannot be answered is an error of its own', async () => {
  const reference = (given: object) => ({ '#ids': { resultOf: 'c0', name: 'Mailbox/query', path: '/ids', ...given } });
  const answers = await ask(
    alice,
    ['Mailbox/query', {}],
    ['Mailbox/get', reference({})],
    ['Mailbox/get', reference({ resultOf: 'c9' })],
    ['Mailbox/get', reference({ path: '/nothing' })],
    ['Mailbox/get', reference({ name: 'Email/query' })],
    ['Mailbox/get', { accountId: bob.accountId }],
    ['Email/query', { filter: [] }],
    ['Email/set', { create: 'x' }],
    ['toString', {}],
  );
  assert.equal(answers[1].list.length, 5);
  assert.deepEqual(answers.slice(2), [
    ...['invalidResultReference', 'invalidResultReference', 'invalidResultReference', 'accountNotFound'],
    ...['invalidArguments', 'invalidArguments', 'unknownMethod'],
  ]);
});

test('a token of the device grant logs in as its user, once the user has approved the code', async () => {
  const form = async (path: string, body: string) => (await call('POST', path, { as: null, body })).body;
  const { device_code: code, user_code: userCode } = await form('/auth/device', 'client_id=a');
  const grant = `grant_type=urn:ietf:params:oauth:grant-type:device_code&device_code=${code}&client_id=a`;
  assert.equal((await form('/auth/token', grant)).error, 'authorization_pending');
  const approve = async (body: object) => (await call('POST', '/api/oauth', { as: alice.as, body })).body;
  assert.deepEqual(await approve({ type: 'device', code: 'XXXX' }), { data: false });
  assert.equal((await approve({ type: 'code' })).title, 'Invalid parameters');
  assert.deepEqual(await approve({ type: 'device', code: userCode }), { data: true });
  const { access_token: token, token_type: type } = await form('/auth/token', grant);
  assert.equal(type, 'bearer');
  assert.equal((await call('GET', '/jmap/session', { as: `Bearer ${token}` })).body.username, 'alice');
  assert.equal((await form('/auth/token', grant)).error, 'invalid_grant', 'a code is good for one token');
  assert.equal((await call('GET', '/jmap/session', { as: 'Bearer other' })).status, 401);
});
