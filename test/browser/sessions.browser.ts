// People sign in with a real browser: five tabs at once, the Strict cookie on the way back, the back button, a session that ends in the
// middle of a form, signing out in one tab, and the attributes of the cookies as the browser has them. The provider is another site.

import assert from 'node:assert/strict';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import type { BrowserContext, Page } from 'playwright-core';
import { createAuthority } from '../support/certificates.ts';
import { type SessionGateway, startSessionGateway } from '../support/sessions.ts';
import { type Browser, launchBrowser } from './browser.ts';

const PATIENCE = 30_000;
const SESSION = '__Host-Http-gateway-session';

const app = `<!doctype html><title>app</title><p id="who">?</p><form id="form"><input name="name"></form>
<script type="module">
  const who = document.getElementById('who');
  const answer = await fetch('/session');
  who.textContent = answer.ok ? (await answer.json()).subject : (await answer.json()).error.code;
  window.save = async () => (await fetch('/v1/things', { method: 'POST', headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name: document.forms.form.name.value }) })).status;
</script>`;

describe('people sign in with a browser', () => {
  let world: SessionGateway;
  let browser: Browser;
  let context: BrowserContext;
  let elsewhere: Awaited<ReturnType<typeof startElsewhere>>;

  before(async () => {
    world = await startSessionGateway({
      secure: true,
      sessions: { afterLogin: '/app/home' },
      // Consent once: the pages of this provider do not bear several interactions of one browser at once.
      entry: { parameters: {}, scopes: ['openid', 'profile'] },
      things: { tunnels: [{ paths: ['/app/*'], pages: true }] },
      answer(request, response) {
        const isPage = request.url.startsWith('/app/');
        response.writeHead(request.method === 'POST' ? 201 : 200, {
          'content-type': isPage ? 'text/html; charset=utf-8' : 'application/json',
        });
        response.end(isPage ? app : '{"name":"x"}');
      },
    });
    elsewhere = await startElsewhere();
    browser = await launchBrowser();
  });
  after(async () => {
    await browser?.close();
    elsewhere?.close();
    await world?.close();
  });

  /** A window with nothing remembered. */
  async function fresh(): Promise<BrowserContext> {
    await context?.close();
    context = await browser.newContext({ ignoreHTTPSErrors: true });
    context.setDefaultTimeout(PATIENCE);
    return context;
  }
  const login = (path = '/app/home') => `${world.origin}/session/login?return_to=${encodeURIComponent(path)}`;
  const whoIs = (page: Page) =>
    page.waitForFunction(`document.getElementById('who')?.textContent !== '?'`).then(() => page.textContent('#who'));

  async function signIn(page: Page, path = '/app/home'): Promise<void> {
    await page.goto(login(path));
    await page.waitForURL(`${world.origin}${path}`);
    assert.equal(await whoIs(page), 'ada');
  }

  it('the cookie travels on the way back, and has every attribute that guards it', async () => {
    const page = await (await fresh()).newPage();
    const complaints: string[] = [];
    page.on('console', (message) => /Content.Security.Policy/i.test(message.text()) && complaints.push(message.text()));
    await signIn(page, '/app/home?tab=2');
    const cookies = await context.cookies(world.origin);
    const ours = cookies.filter(({ name }) => name.includes('gateway'));
    assert.deepEqual(
      ours.map(({ name, httpOnly, secure, sameSite, path, domain, expires }) => ({
        name,
        httpOnly,
        secure,
        sameSite,
        path,
        domain,
        expires,
      })),
      [
        {
          name: SESSION,
          httpOnly: true,
          secure: true,
          sameSite: 'Strict',
          path: '/',
          domain: 'localhost',
          expires: -1,
        },
      ],
    );
    assert.equal(await page.evaluate('document.cookie'), '');
    assert.deepEqual(complaints, [], 'no policy is violated');
  });

  it('a script cannot plant a cookie of this name', async () => {
    const page = await (await fresh()).newPage();
    await page.goto(`${world.origin}/app/home`);
    await page.evaluate(`document.cookie = '${SESSION}=${'A'.repeat(43)}; Secure; Path=/'`);
    await page.evaluate(`document.cookie = '=${SESSION}=${'A'.repeat(43)}; Secure; Path=/'`);
    assert.deepEqual(await context.cookies(world.origin), []);
  });

  it('five tabs sign in at once', async () => {
    await fresh();
    // The provider knows the person already.
    const first = await context.newPage();
    await signIn(first);
    await first.evaluate(`fetch('/session/logout', { method: 'POST' })`);
    const pages = await Promise.all(Array.from({ length: 5 }, () => context.newPage()));
    // As when a person restores five tabs: every page begins a login before any has ended.
    const paths = pages.map((_, index) => `/app/${index}`);
    await Promise.all(pages.map((page, index) => page.goto(login(paths[index]))));
    for (const [index, page] of pages.entries()) {
      await page.waitForURL((url) => url.pathname.startsWith('/app/'));
      assert.ok(paths.includes(new URL(page.url()).pathname), `tab ${index}`);
      assert.equal(await whoIs(page), 'ada');
    }
    const names = (await context.cookies(world.origin)).map(({ name }) => name);
    assert.deepEqual(names, [SESSION], 'no login is left');
  });

  it('the back button leads to no failed login', async () => {
    const page = await (await fresh()).newPage();
    await page.goto(`${world.origin}/app/start`);
    await signIn(page);
    await page.goBack().catch(() => null);
    await page.waitForURL((url) => url.origin === world.origin && url.pathname.startsWith('/app/'));
    assert.equal(await whoIs(page), 'ada');
  });

  it('an address of a login that has ended goes on, for a person who is signed in', async () => {
    const page = await (await fresh()).newPage();
    const callbacks: string[] = [];
    page.on('request', (request) => request.url().includes('/session/callback') && callbacks.push(request.url()));
    await signIn(page);
    await page.goto(callbacks[0] ?? assert.fail());
    await page.waitForURL(`${world.origin}/app/home`);
    const stranger = await (await fresh()).newPage();
    await stranger.goto(callbacks[0] ?? '');
    assert.match((await stranger.textContent('body')) ?? '', /Signing in did not succeed/);
    await stranger.waitForTimeout(300);
    assert.equal(new URL(stranger.url()).pathname, '/session/callback', 'it does not go in circles');
  });

  it('a session that ends in the middle of a form loses nothing: 401 and no redirect', async () => {
    const page = await (await fresh()).newPage();
    await signIn(page);
    await page.fill('input', 'half a thing');
    assert.equal(await page.evaluate('save()'), 201);
    await world.provider.logoutToken({ sub: 'ada' }).then(async (token) => {
      const { status } = await page.request
        .post(`${world.origin}/session/backchannel-logout`, { form: { logout_token: token } })
        .then((answer) => ({ status: answer.status() }));
      assert.equal(status, 200);
    });
    assert.equal(await page.evaluate('save()'), 401);
    assert.equal(new URL(page.url()).pathname, '/app/home');
    assert.equal(await page.inputValue('input'), 'half a thing');
  });

  it('signing out in one tab ends the other', async () => {
    await fresh();
    const [one, other] = [await context.newPage(), await context.newPage()];
    await signIn(one);
    await other.goto(`${world.origin}/app/other`);
    assert.equal(await whoIs(other), 'ada');
    await one.evaluate(`fetch('/session/logout', { method: 'POST' }).then((answer) => answer.json())`);
    assert.deepEqual(await context.cookies(world.origin), []);
    assert.equal(await other.evaluate('save()'), 401);
  });

  it('pages of another origin get nothing: by fetch, form, image or WebSocket', async () => {
    const page = await (await fresh()).newPage();
    await signIn(page);
    const asked = () => world.upstream.requests.filter(({ url }) => url.startsWith('/v1/')).length;
    const before = asked();
    // The same host at another port is of the same site: the browser sends even a Strict cookie.
    const evil = await context.newPage();
    await evil.goto(elsewhere.url);
    await evil.evaluate(`(async () => {
      const things = '${world.origin}/v1/things';
      const told = { credentials: 'include', mode: 'no-cors' };
      await fetch(things, told).catch(() => 0);
      await fetch(things, { ...told, method: 'POST', body: '{}' }).catch(() => 0);
      await new Promise((done) => { const image = new Image(); image.onerror = image.onload = done; image.src = things; });
      await new Promise((done) => { const socket = new WebSocket(things.replace('https', 'wss')); socket.onerror = socket.onclose = done; });
      const form = Object.assign(document.createElement('form'), { method: 'post', action: things });
      document.body.append(form);
      form.submit();
    })()`);
    await evil.waitForURL(`${world.origin}/v1/things`);
    assert.equal(asked(), before);
    const codes = world.gateway
      .logLines()
      .filter(({ route }) => route === '/v1/things')
      .slice(-5)
      .map(({ code }) => code);
    assert.deepEqual(
      codes,
      Array.from({ length: 5 }, () => 'cross_site_request'),
    );
    assert.equal(await page.evaluate('save()'), 201, 'the session lives on');
  });
});

/** A page of another origin of the same host. */
async function startElsewhere() {
  const { certificate: cert, key } = createAuthority().issue({ names: ['localhost'] });
  const server = createServer({ cert, key }, (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><body>elsewhere');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `https://localhost:${(server.address() as AddressInfo).port}/`, close: () => server.close() };
}
