// People sign in with Keycloak, through its own forms: organization and scopes by its claims, refresh with rotation, `private_key_jwt`,
// pushed requests, signing out here and there, and what a theft of a refresh token comes to.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { providePackages } from '../../tools/provide-packages.ts';
import { environmentOf } from '../support/configuration.ts';
import { type CookieBrowser, createCookieBrowser } from '../support/cookie-browser.ts';
import { freePort } from '../support/free-port.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { runInProcess } from '../support/in-process.ts';
import { eventually } from '../support/instances.ts';
import { SESSION_ENTRY, sessionContract } from '../support/sessions.ts';
import { thingsAt } from '../support/things.ts';
import { type FakeUpstream, startUpstream } from '../support/upstream.ts';
import { type Keycloak, startKeycloak } from './support/keycloak.ts';
import { CLIENT, createRealm, fillIn, PASSWORD, type Realm, signInWithForm } from './support/keycloak-realm.ts';
import { missingForJava } from './support/packages.ts';
import { type Relay, startRelay } from './support/relay.ts';

const PATIENCE_MS = 120_000;
const ACCESS_SECONDS = 6;
const untilOver = () => sleep(ACCESS_SECONDS * 1000 + 100);

const missing = await missingForJava();
const skip = missing === undefined ? false : `this machine has no ${missing}, which Keycloak needs`;

