// `doctor` tries each provider that people sign in with, and signs no person in: discovery, keys, the client, its redirect addresses, the clock.
// `check` warns of the same. Both look into the session store.

import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import type { Finding } from '../../../gateway/commands/finding.ts';
import { environmentOf, writeConfiguration, writeFiles } from '../../support/configuration.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { runInProcess } from '../../support/in-process.ts';
import { PROVIDER_SECRET_ENTRY, startProvider } from '../../support/provider.ts';
import { SESSION_ENTRY, sessionContract } from '../../support/sessions.ts';
import { thingsAt } from '../../support/things.ts';

const origin = 'http://localhost:8080';
const provider = await startProvider({ gatewayOrigin: origin });
after(() => provider.close());

interface Changes {
  readonly sessions?: Readonly<Record<string, unknown>>;
  readonly entry?: Readonly<Record<string, unknown>>;
  readonly secret?: string;
  readonly now?: () => number;
  /** What the file of the store has. */
  readonly stored?: string;
}

async function run(words: readonly string[], changes: Changes = {}) {
  const { sessions, entry, secret = provider.secret, now, stored } = changes;
  const directory = temporaryDirectory();
  if (stored !== undefined) writeFiles(directory, { 'data/sessions.db': stored });
  const { contracts, upstreams } = thingsAt('http://127.0.0.1:9');
  writeConfiguration(directory, {
    contracts: { ...contracts, ...sessionContract },
    upstreams: { ...upstreams, ...SESSION_ENTRY },
    gateway: { publicUrl: origin, sessions: { providers: { staff: { ...provider.entry, ...entry } }, ...sessions } },
  });
  const environment = {
    ...environmentOf(directory),
    GATEWAY_DATA: `${directory}/data`,
    [PROVIDER_SECRET_ENTRY.toUpperCase()]: secret,
  };
  const { stdout } = await runInProcess([...words, '--json'], { environment, ...(now && { now }) });
  return JSON.parse(stdout);
}

async function findings(changes?: Changes): Promise<string[]> {
  const { checks } = (await run(['doctor'], changes)) as { checks: Finding[] };
  return checks.filter(({ check }) => check === 'provider staff').map(({ verdict, says }) => `${verdict}: ${says}`);
}

describe('doctor', () => {
  it('finds that the provider takes logins', async () => {
    assert.deepEqual(await findings(), ['ok: It takes logins from here.']);
    assert.deepEqual(provider.errors, []);
  });

  it('finds that the client is unknown there, or its secret another one', async () => {
    assert.match(
      (await findings({ secret: 'another-secret-of-the-client' })).join(),
      /^fail: It refuses a login .*invalid_client/,
    );
    assert.match((await findings({ entry: { clientId: 'other' } })).join(), /invalid_client/);
  });

  it('finds an origin that has no redirect address there', async () => {
    const origins = [origin, 'http://localhost:8081'];
    const [failure, ...others] = await findings({ sessions: { origins } });
    assert.match(
      failure ?? '',
      /^fail: It refuses a login that comes back to http:\/\/localhost:8081\/session\/callback/,
    );
    assert.deepEqual(others, []);
  });

  it('finds a clock that differs', async () => {
    const late = await findings({ now: () => Date.now() + 600_000 });
    assert.match(late[0] ?? '', /^fail: Its clock and the clock of this machine differ by (59\d|60\d) s\./);
  });

  it('finds a provider that is away, or that is another one than it says', async () => {
    assert.match(
      (await findings({ entry: { issuer: 'http://127.0.0.1:9' } })).join(),
      /^fail: Its discovery document cannot be used/,
    );
    const discovery = '/.well-known/openid-configuration';
    const document = (await (await fetch(provider.issuer + discovery)).json()) as Record<string, unknown>;
    const answering = async (members: object) => {
      provider.answers(discovery, (_request, response) => {
        response
          .writeHead(200, { 'content-type': 'application/json' })
          .end(JSON.stringify({ ...document, ...members }));
      });
      try {
        return await findings();
      } finally {
        provider.answers(discovery, undefined);
      }
    };
    assert.match(
      (await answering({ issuer: 'https://evil.example' })).join(),
      /^fail: Its discovery document cannot be used/,
    );
    assert.match(
      (await answering({ token_endpoint: 'https://evil.example/token' })).join(),
      /Its token_endpoint is at https:\/\/evil\.example, which is not in endpointOrigins/,
    );
    const less = { backchannel_logout_supported: undefined, end_session_endpoint: undefined };
    assert.deepEqual(
      (await answering(less)).map((line) => line.slice(0, 40)),
      [
        'ok: It takes logins from here.',
        'warn: In its discovery document it names',
        'warn: It offers no back-channel logout: ',
      ],
    );
  });
});

it('check warns, but accepts the files', async () => {
  const fine = await run(['check']);
  assert.deepEqual([fine.ok, fine.warnings.filter((text: string) => text.includes('provider'))], [true, []]);
  const away = await run(['check'], { entry: { issuer: 'http://127.0.0.1:9' } });
  assert.equal(away.ok, true);
  assert.ok(away.warnings.some((text: string) => text.startsWith('provider staff: Its discovery document')));
});

it('a session store that is damaged is found before a start', async () => {
  const damaged = { stored: 'no database'.repeat(100) };
  const { checks } = (await run(['doctor'], damaged)) as { checks: Finding[] };
  assert.equal(checks.find(({ check }) => check === 'store sessions.db')?.verdict, 'fail');
  const { warnings } = await run(['check'], damaged);
  assert.match(warnings.join(), /sessions\.db cannot be opened: file is not a database/);
});
