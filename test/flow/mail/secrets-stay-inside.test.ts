// A run full of passwords, before a mail server that reveals secrets and repeats its input: afterwards none of them is in any answer, log
// line, metric, status or audit row, and no text of the mail server that matches no rule.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Answer } from '../../support/connection.ts';
import {
  ADMINISTRATOR,
  basic,
  type Mail,
  type MailGateway,
  newPassword,
  startMail,
  startMailGateway,
} from '../../support/mail.ts';
import { httpAnswer, type ScriptedUpstream, startScriptedUpstream } from '../../support/scripted-upstream.ts';
import { LIMIT_RUNS } from '../../unit/limits/scenarios.ts';

/** Everything that must not be found anywhere. */
const passwords = {
  gateway: newPassword(),
  guessed: newPassword(),
  created: newPassword(),
  set: newPassword(),
  added: newPassword(),
  app: newPassword(),
  removed: newPassword(),
  beforeTheChange: newPassword(),
};
const unrecognised = `Words of the upstream ${newPassword()}`;

const lines = [
  'GET /api/principal',
  'GET /api/principal/dana',
  'DELETE /api/principal/nobody',
  `GET /api/principal?filter=${newPassword()}`,
] as const;
const bodies: readonly (readonly [string, unknown])[] = [
  ['POST /api/principal', { name: 'dana', secrets: [passwords.created, `$app$phone$${passwords.app}`] }],
  ['POST /api/principal', { name: 'dana', secrets: passwords.created }],
  ['POST /api/principal', { name: 'other', secrets: passwords.created, emails: ['other@nowhere.example'] }],
  ['POST /api/principal', { name: 'no/name', secrets: passwords.created, unknown: passwords.created }],
  ['POST /api/principal', `{"name":"dana","secrets":["${passwords.created}"`],
  ['PATCH /api/principal/dana', [{ action: 'set', field: 'secrets', value: [passwords.set] }]],
  ['PATCH /api/principal/dana', [{ action: 'set', field: 'secrets', value: passwords.set }]],
  ['PATCH /api/principal/dana', [{ action: 'addItem', field: 'secrets', value: passwords.added }]],
  ['PATCH /api/principal/dana', [{ action: 'addItem', field: 'secrets', value: [passwords.added] }]],
  ['PATCH /api/principal/dana', [{ action: 'removeItem', field: 'secrets', value: passwords.removed }]],
  ['PATCH /api/principal/dana', [{ action: 'set', field: 'description', value: { secret: passwords.set } }]],
  ['PATCH /api/principal/nobody', [{ action: 'addItem', field: 'secrets', value: passwords.added }]],
  ['PATCH /api/principal/dana', { action: 'addItem', field: 'secrets', value: passwords.added }],
];

/**
 * All requests with every kind of credentials; all answers, heads included. `part`: which of the bodies that are hashed, but in the full
 * run.
 */
async function run(world: MailGateway, part: 0 | 1): Promise<string[]> {
  const { authorization } = await world.gateway.authorize({
    organization: 'org_operator',
    operator: true,
    scopes: ['mail:read', 'mail:write'],
  });
  const wrong = basic(ADMINISTRATOR, passwords.guessed);
  /** A hash takes a tenth of a second: the two callers that are let in, and two runs, share the bodies among them, but in the full run. */
  const isSent = (caller: string, index: number) =>
    LIMIT_RUNS > 1 ||
    ![world.administrator, authorization].includes(caller) ||
    index % 4 === part * 2 + Number(caller === authorization);
  const seen: string[] = [];
  const note = ({ lines: head, body }: Answer) => seen.push(`${JSON.stringify(head)}\n${body.toString()}`);
  for (const Authorization of [
    world.administrator,
    authorization,
    wrong,
    `${wrong}x`,
    wrong.replace('Basic', 'Bearer'),
  ]) {
    for (const line of lines) note(await world.call(line, undefined, { Authorization }));
    for (const [index, [line, body]] of bodies.entries())
      if (isSent(Authorization, index))
        note(await world.call(line, body, { Authorization, 'Idempotency-Key': newPassword() }));
  }
  return seen;
}

/** Everything that operators see: log, metrics, status, audit. */
async function seenByOperators({ gateway }: MailGateway): Promise<string[]> {
  const pages = ['/metrics', '/status', '/readyz', '/'].map(async (path) =>
    (await fetch(gateway.adminUrl + path)).text(),
  );
  const audit = await gateway.store.audit.list({ limit: 1000 });
  return [
    ...(await Promise.all(pages)),
    JSON.stringify(audit),
    ...gateway.logLines().map((line) => JSON.stringify(line)),
  ];
}

/** No secret as it is, nor in the form in which credentials are sent. */
function assertClean(texts: readonly string[]): void {
  const secrets = Object.values(passwords);
  const found = [...secrets, ...secrets.map((secret) => basic(ADMINISTRATOR, secret).slice(6)), unrecognised];
  for (const text of texts) for (const marker of found) assert.ok(!text.includes(marker), text);
  for (const text of texts) assert.doesNotMatch(text, /\$scrypt\$|\$app\$|otpauth:/);
}

