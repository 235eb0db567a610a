// Causes reach receivers as signed webhooks and as mail, whatever the receivers do and whatever the texts of causes carry. Requests pass
// none of this; the looks follow each other every few milliseconds here, in the place of seconds.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { afterEach, describe, it } from 'node:test';
import { AlertMonitor, type AlertsOptions } from '../../../gateway/alerts/alerts.ts';
import { ALERTS_FILE, createFileAlertStore } from '../../../gateway/alerts/file-store.ts';
import { alertSettings } from '../../../gateway/alerts/settings.ts';
import type { Cause } from '../../../gateway/shared/contracts/cause.ts';
import { startAlertReceiver } from '../../support/alert-receiver.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { eventually } from '../../support/instances.ts';
import { startSmtp } from '../../support/smtp.ts';
import { unusedPort } from '../../support/upstream.ts';

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

function closed<T extends { close(): Promise<unknown> }>(opened: T): T {
  closing.push(opened.close);
  return opened;
}

const DEAD: Cause = {
  ...{ id: 'upstream orders live', kind: 'bad', cause: 'Upstream orders (live): target 10.0.0.1 is failing.' },
  ...{ consequence: 'Its requests fail with 502 or 504.', since: '2026-11-26T10:00:00.000Z' },
  ...{ details: '#/upstreams/orders', runbook: 'GatewayTargetDown', figures: { requests: 21, failed: 21 } },
  effect: '21 of 21 requests failed',
};

interface Run {
  readonly receivers: object;
  readonly secrets?: Record<string, string>;
  readonly directory?: string;
  readonly more?: Partial<AlertsOptions>;
}

/** Alerts on causes that a test sets. */
function run({ receivers, secrets = {}, directory = temporaryDirectory(), more = {} }: Run) {
  let settings = alertSettings.parse({ receivers, forSeconds: 0, recoverySeconds: 0, groupSeconds: 0 });
  const causes: Cause[] = [];
  const outcomes: string[] = [];
  const logged: string[] = [];
  const log = (...[, text]: unknown[]) => void logged.push(String(text));
  const alerts = new AlertMonitor({
    inForce: async () => ({ settings, gateway: 'https://api.example.com' }),
    causes: async () => [...causes],
    instance: 'here:8080',
    store: createFileAlertStore(directory, Date.now),
    consoleUrl: 'http://127.0.0.1:9090',
    readSecret: (entry) => secrets[entry],
    isServing: () => true,
    logger: { info: log, warn: log, error: log } as never,
    onOutcome: (receiver, outcome) => void outcomes.push(`${receiver} ${outcome}`),
    version: 'test',
    now: Date.now,
    checkMs: 20,
    ...more,
  });
  closing.push(() => alerts.stop());
  const set = (...now: Cause[]) => void causes.splice(0, causes.length, ...now);
  return {
    ...{ alerts, set, outcomes, logged, directory },
    use: (next: object) => {
      settings = alertSettings.parse({ receivers: next, forSeconds: 0, recoverySeconds: 0, groupSeconds: 0 });
    },
  };
}

const until = (holds: () => boolean) => eventually(async () => holds());

