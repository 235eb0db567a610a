// What a person may do: scopes by claims, a limit of their own beside that of the organization, no use of a key in the place of a session,
// and the other way round. `explain` tells it.

import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { environmentOf } from '../../support/configuration.ts';
import { createCookieBrowser } from '../../support/cookie-browser.ts';
import { runInProcess } from '../../support/in-process.ts';
import { eventually } from '../../support/instances.ts';
import { startSessionGateway } from '../../support/sessions.ts';

const running = await startSessionGateway({
  limits: { tiers: { standard: { requests: 1000 } }, persons: { requests: 4, windowSeconds: 3600 } },
  sessions: { requestHeader: 'x-requested-by' },
  entry: {
    grants: [{ scopes: ['things:read'] }, { claim: ['access', 'roles'], value: 'editor', scopes: ['things:write'] }],
  },
  provider: { configuration: { claims: { openid: ['sub', 'org', 'access'], profile: ['name'] } } },
});
const { gateway, provider, origin } = running;
after(running.close);

const ours = { 'x-requested-by': '1' };

async function signIn(subject: string, claims: object = {}) {
  provider.person = { subject, claims: { org: 'org_test', ...claims } };
  const browser = createCookieBrowser();
  assert.equal((await browser.open(`${origin}/session/login`)).status, 200);
  return browser;
}

describe('a person', () => {
  it('holds the scopes that follow from claims, and no other', async () => {
    const reader = await signIn('reader');
    const post = { method: 'POST', headers: { ...ours, 'content-type': 'application/json' }, body: '{"name":"x"}' };
    assert.equal((await reader.fetch(`${origin}/v1/things`, { headers: ours })).status, 200);
    const refused = await reader.fetch(`${origin}/v1/things`, post);
    assert.equal(refused.body.error.code, 'insufficient_scope');
    assert.deepEqual(refused.body.error.required_scopes, ['things:write']);
    const editor = await signIn('editor', { access: { roles: ['editor'] } });
    assert.equal((await editor.fetch(`${origin}/v1/things`, post)).status, 200);
  });

  it('is limited by itself, on all devices, and leaves others their share', async () => {
    const [phone, desk] = [await signIn('busy'), await signIn('busy')];
    const statuses: number[] = [];
    for (const browser of [phone, desk, phone, desk, phone]) {
      const answer = await browser.fetch(`${origin}/v1/things`, { headers: ours });
      statuses.push(answer.status);
      if (answer.status !== 429) continue;
      assert.deepEqual(answer.body.error.violated_policies, ['person']);
      assert.match(answer.headers.get('ratelimit-policy') ?? '', /"person";q=4;w=3600/);
    }
    assert.deepEqual(statuses, [200, 200, 200, 200, 429]);
    const other = await signIn('idle');
    assert.equal((await other.fetch(`${origin}/v1/things`, { headers: ours })).status, 200);
    const { authorization } = await gateway.authorize();
    const keyed = await fetch(`${origin}/v1/things`, { headers: { authorization } });
    assert.equal(keyed.status, 200);
    assert.doesNotMatch(keyed.headers.get('ratelimit-policy') ?? '', /person/);
  });

  it('is under what holds for its organization now, however well known its session is', async () => {
    const { organizations } = gateway.store;
    const browser = await signIn('constant');
    // Authorization comes before the limit, which these requests exceed.
    const isRefused = async () =>
      (await browser.fetch(`${origin}/session`, { headers: ours })).body.error?.code === 'account_inactive';
    assert.deepEqual([await isRefused(), await isRefused()], [false, false]);
    await organizations.suspend('org_test', 'a test');
    await eventually(isRefused);
    await organizations.resume('org_test', 'a test');
    await eventually(async () => !(await isRefused()));
  });

  it('needs the header that GET /session names, also for safe methods', async () => {
    const browser = await signIn('careful');
    const without = await browser.fetch(`${origin}/v1/things`);
    assert.equal(without.body.error.code, 'cross_site_request');
    const { cross_site: rules } = (await browser.fetch(`${origin}/session`, { headers: ours })).body;
    assert.deepEqual(rules, { request_header: { name: 'x-requested-by', value: '1' } });
  });
});

describe('explain', () => {
  const environment = { ...environmentOf(gateway.directory), GATEWAY_DATA: gateway.dataDirectory };
  const explain = async (...words: string[]) =>
    (await runInProcess(['explain', ...words], { environment: { ...environment, SESSION_CLIENT: provider.secret } }))
      .stdout;

  it('shows the result for a person', async () => {
    const asked = ['--request', 'GET /v1/things', '--org', 'org_test', '--session'];
    assert.match(await explain(...asked, '--scopes', 'things:read'), /session any session of any person/);
    assert.match(await explain(...asked, '--scopes', 'things:write'), /insufficient_scope/);
    const own = ['--request', 'GET /session', '--org', 'org_test'];
    assert.match(await explain(...own), /auth_scheme_unsupported/);
    assert.doesNotMatch(await explain(...own, '--session'), /auth_scheme_unsupported|insufficient_scope/);
  });
});