describe('passwords', () => {
  let mail: Mail;
  let world: MailGateway;
  before(async () => {
    mail = await startMail(passwords.gateway);
    world = await startMailGateway(mail.url, passwords.gateway);
  });
  after(async () => {
    await world.stop();
    await mail.close();
  });

  it('are in nothing that the gateway sends, with a mail server that is right', async () => {
    const answers = await run(world, 0);
    assert.ok(
      answers.some((answer) => answer.includes('"data":{"id":')),
      'something was there to be seen',
    );
    assertClean(answers);
    assertClean(await seenByOperators(world));
  });

  it('are in nothing that the gateway sends once its own is refused', async () => {
    mail.useAdministrator(passwords.beforeTheChange);
    assertClean(await run(world, 1));
    const seen = await seenByOperators(world);
    assert.ok(seen.some((text) => text.includes('latched')));
    assertClean(seen);
  });
});

describe('a mail server that repeats its input', () => {
  let upstream: ScriptedUpstream;
  let world: MailGateway;
  before(async () => {
    upstream = await startScriptedUpstream();
    world = await startMailGateway(upstream.url, newPassword());
  });
  after(async () => {
    await world.stop();
    await upstream.close();
  });

  /** In every member that a rule may take something from, and in others. */
  const answersWith = (said: string): readonly (readonly [number, object])[] => [
    ...['notFound', 'fieldAlreadyExists', 'fieldMissing', 'unsupported', 'other', said].map(
      (error) => [200, { error, item: said, field: said, value: said, details: said, reason: said }] as const,
    ),
    [200, { data: { id: 1, type: 'individual', name: 'dana', secrets: [said, `$app$phone$${said}`] } }],
    [200, { data: { items: [{ id: 1, type: 'individual', name: 'dana', secrets: said }], total: 1 } }],
    [200, { [said]: said }],
    ...[201, 400, 401, 403, 409, 422, 500, 503].map(
      (status) => [status, { type: said, status, title: said, detail: said, message: said, code: said }] as const,
    ),
    [400, { type: said, detail: said, limit: said }],
    [403, { title: `Quota exceeded ${said}`, detail: said }],
  ];

  /** The client's answer for each of these answers, and the operators' view of it. */
  async function everythingAfter(
    [line, body]: readonly [string, unknown],
    said: (request: string) => string,
    isTried: (index: number) => boolean = () => true,
  ): Promise<string[]> {
    const key = { organization: 'org_operator', operator: true, scopes: ['mail:read', 'mail:write'] };
    const { authorization: Authorization } = await world.gateway.authorize(key);
    const texts: string[] = [];
    for (const [index] of answersWith('').entries()) {
      if (!isTried(index)) continue;
      upstream.plays((socket, request) => {
        const [status, answer] = answersWith(said(request))[index] as readonly [number, object];
        const head = { 'X-Said': said(request), 'WWW-Authenticate': `Basic realm="${said(request)}"` };
        socket.write(httpAnswer(status, JSON.stringify(answer), head));
      });
      // The one before may have been refused.
      world.useSecret(newPassword());
      const { lines: head, body: answered } = await world.call(line, body, { Authorization });
      texts.push(`${JSON.stringify(head)}\n${answered.toString()}`);
    }
    return [...texts, ...(await seenByOperators(world))];
  }

  /** The secret as it stands in the body that arrived: hashed, unless nothing is stored of it. */
  const asItCame = (request: string) =>
    /"(?:value|secrets)":\["?([^"]+)"|"(?:value|secrets)":"([^"]+)"/.exec(request)?.slice(1).find(Boolean) ?? '';

  const escaped = (secret: string) => `Near "${secret.slice(0, 12)}\\u0020${secret.slice(12)}"`;
  const create = ['POST /api/principal', { name: 'dana', secrets: passwords.created }] as const;
  const change = (action: string, value: string) =>
    ['PATCH /api/principal/dana', [{ action, field: 'secrets', value }]] as const;
  const removedApp = `$app$phone$${passwords.removed}`;
  /** A hash takes a tenth of a second: the tests with one share the answers among them, but in the full run. */
  const part = (number: number) => (index: number) => LIMIT_RUNS > 1 || index % 3 === number;
  const requests = [
    { when: 'on create, quoted whole', request: create, said: passwords.created, isTried: part(0) },
    {
      when: 'on update, quoted in pieces',
      request: change('addItem', passwords.added),
      said: escaped(passwords.added),
      isTried: part(1),
    },
    { when: 'on removal, quoted whole', request: change('removeItem', removedApp), said: removedApp },
    {
      when: 'on removal, quoted in pieces',
      request: change('removeItem', removedApp),
      said: escaped(passwords.removed),
    },
  ];
  for (const { when, request, said, isTried } of requests) {
    it(`does not get a password out ${when}`, async () =>
      assertClean(await everythingAfter(request, () => said, isTried)));
  }

  it('does not get the hash of a password out', async () => {
    const texts = await everythingAfter(create, asItCame, part(2));
    assert.match(asItCame(upstream.received.at(-1) ?? ''), /^\$scrypt\$/);
    assertClean(texts);
  });

  it('does not pass text that matches no rule', async () => {
    // Of failures that a rule covers, `details` is understood.
    const texts = await everythingAfter(['GET /api/principal/dana', undefined], () => unrecognised);
    assertClean(
      texts.filter((text) => !/operation_unsupported|upstream_rejected|already_exists|validation_failed/.test(text)),
    );
  });
});
