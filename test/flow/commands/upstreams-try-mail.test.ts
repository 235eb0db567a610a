// `gateway upstreams try mail` against the mail server of the sandbox, at an address of its own as a real one has.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { Finding } from '../../../gateway/commands/finding.ts';
import type { StepRow } from '../../../gateway/commands/upstreams/stalwart/rows.ts';
import type { Configuration } from '../../../gateway/configuration.ts';
import type { MailServerOptions } from '../../../sandbox/mail/options.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { runInProcess } from '../../support/in-process.ts';
import { ADMINISTRATOR, basic, newPassword, startMail } from '../../support/mail.ts';
import { startUpstream } from '../../support/upstream.ts';

const password = newPassword();
/** Of the shipped files, for every run: they take longer to load than a run. */
let loaded: Promise<Configuration> | undefined;

const directory = temporaryDirectory();

interface Told {
  readonly code: number;
  readonly stderr: string;
  readonly requests: number;
  readonly steps: readonly StepRow[];
  readonly checks: readonly Finding[];
}

async function run(url: string, ...flags: readonly string[]) {
  const environment = {
    GATEWAY_DATA: join(directory, 'data'),
    STALWART_ADMIN_CREDENTIALS: `${ADMINISTRATOR}:${password}`,
  };
  const words = ['upstreams', 'try', 'mail', '--requests', '60', '--target', url, ...flags];
  return runInProcess(words, {
    environment,
    adjust(context) {
      const configuration = () => {
        loaded ??= context.configuration();
        return loaded;
      };
      return { ...context, configuration };
    },
  });
}

async function tryMail(url: string, ...flags: readonly string[]): Promise<Told> {
  const { code, stdout, stderr } = await run(url, '--json', ...flags);
  assert.notEqual(stdout, '', stderr);
  return { code, stderr, ...(JSON.parse(stdout) as Omit<Told, 'code' | 'stderr'>) };
}

/** The steps of one mail server: verdicts by step, and the server's requests. */
async function stepsAt(options: Partial<MailServerOptions>, account = password) {
  const mail = await startMail(account, options);
  try {
    const told = await tryMail(mail.url);
    const verdicts = Object.fromEntries(told.steps.map(({ step, verdict }) => [step, verdict]));
    const of = (name: string) => told.steps.find(({ step }) => step === name) ?? assert.fail(name);
    return { ...told, verdicts, of, received: mail.received, sideEffects: mail.sideEffects };
  } finally {
    await mail.close();
  }
}

const mended = { useForwarded: true, publicUrl: 'http://localhost:8080' };
const all = [
  ...['login', 'version', 'permissions', 'allow list', 'failed logins', 'forwarded addresses', 'http.url', 'jwks'],
  ...['limits', 'reload'],
];