describe('a webhook', () => {
  it('gets begin and end of a cause, signed, with all that the console shows of it', async () => {
    const pager = closed(await startAlertReceiver());
    const { set } = run({
      receivers: { pager: { webhook: { url: pager.url, secret: 'pager_key' } } },
      secrets: { pager_key: pager.secret },
    });
    set(DEAD);
    await until(() => pager.delivered.length === 1);
    set();
    await until(() => pager.delivered.length === 2);
    assert.deepEqual(pager.told(), [['firing upstream orders live'], ['resolved upstream orders live']]);
    const [began, ended] = pager.delivered;
    assert.deepEqual(began, {
      id: began?.id,
      type: 'gateway.alerts',
      gateway: 'https://api.example.com',
      alerts: [
        {
          ...{ id: 'upstream orders live', state: 'firing', severity: 'failure', cause: DEAD.cause },
          ...{ consequence: DEAD.consequence, subject: { kind: 'upstream', name: 'orders' } },
          ...{ since: DEAD.since, until: null, figures: DEAD.figures, instances: [], runbook: 'GatewayTargetDown' },
          next: 'bin/gateway upstreams try orders --mode live',
          link: 'http://127.0.0.1:9090/#/upstreams/orders',
          dedup_key: '200189da18a069bfe076e590a47006bb',
        },
      ],
    });
    assert.ok(Date.parse(ended?.alerts[0]?.until ?? '') > Date.parse(String(DEAD.since)));
    assert.notEqual(ended?.id, began?.id);
    assert.match(ended?.alerts[0]?.consequence ?? '', /^It lasted [\d.]+ (s|min|h); 21 of 21 requests failed\.$/);
    assert.equal(ended?.alerts[0]?.dedup_key, began?.alerts[0]?.dedup_key);
  });

  it('that refuses gets the same message again, and its absence is seen meanwhile', async () => {
    const pager = closed(
      await startAlertReceiver((response, attempt) => response.writeHead(attempt < 3 ? 503 : 200).end()),
    );
    let nowMs = Date.now();
    const now = () => nowMs;
    const { set, alerts, outcomes, logged } = run({
      receivers: { pager: { webhook: { url: pager.url, secret: 'pager_key' } } },
      secrets: { pager_key: pager.secret },
      more: { now },
    });
    set(DEAD);
    await until(() => alerts.status().receivers.pager?.state === 'failing');
    assert.match(String(alerts.status().receivers.pager?.reason), /^it answered 503$/);
    await until(() => {
      nowMs += 2000;
      return pager.delivered.length === 3;
    });
    await until(() => alerts.status().receivers.pager?.state === 'ok');
    assert.equal(new Set(pager.delivered.map(({ id }) => id)).size, 1);
    assert.deepEqual(outcomes, ['pager failed', 'pager failed', 'pager delivered']);
    assert.deepEqual(logged, ['alerts could not be sent; they are tried again', 'alerts were sent']);
  });

  it('that comes back after the end of a cause reads in the first message that it is over, and when it ended', async () => {
    let isBack = false;
    const pager = closed(await startAlertReceiver((response) => response.writeHead(isBack ? 200 : 503).end()));
    let nowMs = Date.now();
    const { set, alerts } = run({
      receivers: { pager: { webhook: { url: pager.url, secret: 'pager_key' } } },
      secrets: { pager_key: pager.secret },
      more: { now: () => nowMs },
    });
    set(DEAD);
    await until(() => alerts.status().receivers.pager?.state === 'failing');
    assert.deepEqual([alerts.report().alerts[0]?.told, alerts.status().receivers.pager?.last_message_at], [[], null]);
    const endedAt = '2026-11-26T10:05:00.000Z';
    set({ ...DEAD, kind: 'warn', hasRecovered: true, endedAt });
    await until(() => alerts.report().alerts.length === 0);
    isBack = true;
    await until(() => {
      nowMs += 2000;
      return pager.told().flat().includes('resolved upstream orders live');
    });
    const firing = pager.delivered.flatMap((one) => one.alerts).filter(({ state }) => state === 'firing');
    assert.deepEqual(
      [firing[0]?.consequence, firing.at(-1)?.consequence],
      [DEAD.consequence, `It was over at ${endedAt}. ${DEAD.consequence}`],
    );
  });

  it('is not followed to another address', async () => {
    const other = closed(await startAlertReceiver());
    const pager = closed(
      await startAlertReceiver((response) => response.writeHead(307, { location: other.url }).end()),
    );
    const { set, alerts } = run({
      receivers: { pager: { webhook: { url: pager.url, secret: 'pager_key' } } },
      secrets: { pager_key: pager.secret },
    });
    set(DEAD);
    await until(() => alerts.status().receivers.pager?.state === 'failing');
    assert.equal(alerts.status().receivers.pager?.reason, 'it answered 307, and redirects are not followed');
    assert.equal(other.delivered.length, 0);
  });

  it('that never ends its answer, or never begins one, delays no other receiver and no end of the gateway', async () => {
    const endless = createServer((_, response) => {
      const more = setInterval(() => response.write(Buffer.alloc(65_536)), 1);
      response.on('close', () => clearInterval(more));
    });
    const silent = createServer(() => undefined);
    const ports = await Promise.all(
      [endless, silent].map(async (server) => {
        await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
        closing.push(async () => {
          server.closeAllConnections();
          server.close();
        });
        return (server.address() as { port: number }).port;
      }),
    );
    const pager = closed(await startAlertReceiver());
    const hook = (url: string) => ({ webhook: { url, secret: 'pager_key' } });
    const { set, alerts } = run({
      receivers: {
        endless: hook(`http://127.0.0.1:${ports[0]}/`),
        silent: hook(`http://127.0.0.1:${ports[1]}/`),
        pager: hook(pager.url),
      },
      secrets: { pager_key: pager.secret },
    });
    set(DEAD);
    await until(() => pager.delivered.length === 1);
    set();
    await until(() => pager.delivered.length === 2);
    await until(() => alerts.status().receivers.endless?.last_message_at !== null);
    await alerts.stop();
  });

  it('that a reload has added gets messages, and one that was removed does not', async () => {
    const [pager, other] = [closed(await startAlertReceiver()), closed(await startAlertReceiver())];
    const hook = ({ url }: { url: string }, secret: string) => ({ webhook: { url, secret } });
    const { set, use } = run({
      receivers: { pager: hook(pager, 'pager_key') },
      secrets: { pager_key: pager.secret, other_key: other.secret },
    });
    set(DEAD);
    await until(() => pager.delivered.length === 1);
    use({ other: hook(other, 'other_key') });
    await until(() => other.delivered.length === 1);
    set();
    await until(() => other.delivered.length === 2);
    assert.equal(pager.delivered.length, 1);
  });
});

