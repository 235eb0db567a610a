// Operators silence alerts by command and in the console, which the audit log notes; they try receivers, and `check` names every mistake.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { AlertsReport } from '../../../gateway/alerts/report.ts';
import { startAlertReceiver } from '../../support/alert-receiver.ts';
import { gatewayFileOf } from '../../support/configuration.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { runInProcess } from '../../support/in-process.ts';
import { eventually } from '../../support/instances.ts';
import { startSmtp } from '../../support/smtp.ts';
import { thingsAt } from '../../support/things.ts';
import { unusedPort } from '../../support/upstream.ts';

const TOKEN = 'a-token-of-the-test';

describe('operators', () => {
  let gateway: TestGateway;
  let pager: Awaited<ReturnType<typeof startAlertReceiver>>;
  let smtp: Awaited<ReturnType<typeof startSmtp>>;
  let environment: Record<string, string>;

  const alerts = (more: object = {}) => ({
    receivers: {
      pager: { webhook: { url: pager.url, secret: 'pager_key' } },
      team: {
        email: {
          ...{ to: ['ops@example.com'], from: 'gateway@example.com', server: smtp.server, tls: 'none' },
          ...{ user: 'gateway', secret: 'mail_password' },
        },
      },
      away: { webhook: { url: `http://127.0.0.1:${awayPort}/`, secret: 'pager_key' } },
    },
    ...more,
  });
  let awayPort = 0;

  before(async () => {
    [pager, smtp, awayPort] = await Promise.all([
      startAlertReceiver(),
      startSmtp({ login: 'gateway:secret' }),
      unusedPort(),
    ]);
    const secrets = { PAGER_KEY: pager.secret, MAIL_PASSWORD: 'secret', ADMIN_TOKEN: TOKEN };
    gateway = await startGateway({
      ...thingsAt('http://127.0.0.1:1'),
      gateway: { alerts: alerts() },
      environment: secrets,
    });
    environment = {
      ...secrets,
      ...{ GATEWAY_CONFIG: join(gateway.directory, 'config'), GATEWAY_CONTRACTS: join(gateway.directory, 'openapi') },
      ...{ GATEWAY_DATA: gateway.dataDirectory, ADMIN_PORT: String(gateway.app.adminPort) },
    };
  });
  after(async () => {
    await gateway.stop();
    await Promise.all([pager.close(), smtp.close()]);
  });

  const run = (...words: string[]) => runInProcess(['alerts', ...words], { environment });
  const report = async () => JSON.parse((await run('list', '--json')).stdout) as AlertsReport;
  const act = (body: object, headers: object = {}) =>
    fetch(`${gateway.adminUrl}/console/actions/silence-alerts`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${TOKEN}`,
        'content-type': 'application/json',
        'x-console-action': '1',
        ...headers,
      },
      body: JSON.stringify(body),
    });
  const noted = async () =>
    (await gateway.store.audit.list({ limit: 20 }))
      .filter(({ kind }) => kind === 'alerts.silenced')
      .map(({ by, details: { causes, reason } }) => [by, causes, reason]);

  it('silence causes by command and by the console, and end it', async () => {
    const { code, stdout } = await run('silence', 'upstream orders *', '--for', '2h', '--reason', 'moves');
    assert.equal(code, 0);
    assert.match(stdout, /^Alerts about upstream orders \* are silent until 20/);
    const dry = await act({ target: 'redis', seconds: 3600, dry_run: true });
    assert.equal(dry.status, 200);
    assert.deepEqual(
      (await report()).silences.map(({ causes, by, reason }) => [causes, by, reason]),
      [['upstream orders *', 'tests', 'moves']],
    );
    assert.equal((await act({ target: 'redis', seconds: 3600, dry_run: false })).status, 200);
    assert.equal((await run('silence', 'upstream orders *', '--end')).code, 0);
    await eventually(async () => (await report()).configured);
    const { silences, receivers } = await report();
    assert.deepEqual(
      silences.map(({ causes, by }) => [causes, by]),
      [['redis', 'admin_token']],
    );
    assert.ok(Math.abs(Date.parse(silences[0]?.until ?? '') - Date.now() - 3_600_000) < 60_000);
    assert.deepEqual(Object.keys(receivers), ['pager', 'team', 'away']);
    assert.deepEqual(await noted(), [
      ['tests', 'upstream orders *', undefined],
      ['admin_token', 'redis', undefined],
      ['tests', 'upstream orders *', 'moves'],
    ]);
  });

  it('cannot silence unknown causes, for ever, or without the right to act', async () => {
    const before = await noted();
    for (const [words, says] of [
      [['silence', 'upstraem orders', '--for', '2h'], /No cause has an id such as upstraem/],
      [['silence', 'redis', '--for', '10s'], /--for "10s" is not a duration from 1m to 30d/],
      [['silence', 'redis', '--for', '60d'], /--for "60d" is not a duration from 1m to 30d/],
      [['silence', 'redis', '--for', 'soon'], /--for "soon" is not a duration from 1m to 30d/],
      [['silence', 'redis'], /Say how long/],
      [['silence', 'redis', '--end', '--for', '2h'], /either --for or --end/],
    ] as const) {
      const { code, stderr } = await run(...words);
      assert.equal(code, 2, words.join(' '));
      assert.match(stderr, says);
    }
    assert.equal((await act({ target: 'redis', dry_run: false })).status, 400);
    assert.equal(
      (await act({ target: 'redis', seconds: 3600, dry_run: false }, { authorization: 'Bearer x' })).status,
      401,
    );
    assert.deepEqual(await noted(), before);
  });

  it('send a trial to a receiver', async () => {
    assert.match((await run('test', 'pager')).stdout, /^The receiver pager has taken the trial msg_/);
    assert.deepEqual([pager.delivered.at(-1)?.type, pager.told().at(-1)], ['gateway.alerts.trial', ['firing trial']]);
    assert.equal((await run('test', 'team')).code, 0);
    const [mail] = smtp.mails;
    assert.equal(mail?.login, 'gateway:secret');
    assert.ok(mail.headers.some((line) => /^Subject: \[localhost:8080\] trial: This is a trial/.test(line)));
    const away = await run('test', 'away');
    assert.equal(away.code, 1);
    assert.match(away.stderr, /The receiver away took no trial: ECONNREFUSED/);
    assert.match((await run('test', 'pagre')).stderr, /There is no receiver "pagre". Did you mean "pager"/);
  });

  it('learn from doctor which receiver cannot be reached', async () => {
    const { stdout } = await runInProcess(['doctor', '--json'], { environment });
    const checks = (JSON.parse(stdout) as { checks: { check: string; verdict: string }[] }).checks;
    const found = checks
      .filter(({ check }) => check.startsWith('receiver '))
      .map((one) => `${one.check} ${one.verdict}`);
    assert.deepEqual(found, ['receiver pager ok', 'receiver team ok', 'receiver away fail']);
  });

  it('learn from check every mistake, with its line', async () => {
    const webhook = { url: 'https://hooks.example.com', secret: 'pager_key' };
    const email = { to: ['ops@example.com'], from: 'gateway@example.com', server: 'mail.example.com:587' };
    const receivers: Record<string, [settings: object, says: RegExp]> = {
      nothing: [{}, /either webhook or email/],
      both: [{ webhook, email }, /either webhook or email/],
      ftp: [{ webhook: { ...webhook, url: 'ftp://x' } }, /http:\/\/ or https:\/\//],
      named: [{ webhook: { ...webhook, url: 'https://user:word@x' } }, /contains no credentials/],
      injected: [{ email: { ...email, to: ['ops@example.com\r\nBcc: x@y.z'] } }, /mail address/],
      two: [{ email: { ...email, from: 'a@b.c, d@e.f' } }, /mail address/],
      portless: [{ email: { ...email, server: 'mail.example.com' } }, /host:port/],
      half: [{ email: { ...email, user: 'gateway' } }, /both user and secret/],
      readable: [{ email: { ...email, tls: 'none', user: 'u', secret: 's' } }, /readable on its way/],
      misspelled: [{ webhook, causes: ['upstraem *'] }, /kind of a cause/],
      deaf: [{ webhook, severities: [] }, /at least one severity/],
    };
    const file = join(gateway.directory, 'config/gateway.yaml');
    const check = async (settings: object) => {
      writeFileSync(file, JSON.stringify(gatewayFileOf({ alerts: settings }), null, 2));
      const { code, stdout, stderr } = await runInProcess(['check'], { environment });
      return {
        code,
        lines: (stdout + stderr).split('\n').filter((line) => /gateway\.yaml:\d+:\d+: alerts/.test(line)),
      };
    };
    const all = await check({
      receivers: Object.fromEntries(Object.entries(receivers).map(([name, [settings]]) => [name, settings])),
      silences: [
        { from: '25:00', to: '02:00' },
        { from: '22:00', to: '02:00', timeZone: 'Mars' },
      ],
      forSecond: 5,
    });
    assert.equal(all.code, 1);
    for (const [name, [, says]] of Object.entries(receivers))
      assert.ok(
        all.lines.some((line) => line.includes(`alerts.receivers.${name}`) && says.test(line)),
        name,
      );
    for (const says of [/time of day/, /time zone/, /forSeconds/])
      assert.ok(
        all.lines.some((line) => says.test(line)),
        String(says),
      );
    assert.equal(all.lines.length, Object.keys(receivers).length + 3);
    const secret = await check({ receivers: { a: { webhook: { ...webhook, secret: 'mail_password' } } } });
    assert.deepEqual([secret.code, secret.lines.length], [1, 1]);
    assert.match(String(secret.lines[0]), /whsec_ and 24 to 64 bytes/);
    writeFileSync(file, JSON.stringify(gatewayFileOf({ alerts: alerts() }), null, 2));
  });
});
