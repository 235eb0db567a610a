// A public JMAP client library works with the mail server of the sandbox through a running gateway: it follows the URLs of the session,
// lists mailboxes, sends a message to another account, imports one and downloads it.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { basic, bodyOf, type MailGateway, newPassword, startMailGateway } from '../support/mail.ts';
import { unusedPort } from '../support/upstream.ts';
import { nodeAppFor } from './support/packages.ts';

const run = promisify(execFile);
const PATIENCE_MS = 120_000;
const PANEL = 'panel.test';

describe('a JMAP client library', () => {
  let world: MailGateway;
  let origin: string;
  let publicHost: string;
  const users = { dana: newPassword(), robin: newPassword() };
  before(async () => {
    const port = await unusedPort();
    publicHost = `localhost:${port}`;
    origin = `http://${publicHost}`;
    const gateway = { publicUrl: origin, hosts: { panel: PANEL } };
    const environment = { PORT: String(port) };
    world = await startMailGateway('sandbox:mail', newPassword(), {}, { gateway, environment });
    const create = (principal: object) => world.call('POST /api/principal', principal, { Host: publicHost });
    assert.equal((await create({ type: 'domain', name: 'example.com' })).status, 200);
    for (const [name, secrets] of Object.entries(users))
      assert.equal((await create({ name, secrets, emails: [`${name}@example.com`] })).status, 200);
  });
  after(() => world?.stop());

  /** A token by the device grant: the client shows a code, and the user approves it at the panel. */
  async function tokenOf(name: keyof typeof users): Promise<string> {
    const form = { 'Content-Type': 'application/x-www-form-urlencoded', Authorization: undefined, Host: publicHost };
    const json = async (line: string, body: string) => JSON.parse(String((await world.call(line, body, form)).body));
    const { device_code: code, user_code: userCode } = await json('POST /auth/device', 'client_id=a');
    const approval = { Authorization: basic(name, users[name]), Host: PANEL };
    const approved = await world.call('POST /api/oauth', { type: 'device', code: userCode }, approval);
    assert.equal(bodyOf(approved).data, true);
    const grant = `grant_type=urn:ietf:params:oauth:grant-type:device_code&device_code=${code}&client_id=a`;
    return (await json('POST /auth/token', grant)).access_token;
  }

  it('lists, sends, imports and downloads mail', async () => {
    const directory = await nodeAppFor('jmap-client');
    const env = {
      ...process.env,
      SESSION_URL: `${origin}/jmap/session`,
      TOKEN: await tokenOf('dana'),
      SENDER: 'dana@example.com',
      RECIPIENT: 'robin@example.com',
    };
    const { stdout } = await run(process.execPath, [join(directory, 'use.js')], { env, timeout: PATIENCE_MS });
    assert.deepEqual(JSON.parse(stdout), {
      roles: ['inbox', 'drafts', 'sent', 'trash', 'junk'],
      identity: 'dana@example.com',
      status: 'final',
      sent: {
        subject: 'Grüße',
        to: 'robin@example.com',
        keywords: { $seen: true },
        text: 'A letter by a library.',
      },
      imported: 'Imported',
      isWhole: true,
      name: 'attachment; filename="index.php.eml"',
    });
  });

  it('has delivered the message, and the other account is told', async () => {
    const headers = { Authorization: basic('robin', users.robin) };
    const events = await fetch(`${origin}/jmap/eventsource/?types=Email&closeafter=state&ping=0`, { headers });
    const session = (await (await fetch(`${origin}/jmap/session`, { headers })).json()) as {
      readonly apiUrl: string;
      readonly primaryAccounts: Readonly<Record<string, string>>;
    };
    assert.equal(session.apiUrl, `${origin}/jmap/`);
    const accountId = session.primaryAccounts['urn:ietf:params:jmap:mail'];
    const ask = async (...methodCalls: readonly unknown[]) => {
      const body = JSON.stringify({ using: ['urn:ietf:params:jmap:mail'], methodCalls });
      const answer = await fetch(session.apiUrl, { method: 'POST', headers, body });
      return ((await answer.json()) as { methodResponses: [string, Record<string, unknown>, string][] })
        .methodResponses;
    };
    const ids = { resultOf: 'q', name: 'Email/query', path: '/ids' };
    const [, got] = await ask(
      ['Email/query', { accountId, filter: { inMailbox: 'a' } }, 'q'],
      ['Email/get', { accountId, '#ids': ids, properties: ['subject', 'from', 'bcc'] }, 'g'],
    );
    const [letter] = (got?.[1].list ?? []) as Record<string, unknown>[];
    const { subject, from } = letter as { subject: string; from: { email: string }[] };
    assert.deepEqual([subject, from[0]?.email], ['Grüße', 'dana@example.com']);
    await ask(['Email/set', { accountId, destroy: [letter?.id] }, 'd']);
    assert.match(await events.text(), /^event: state\ndata: \{.*"Email":"s\d+"/);
  });
});