describe('mail', () => {
  const mailTo = (server: string, more: object = {}) => ({
    team: {
      email: { to: ['ops@example.com', 'lead@example.com'], from: 'gateway@example.com', server, tls: 'none', ...more },
    },
  });

  it('gets begin and end of a cause', async () => {
    const smtp = closed(await startSmtp());
    const { set } = run({ receivers: mailTo(smtp.server) });
    set(DEAD);
    await until(() => smtp.mails.length === 1);
    set();
    await until(() => smtp.mails.length === 2);
    const [began, ended] = smtp.mails;
    assert.ok(began);
    assert.deepEqual([began.from, began.to], ['gateway@example.com', ['ops@example.com', 'lead@example.com']]);
    assert.ok(began.headers.includes('Auto-Submitted: auto-generated'));
    assert.ok(
      began.headers.includes('Subject: [api.example.com] firing: Upstream orders (live): target 10.0.0.1 is failing.'),
      began.headers.join('\n'),
    );
    assert.match(began.body, /^FAILURE: Upstream orders \(live\): target 10\.0\.0\.1 is failing\.\nIts requests fail/);
    assert.match(began.body, /^Details: http:\/\/127\.0\.0\.1:9090\/#\/upstreams\/orders$/m);
    assert.match(String(ended?.body), /^RESOLVED: Upstream orders/);
  });

  it('carries no header, no recipient and no command that stands in the text of a cause', async () => {
    const smtp = closed(await startSmtp());
    const { set } = run({ receivers: mailTo(smtp.server) });
    const evil = `x\r\nBcc: thief@example.com\r\n\r\n.\r\nMAIL FROM:<a@b>\r\n\u2028\u202eDATA\u0000\u001b[2J${'long '.repeat(100_000)}`;
    set({
      ...DEAD,
      id: `operation ${evil}`,
      cause: evil,
      consequence: `${evil}\n.\nQUIT`,
      details: `#/operations/${encodeURIComponent(evil)}`,
    });
    await until(() => smtp.mails.length === 1);
    const [mail] = smtp.mails;
    assert.ok(mail);
    assert.deepEqual(mail.to, ['ops@example.com', 'lead@example.com']);
    assert.deepEqual(mail.headers.map((header) => header.replace(/:.*/s, '').toLowerCase()).sort(), [
      ...['auto-submitted', 'content-transfer-encoding', 'content-type', 'date', 'from', 'message-id'],
      ...['mime-version', 'subject', 'to'],
    ]);
    assert.equal(smtp.commands.filter((command) => /^MAIL/.test(command)).length, 1);
    const text = [...mail.headers, mail.body].join('\n');
    assert.ok(text.length < 8000, String(text.length));
    assert.doesNotMatch(text.replaceAll('\n', ''), /\p{Cc}/u);
  });

  it('is not sent unencrypted, nor a password, to a server that offers no STARTTLS', async () => {
    const smtp = closed(await startSmtp({ login: 'gateway:secret' }));
    const { set, alerts } = run({
      receivers: mailTo(smtp.server, { tls: 'starttls', user: 'gateway', secret: 'mail_password' }),
      secrets: { mail_password: 'secret' },
    });
    set(DEAD);
    await until(() => alerts.status().receivers.team?.state === 'failing');
    assert.match(String(alerts.status().receivers.team?.reason), /STARTTLS/);
    assert.deepEqual(
      smtp.commands.filter((command) => /^(AUTH|MAIL)/.test(command)),
      [],
    );
  });

  it('names why it was refused, without the password', async () => {
    const smtp = closed(await startSmtp({ login: 'gateway:right' }));
    const { set, alerts } = run({
      receivers: mailTo(smtp.server, { user: 'gateway', secret: 'mail_password' }),
      secrets: { mail_password: 'not-right' },
    });
    set(DEAD);
    await until(() => alerts.status().receivers.team?.state === 'failing');
    const reason = String(alerts.status().receivers.team?.reason);
    assert.match(reason, /535 wrong password/);
    assert.doesNotMatch(reason, /not-right|bm90LXJpZ2h0/);
  });

  it('to a server that says nothing delays no end of the gateway', async () => {
    const smtp = closed(await startSmtp({ answers: { GREETING: '' } }));
    const pager = closed(await startAlertReceiver());
    const { set, alerts } = run({
      receivers: { ...mailTo(smtp.server), pager: { webhook: { url: pager.url, secret: 'pager_key' } } },
      secrets: { pager_key: pager.secret },
    });
    set(DEAD);
    await until(() => pager.delivered.length === 1);
    await alerts.stop();
    assert.equal(smtp.mails.length, 0);
  });
});

describe('what was told', () => {
  it('is not sent again by the next process, and a message in progress is sent under the same id', async () => {
    const pager = closed(await startAlertReceiver());
    const receivers = {
      pager: { webhook: { url: pager.url, secret: 'pager_key' } },
      away: { webhook: { url: `http://127.0.0.1:${await unusedPort()}/`, secret: 'pager_key' } },
    };
    const secrets = { pager_key: pager.secret };
    const one = run({ receivers, secrets });
    one.set(DEAD);
    await until(() => one.outcomes.includes('away failed') && one.outcomes.includes('pager delivered'));
    await one.alerts.stop();

    const late = closed(await startAlertReceiver());
    let nowMs = Date.now();
    const next = run({
      receivers: { ...receivers, away: { webhook: { url: late.url, secret: 'late_key' } } },
      secrets: { ...secrets, late_key: late.secret },
      directory: one.directory,
      more: { now: () => nowMs },
    });
    next.set(DEAD);
    nowMs += 60_000;
    await until(() => late.delivered.length === 1);
    next.set();
    await until(() => pager.delivered.length === 2 && late.delivered.length === 2);
    const all = [['firing upstream orders live'], ['resolved upstream orders live']];
    assert.deepEqual([pager.told(), late.told()], [all, all]);
  });

  it('may be lost with its file: causes that last are sent once more', async () => {
    const forms = ['', '{', '[]', 'null', '{"told":5}'];
    const inside = [
      '5',
      '{"form":1,"outboxes":{"pager":{}}}',
      '{"form":1,"outboxes":{"pager":{"alerts":{"a":{}}}}}',
      '{"form":2}',
    ];
    for (const content of [...forms, ...inside.map((told) => JSON.stringify({ told, silences: [] }))]) {
      const pager = await startAlertReceiver();
      const directory = temporaryDirectory();
      writeFileSync(join(directory, ALERTS_FILE), content);
      const { set, alerts } = run({
        receivers: { constructor: { webhook: { url: pager.url, secret: 'pager_key' } } },
        secrets: { pager_key: pager.secret },
        directory,
      });
      set(DEAD);
      await until(() => pager.delivered.length === 1);
      await alerts.stop();
      await pager.close();
    }
  });
});