describe('the table of the steps of docs/mail.md', () => {
  it('says that all of them hold at a mail server that is set up', async () => {
    const { code, verdicts, steps, sideEffects, received } = await stepsAt(mended);
    assert.deepEqual(verdicts, Object.fromEntries(all.map((step) => [step, 'holds'])), JSON.stringify(steps, null, 1));
    assert.equal(code, 0);
    assert.ok(steps.every(({ change }) => change === undefined));
    assert.deepEqual(sideEffects, []);
    assert.ok(received.every((line) => /^(GET|HEAD) /.test(line)));
  });

  it('names the steps that a new mail server lacks, with the line to change', async () => {
    const { code, stderr, verdicts, of } = await stepsAt({});
    assert.deepEqual(
      all.filter((step) => verdicts[step] !== 'holds'),
      ['forwarded addresses', 'http.url'],
    );
    assert.equal(of('forwarded addresses').change, 'http.use-x-forwarded = true');
    assert.equal(of('http.url').change, `http.url = "'http://localhost:8080'"`);
    assert.equal(code, 1);
    assert.match(stderr, /^gateway: mail: 2 of 10 steps do not hold\.$/m);
  });

  it('stops at a refused login: the mail server gets one', async () => {
    const { code, verdicts, of, checks, received } = await stepsAt(mended, newPassword());
    assert.equal(code, 1);
    assert.equal(verdicts.login, 'does not hold');
    assert.match(of('login').says, /one failed login/);
    for (const step of ['permissions', 'forwarded addresses', 'reload']) assert.equal(verdicts[step], 'cannot be seen');
    for (const step of ['version', 'http.url', 'jwks']) assert.equal(verdicts[step], 'holds', step);
    assert.deepEqual(checks, []);
    assert.equal(received.filter((line) => line.includes(' /api/')).length, 1);
  });

  it('names a missing permission, and the rows that need it', async () => {
    const root = newPassword();
    const mail = await startMail(password, { administrator: () => ({ user: 'root', password: root }), ...mended });
    const headers = { authorization: basic('root', root), 'content-type': 'application/json' };
    const body = JSON.stringify({ name: ADMINISTRATOR, secrets: [password], roles: ['user'] });
    await fetch(`${mail.url}/api/principal`, { method: 'POST', headers, body });
    const { code, steps } = await tryMail(mail.url);
    await mail.close();
    const verdictOf = (name: string) => steps.find(({ step }) => step === name)?.verdict;
    assert.deepEqual(['login', 'permissions', 'forwarded addresses', 'reload'].map(verdictOf), [
      'holds',
      'does not hold',
      'cannot be seen',
      'cannot be seen',
    ]);
    assert.match(steps.find(({ step }) => step === 'permissions')?.change ?? '', /"roles","value":"admin"/);
    assert.equal(code, 1);
  });

  it('names an error that keeps reloads from being applied', async () => {
    const { verdicts, of } = await stepsAt({ ...mended, settingErrors: { 'resolver.x': 'no such host' } });
    assert.equal(verdicts.reload, 'does not hold');
    assert.match(of('reload').says, /resolver\.x.*applies nothing/);
  });

  it('distinguishes a ban and a later release from a wrong password', async () => {
    const dropping = await startUpstream((_request, _response, raw) => raw.socket.destroy());
    const banned = await tryMail(dropping.url);
    await dropping.close();
    assert.match(banned.steps[0]?.says ?? '', /drops its connections/);
    const later = await startUpstream((_request, response) => {
      response.writeHead(404, { 'content-type': 'application/problem+json' }).end('{"status":404,"title":"Not Found"}');
    });
    const told = await tryMail(later.url);
    await later.close();
    assert.deepEqual(
      told.steps.filter(({ step }) => step === 'version').map(({ verdict }) => verdict),
      ['does not hold'],
    );
    assert.deepEqual([banned.code, told.code], [1, 1]);
  });

  it('is printed in lines, before the findings', async () => {
    const mail = await startMail(password, { publicUrl: 'https://inside.example:8443' });
    const { stdout } = await run(mail.url);
    await mail.close();
    const lines = stdout.split('\n');
    assert.match(lines[0] ?? '', /^mail at http:.*, live, \d+ requests$/);
    assert.match(lines[1] ?? '', /^holds {11}login +The mail server takes the login of "admin"\.$/);
    assert.match(
      stdout,
      /^does not hold {3}http\.url .*https:\/\/inside\.example:8443, .* {2}Change: http\.url = "'http:/m,
    );
    assert.match(stdout, /^ok {4}contract /m);
  });
});

describe('a trial with writes', () => {
  it('creates principals, and leaves none behind', async () => {
    const mail = await startMail(password, mended);
    async function principals(): Promise<unknown> {
      const headers = { authorization: basic(ADMINISTRATOR, password) };
      const answer = await fetch(`${mail.url}/api/principal?fields=name`, { headers });
      return answer.json();
    }
    try {
      const before = await principals();
      const { checks } = await tryMail(mail.url, '--writes');
      const records = checks.find(({ check }) => check === 'records');
      assert.deepEqual([records?.verdict, await principals()], ['ok', before]);
      const deleted = mail.received.filter((line) => line.startsWith('DELETE '));
      assert.ok(mail.received.some((line) => line.startsWith('POST ')) && deleted.length > 1, deleted.join());
    } finally {
      await mail.close();
    }
  });
});
