// A person signs in with a provider, uses operations of a service, and signs out: over real sockets, with a provider by other authors.

import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { createCookieBrowser } from '../../support/cookie-browser.ts';
import { startSessionGateway } from '../../support/sessions.ts';
import { standStill } from '../../support/stand-still.ts';

const TIMEOUT_MS = 1000;

const running = await startSessionGateway({ entry: { timeoutMs: TIMEOUT_MS } });
const { gateway, provider, upstream, origin } = running;
after(running.close);

const login = `${origin}/session/login`;

describe('signing in', () => {
  it('leads to the page that was asked for, with a cookie and without a token', async () => {
    const browser = createCookieBrowser();
    const before = await browser.fetch(`${origin}/session`);
    assert.equal(before.status, 401);
    assert.equal(before.body.error.code, 'session_required');

    const arrived = await browser.open(`${login}?return_to=${encodeURIComponent('/app?tab=2')}`);
    assert.equal(arrived.status, 200, arrived.text);
    assert.equal(arrived.headers.get('content-type'), 'text/html; charset=utf-8');
    assert.equal(arrived.headers.get('cache-control'), 'no-store');
    assert.match(arrived.text, /data-to="\/app\?tab=2"/);
    assert.match(arrived.headers.get('content-security-policy') ?? '', /^default-src 'none'; script-src 'sha256-/);
    assert.equal(arrived.headers.get('location'), null);

    const [[name, { line }] = ['', { line: '' }], ...others] = browser.cookies(origin);
    assert.deepEqual(others, [], 'the cookie of the login has ended');
    assert.equal(name, 'gateway-session');
    assert.match(line, /^gateway-session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/);
    const warning = gateway.logLines().find(({ msg }) => /sessions are used without TLS/.test(String(msg)));
    assert.deepEqual(warning?.origins, [origin], 'the log says why it has no prefix');

    const session = await browser.fetch(`${origin}/session`);
    assert.equal(session.status, 200, session.text);
    assert.equal(session.body.subject, 'ada');
    assert.equal(session.body.organization_id, 'org_test');
    assert.equal(session.body.device, 'Firefox on Linux');
    assert.deepEqual(session.body.scopes, ['things:read', 'things:write']);
    assert.deepEqual(provider.errors, []);
  });

  it('lets the person use operations, and the service gets an assertion and no cookie', async () => {
    const browser = await running.signIn();
    const answer = await browser.fetch(`${origin}/v1/things`);
    assert.equal(answer.status, 200, answer.text);
    const { headers } = upstream.requests.at(-1) ?? assert.fail();
    assert.equal(headers.cookie, undefined);
    assert.equal(headers.authorization, undefined);
    assert.equal(headers['x-organization-id'], 'org_test');
    const [, claims = ''] = String(headers['x-gateway-assertion']).split('.');
    const { sub, token_issuer: issuer, mode, org } = JSON.parse(Buffer.from(claims, 'base64url').toString());
    assert.deepEqual({ sub, issuer, mode, org }, { sub: 'ada', issuer: 'staff', mode: 'live', org: 'org_test' });

    const log = gateway.logLines().findLast((line) => line.operation === 'listThings');
    assert.equal(log?.subject, 'ada');
    assert.match(String(log?.session), /^ses_/);
    assert.equal(log?.token_issuer, 'staff');
  });

  it('succeeds although the gateway stood still while the provider answered', async () => {
    const handle = provider.provider.callback();
    provider.answers('/token', (asked, response) => {
      provider.answers('/token', undefined);
      response.once('finish', () => standStill(TIMEOUT_MS + 200));
      void handle(asked, response);
    });
    const browser = await running.signIn();
    assert.equal((await browser.fetch(`${origin}/session`)).status, 200);
  });

  it('gives every login another id', async () => {
    const first = await running.signIn();
    const second = await running.signIn();
    assert.notEqual(
      first.cookies(origin).get('gateway-session')?.value,
      second.cookies(origin).get('gateway-session')?.value,
    );
  });

  it('is over at once for a person who is signed in', async () => {
    const browser = await running.signIn();
    const asked = provider.requests.length;
    const answer = await browser.step(`${login}?return_to=/app`, 'same-origin');
    assert.equal(answer.status, 303);
    assert.equal(answer.headers.get('location'), '/app');
    assert.equal(provider.requests.length, asked);
  });

  it('is offered again by its only provider, after a name that no provider has', async () => {
    const browser = createCookieBrowser();
    const refused = await browser.step(`${login}?provider=typo&return_to=/app`, 'none');
    assert.equal(refused.status, 400);
    assert.match(refused.text, /No way to sign in has this name\./);
    assert.match(refused.text, /<p class="brand"><svg [^>]*class="mark">.*<\/svg><span>Things &#38; Co<\/span><\/p>/);
    const buttons = [...refused.text.matchAll(/<a href="([^"]+)">([^<]+)</g)].map(([, to, text]) => [to, text]);
    assert.deepEqual(buttons, [['/session/login?return_to=%2Fapp', 'Sign in again']]);
    const arrived = await browser.open(`${origin}${buttons[0]?.[0]}`, 'link');
    assert.match(arrived.text, /data-to="\/app"/);
  });

  it('works in any number of tabs at once', async () => {
    const browser = createCookieBrowser();
    const tabs = ['/a', '/b', '/c'];
    const begun = await Promise.all(tabs.map((path) => browser.step(`${login}?return_to=${path}`, 'none')));
    for (const [index, answer] of begun.entries()) {
      const arrived = await browser.open(answer.headers.get('location') ?? '');
      assert.equal(arrived.status, 200, arrived.text);
      assert.match(arrived.text, new RegExp(`data-to="${tabs[index]}"`));
    }
    assert.equal((await browser.fetch(`${origin}/session`)).status, 200);
  });
});

describe('signing out', () => {
  it('ends the session, revokes its tokens, and returns the logout address of the provider', async () => {
    const browser = await running.signIn();
    const cookie = `gateway-session=${browser.cookies(origin).get('gateway-session')?.value}`;
    const answer = await browser.fetch(`${origin}/session/logout`, { method: 'POST' });
    assert.equal(answer.status, 200, answer.text);
    const address = new URL(answer.body.provider_logout_url);
    assert.equal(address.origin, provider.issuer);
    assert.equal(address.searchParams.get('post_logout_redirect_uri'), `${origin}/`);
    assert.ok(address.searchParams.get('id_token_hint'));
    assert.equal(browser.cookies(origin).size, 0);
    assert.equal((await browser.fetch(`${origin}/v1/things`)).body.error.code, 'session_required');
    const again = await browser.fetch(`${origin}/v1/things`, { headers: { cookie } });
    assert.equal(again.status, 401);
    assert.equal(again.body.error.code, 'session_expired');
    await revoked();
  });

  async function revoked(): Promise<void> {
    for (let tries = 0; !provider.requests.includes('POST /token/revocation'); tries += 1) {
      assert.ok(tries < 100, 'the provider was asked to revoke');
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    assert.deepEqual(provider.errors, []);
  }
});