describe('people sign in with Keycloak', { skip }, () => {
  let keycloak: Keycloak;
  let relay: Relay;
  let upstream: FakeUpstream;
  let gateway: TestGateway;
  let origin: string;
  /** The first as the documentation has it, the second with a secret, and with the scopes by default. */
  let staff: Realm;
  let partners: Realm;
  /** Takes a refresh token twice. */
  let guests: Realm;
  let environment: Record<string, string>;

  before(async () => {
    const port = await freePort();
    origin = `http://127.0.0.1:${port}`;
    keycloak = await startKeycloak();
    relay = await startRelay(keycloak.origin);
    staff = await createRealm(keycloak, {
      ...{ name: 'staff', gatewayOrigin: origin, authentication: 'private_key_jwt' },
      // Another site than the gateway, for a browser.
      origin: keycloak.origin.replace('127.0.0.1', 'localhost'),
      realm: { accessTokenLifespan: ACCESS_SECONDS, defaultSignatureAlgorithm: 'ES256' },
    });
    partners = await createRealm(keycloak, {
      ...{ name: 'partners', gatewayOrigin: origin, authentication: 'client_secret_basic', origin: relay.origin },
      realm: { accessTokenLifespan: ACCESS_SECONDS },
    });
    guests = await createRealm(keycloak, {
      ...{ name: 'guests', gatewayOrigin: origin, authentication: 'client_secret_basic', origin: relay.origin },
      realm: { accessTokenLifespan: ACCESS_SECONDS, refreshTokenMaxReuse: 1 },
    });
    upstream = await startUpstream(({ url }, response) => {
      const type = url.startsWith('/app/') ? 'text/html' : 'application/json';
      response.writeHead(200, { 'content-type': type }).end(type === 'text/html' ? '<!doctype html>' : '{}');
    });
    const { contracts, upstreams } = thingsAt(upstream.url, {
      security: { sessions: true },
      tunnels: [{ paths: ['/app/*'], pages: true }],
    });
    environment = {
      PORT: String(port),
      STAFF_CLIENT: staff.secret,
      PARTNERS_CLIENT: partners.secret,
      GUESTS_CLIENT: guests.secret,
    };
    gateway = await startGateway({
      contracts: { ...contracts, ...sessionContract },
      upstreams: { ...upstreams, ...SESSION_ENTRY },
      gateway: {
        publicUrl: origin,
        sessions: {
          providers: {
            staff: {
              issuer: staff.issuer,
              clientId: CLIENT,
              authentication: { method: 'private_key_jwt', secret: 'staff_client' },
              scopes: ['openid'],
              organization: { claim: 'organization', names: { acme: 'org_test' } },
              grants: [
                { scopes: ['things:read'] },
                { claim: ['realm_access', 'roles'], value: 'dispatcher', scopes: ['things:write'] },
              ],
            },
            partners: {
              issuer: partners.issuer,
              clientId: CLIENT,
              authentication: { method: 'client_secret_basic', secret: 'partners_client' },
              organization: { id: 'org_test' },
              grants: [{ scopes: ['things:read'] }],
            },
            guests: {
              issuer: guests.issuer,
              clientId: CLIENT,
              authentication: { method: 'client_secret_basic', secret: 'guests_client' },
              scopes: ['openid'],
              organization: { id: 'org_test' },
              grants: [{ scopes: ['things:read'] }],
              refreshReuseSeconds: 600,
            },
          },
        },
      },
      environment,
    });
    await gateway.issueKey();
  });
  after(async () => {
    await gateway?.stop();
    await upstream?.close();
    relay?.close();
    await keycloak?.stop();
  });

  const loginAt = (realm: Realm) => `${origin}/session/login?provider=${realm.name}`;
  async function signIn(username: string, realm = staff, browser = createCookieBrowser()): Promise<CookieBrowser> {
    const answer = await signInWithForm(browser, loginAt(realm), username);
    assert.equal(answer.status, 200, answer.text);
    assert.ok(answer.url.startsWith(origin), answer.url);
    return browser;
  }
  const renewalsAt = async (realm: Realm) =>
    (await realm.events()).filter((event) => event.startsWith('REFRESH_TOKEN'));
  const statusOf = async (browser: CookieBrowser, path = '/session') => (await browser.fetch(origin + path)).status;
  const ended = (browser: CookieBrowser) => eventually(async () => (await statusOf(browser)) === 401);
  const signOut = (browser: CookieBrowser) => browser.fetch(`${origin}/session/logout`, { method: 'POST' });
  const endAll = async (username: string) =>
    keycloak.administer(`POST /realms/staff/users/${await staff.idOf(username)}/logout`);

  it('doctor finds nothing to complain of', async () => {
    const { stdout } = await runInProcess(['doctor', '--json'], {
      environment: { ...environmentOf(gateway.directory), GATEWAY_DATA: gateway.dataDirectory, ...environment },
    });
    const { checks } = JSON.parse(stdout) as { checks: { check: string; verdict: string; says: string }[] };
    const found = checks.filter(({ check }) => check.startsWith('provider '));
    assert.deepEqual(
      found.map(({ check, verdict }) => [check, verdict]),
      [
        ['provider staff', 'ok'],
        ['provider partners', 'ok'],
        ['provider guests', 'ok'],
      ],
      JSON.stringify(found),
    );
  });

  it('the address of the login tells nothing: the request is pushed', async () => {
    const answer = await createCookieBrowser().step(loginAt(staff), 'none');
    const { searchParams } = new URL(answer.headers.get('location') ?? '');
    assert.deepEqual([...searchParams.keys()].sort(), ['client_id', 'request_uri']);
  });

  it('organization, scopes and name follow from the claims', async () => {
    const { body: ada } = await (await signIn('ada')).fetch(`${origin}/session`);
    assert.equal(ada.organization_id, 'org_test');
    assert.equal(ada.subject, await staff.idOf('ada'));
    assert.equal(ada.email, 'ada@acme.example');
    assert.deepEqual(ada.scopes, ['things:read', 'things:write']);
    const { body: bob } = await (await signIn('bob')).fetch(`${origin}/session`);
    assert.deepEqual(bob.scopes, ['things:read']);
    const refused = await signInWithForm(createCookieBrowser(), loginAt(staff), 'mallory');
    assert.equal(refused.headers.get('x-error-code'), 'login_not_permitted');
  });

  it('tokens are renewed once for all requests, and Keycloak raises no alarm', async () => {
    const browser = await signIn('ada');
    const before = (await renewalsAt(staff)).length;
    for (const round of [1, 2]) {
      await untilOver();
      const statuses = await Promise.all(Array.from({ length: 20 }, () => statusOf(browser, '/v1/things')));
      assert.deepEqual(new Set(statuses), new Set([200]));
      assert.deepEqual((await renewalsAt(staff)).slice(before), Array(round).fill('REFRESH_TOKEN'));
    }
  });

  it('signing out ends the tokens of this device there, and Keycloak asks for the password again', async () => {
    const phone = await signIn('ada');
    const desk = await signIn('ada');
    const { body } = await signOut(desk);
    await eventually(async () => (await staff.events()).at(-1) === 'REVOKE_GRANT');
    const left = await desk.open(body.provider_logout_url, 'link');
    assert.equal(left.url, `${origin}/`);
    await untilOver();
    assert.equal(await statusOf(phone, '/v1/things'), 200, 'the other device goes on');
    await signIn('ada', staff, desk);
    assert.equal(await statusOf(desk), 200);
  });

  it('a browser that Keycloak knows needs no form, and what was signed out here is signed in again', async () => {
    const browser = await signIn('bob');
    browser.cookies(origin).clear();
    const again = await browser.open(loginAt(staff));
    assert.equal(again.status, 200, again.text);
    assert.equal(await statusOf(browser), 200);
    await signOut(browser);
    await signIn('bob', staff, browser);
    assert.equal(await statusOf(browser), 200);
  });

  it('signing out at Keycloak ends that session alone: back-channel logout by sid', async () => {
    const [phone, desk] = [await signIn('ada'), await signIn('ada')];
    const page = await phone.open(`${staff.issuer}/protocol/openid-connect/logout`);
    await fillIn(phone, page, { confirmLogout: 'Logout' });
    await ended(phone);
    assert.equal(await statusOf(desk), 200);
    await signIn('ada', staff, phone);
    assert.equal(await statusOf(phone), 200, 'the next login is another one');
  });

  it('an administrator there ends all sessions of a person: by sid, and by subject', async () => {
    for (const isRequired of ['true', 'false']) {
      await staff.changeClient({ 'backchannel.logout.session.required': isRequired });
      const browsers = [await signIn('ada'), await signIn('ada')];
      const other = await signIn('bob');
      await endAll('ada');
      for (const browser of browsers) await ended(browser);
      assert.equal(await statusOf(other), 200);
    }
    assert.equal(await statusOf(await signIn('ada')), 200, 'a login that begins afterwards is another one');
  });

  it('a person who is blocked there is signed out with the next refresh', async () => {
    const browser = await signIn('bob');
    const user = `/realms/staff/users/${await staff.idOf('bob')}`;
    const bob = await keycloak.administer(`GET ${user}`);
    await keycloak.administer(`PUT ${user}`, { ...bob, enabled: false });
    await untilOver();
    const answer = await browser.fetch(`${origin}/v1/things`);
    assert.equal(answer.body.error.code, 'session_expired');
    await keycloak.administer(`PUT ${user}`, { ...bob, enabled: true });
  });

  it('a refresh token that a thief redeems again raises the alarm, and ends the session', async () => {
    const browser = await signIn('ada', partners);
    const stolen = relay.refreshTokens.at(-1) ?? assert.fail();
    await untilOver();
    assert.equal(await statusOf(browser, '/v1/things'), 200);
    const answer = await fetch(`${partners.issuer}/protocol/openid-connect/token`, {
      method: 'POST',
      headers: { authorization: `Basic ${Buffer.from(`${CLIENT}:${partners.secret}`).toString('base64')}` },
      body: new URLSearchParams({ grant_type: 'refresh_token', refresh_token: stolen }),
    });
    assert.equal(((await answer.json()) as { error: string }).error, 'invalid_grant');
    await untilOver();
    const after = await browser.fetch(`${origin}/v1/things`);
    assert.equal(after.body.error?.code, 'session_expired');
  });

  it('a lost answer costs nothing where Keycloak takes a refresh token again', async () => {
    const browser = await signIn('ada', guests);
    for (const renewals of [2, 4]) {
      await untilOver();
      relay.loseNext();
      await eventually(async () => (await statusOf(browser, '/v1/things')) === 200);
      assert.deepEqual(await renewalsAt(guests), Array(renewals).fill('REFRESH_TOKEN'));
    }
  });

  it('with offline_access, Keycloak keeps nothing to sign out of: the documentation says to do without', async () => {
    const browser = await signIn('bob', partners);
    await browser.open(`${partners.issuer}/protocol/openid-connect/logout`);
    await untilOver();
    assert.equal(await statusOf(browser, '/v1/things'), 200);
  });

  it('new keys of Keycloak are found: for a login and for a logout', async () => {
    await keycloak.administer('POST /realms/staff/components', {
      name: 'next',
      providerId: 'ecdsa-generated',
      providerType: 'org.keycloak.keys.KeyProvider',
      config: { priority: ['200'], enabled: ['true'], active: ['true'], ecdsaEllipticCurveKey: ['P-256'] },
    });
    const browser = await signIn('ada');
    await endAll('ada');
    await ended(browser);
  });

  it('in Chromium, a login in one tab finishes that of the other, and signing out ends both', async (context) => {
    providePackages('test/browser');
    const { launchBrowser } = await import('../browser/browser.ts');
    const chromium = await launchBrowser();
    context.after(() => chromium.close());
    const window = await chromium.newContext();
    window.setDefaultTimeout(PATIENCE_MS);
    const tabs = [await window.newPage(), await window.newPage()] as const;
    const addressOf = (tab: number) => `${origin}/app/${tab}`;
    for (const [tab, page] of tabs.entries()) {
      await page.goto(`${loginAt(staff)}&return_to=/app/${tab}`);
      await page.waitForSelector('input[name=username]');
    }
    await tabs[0].fill('input[name=username]', 'ada');
    await tabs[0].click('[type=submit]');
    await tabs[0].fill('input[name=password]', PASSWORD);
    await tabs[0].click('[type=submit]');
    for (const [tab, page] of tabs.entries()) await page.waitForURL(addressOf(tab));
    const status = (page: (typeof tabs)[number]) => page.evaluate(`fetch('/session').then((answer) => answer.status)`);
    for (const page of tabs) assert.equal(await status(page), 200);
    const address = await tabs[0].evaluate(
      `fetch('/session/logout', { method: 'POST' }).then((answer) => answer.json()).then((told) => told.provider_logout_url)`,
    );
    await tabs[0].goto(address as string);
    await tabs[0].waitForURL((url) => url.origin === origin);
    assert.equal(await status(tabs[1]), 401);
    await tabs[1].goto(loginAt(staff));
    await tabs[1].waitForSelector('input[name=username]');
  });
});
