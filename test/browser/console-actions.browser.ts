// The actions of the console in a real browser: who gets their buttons, what their dialogs say, that they work by keyboard, and that pages
// of other sites cannot send them. Look at the screenshots after changing anything here.

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { thingsContract } from '../support/things.ts';
import { type FakeUpstream, startUpstream } from '../support/upstream.ts';
import {
  type Browser,
  chooseInMenu,
  findBarriers,
  launchBrowser,
  openPage,
  type Page,
  takeScreenshot,
} from './browser.ts';

const ADMIN = 'an-admin-token-for-this-test';
const VIEWER = 'a-viewer-token-for-this-test';
const PATIENCE = { timeout: 30_000 };
const LOOKS = ['light', 'dark'].flatMap((colorScheme) => [390, 1440].map((width) => ({ colorScheme, width }) as Look));

interface Look {
  readonly colorScheme: 'light' | 'dark';
  readonly width: number;
}

describe('actions of the console in a browser', () => {
  let upstream: FakeUpstream;
  let gateway: TestGateway;
  let browser: Browser;
  before(async () => {
    // It refuses the gateway's credential.
    upstream = await startUpstream((_request, response) => response.writeHead(401).end());
    gateway = await startGateway({
      contracts: { 'things.yaml': thingsContract() },
      upstreams: {
        platform: {
          contracts: ['things.yaml'],
          live: upstream.url,
          credential: { basic: { user: 'gateway', secret: 'platform_login' } },
        },
      },
      limits: { tiers: { standard: { requests: 10 }, premium: { requests: 100 }, trial: { requests: 5 } } },
      environment: { ADMIN_TOKEN: ADMIN, VIEWER_TOKEN: VIEWER, PLATFORM_LOGIN: 'wrong-password-of-this-test' },
    });
    browser = await launchBrowser();
  });
  after(async () => {
    await browser?.close();
    await gateway?.stop();
    await upstream?.close();
  });

  async function openAt(hash: string, options = {}) {
    const opened = await openPage(browser, `${gateway.adminUrl}/${hash}`, options);
    await opened.page.locator('#views').waitFor(PATIENCE);
    return opened;
  }

  async function signIn(page: Page, token: string): Promise<void> {
    await chooseInMenu(page, 'sign-in');
    await page.locator('#token').fill(token);
    await page.keyboard.press('Enter');
  }

  /** The page of an organization with two keys, as the holder of the admin token sees it. */
  async function openAsAdmin(organization: string, options = {}) {
    await gateway.issueKey({ organization });
    const key = await gateway.issueKey({ organization });
    const opened = await openAt(`#/organizations/${organization}`, options);
    await signIn(opened.page, ADMIN);
    await opened.page.locator('#role', { hasText: 'Role: admin' }).waitFor(PATIENCE);
    await buttonOf(opened.page, `Suspend ${organization}`).waitFor(PATIENCE);
    return { ...opened, key };
  }

  async function lastChange() {
    const { changes } = await gateway.store.audit.since(0, 10_000);
    const { kind, by, organization, key, details } = changes.at(-1) ?? {};
    return { kind, by, organization, key, details: details as Record<string, unknown> };
  }

  const buttonOf = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
  const dialogOf = (page: Page) => page.locator('dialog');
  const planned = (page: Page, text: string) =>
    page.locator('dialog .plan', { hasText: new RegExp(text.replaceAll(' ', '\\s*')) }).waitFor(PATIENCE);
  const confirmed = (page: Page) => page.locator('dialog .outcome', { hasText: 'In force on the one instance' });

  it('gives a viewer no button, says so, and tells a wrong token', async () => {
    await gateway.issueKey({ organization: 'org_seen' });
    const { page, complaints } = await openAt('#/organizations/org_seen');
    await page.locator('#organization .key').waitFor(PATIENCE);
    assert.match((await page.locator('#role').textContent()) ?? '', /Role: viewer$/);
    assert.equal(await page.locator('button.act').count(), 0);
    await signIn(page, 'not-a-token');
    await page.locator('#login-error', { hasText: 'No operator has this token' }).waitFor(PATIENCE);
    await takeScreenshot(page, 'actions-wrong-token');
    assert.deepEqual(await findBarriers(page), []);
    await page.locator('#token').fill(VIEWER);
    await page.keyboard.press('Enter');
    await page.locator('#organization .key').waitFor(PATIENCE);
    await page.locator('#role', { hasText: 'Role: viewer' }).waitFor(PATIENCE);
    assert.equal(await page.locator('button.act').count(), 0);
    assert.equal(await page.locator('#sign-in').getAttribute('hidden'), '');
    await takeScreenshot(page, 'actions-viewer');
    await page.evaluate('location.hash = "#/organizations"');
    await page.locator('#acting', { hasText: 'Read-only: ' }).waitFor(PATIENCE);
    await chooseInMenu(page, 'leave');
    await page.locator('#role', { hasText: 'Role: viewer' }).waitFor(PATIENCE);
    await page.locator('#menu-opener').click();
    await page.locator('#sign-in').waitFor(PATIENCE);
    assert.deepEqual(complaints, []);
    await page.context().close();
  });

  it('does not wait for an instance that was killed, and names it', async () => {
    const { page } = await openAsAdmin('org_waiting');
    const killed = { id: 'gw_killed', host: 'gone', pid: 4711, startedAtMs: Date.now(), position: 0, graceMs: 900_000 };
    await gateway.store.instances.report(killed);
    // Until then it may only be late.
    await setTimeout(5500);
    await buttonOf(page, 'Suspend org_waiting').click();
    await buttonOf(page, 'Suspend').click();
    await confirmed(page).waitFor(PATIENCE);
    const outcome = await page.locator('dialog .outcome').textContent();
    assert.match(outcome ?? '', /In force on the one instance\. Not on silent ones: gone, process 4711\.$/);
    await gateway.store.instances.remove(killed.id);
    await page.context().close();
  });

  for (const { colorScheme, width } of LOOKS) {
    const name = `${colorScheme}-${width}`;
    it(`suspends and resumes an organization, in ${colorScheme}, ${width} pixels wide`, async () => {
      const organization = `org_${colorScheme}_${width}`;
      const { page, complaints, foreign } = await openAsAdmin(organization, { colorScheme, width });
      const isFine = async (step: string) => {
        await takeScreenshot(page, `actions-${step}-${name}`, step === 'organization');
        assert.ok(((await page.evaluate('document.documentElement.scrollWidth')) as number) <= width, step);
        assert.deepEqual(await findBarriers(page), [], step);
      };
      await isFine('organization');
      await buttonOf(page, `Suspend ${organization}`).click();
      await planned(page, 'state active → becomes suspended usable keys 2');
      await isFine('suspend');
      await buttonOf(page, 'Suspend').click();
      await confirmed(page).waitFor(PATIENCE);
      await isFine('suspended');
      assert.equal((await gateway.store.organizations.get(organization))?.state, 'suspended');
      const { details, ...change } = await lastChange();
      assert.deepEqual(change, { kind: 'organization.suspended', by: 'admin_token', organization, key: undefined });
      assert.match(String(details.request_id), /^admin_[0-9a-f]{20}$/);
      await buttonOf(page, 'Close').click();
      await buttonOf(page, `Resume ${organization}`).click();
      await planned(page, 'state suspended → becomes active');
      await buttonOf(page, 'Resume').click();
      await confirmed(page).waitFor(PATIENCE);
      assert.equal((await gateway.store.organizations.get(organization))?.state, 'active');
      await page.keyboard.press('Escape');
      await buttonOf(page, `Suspend ${organization}`).waitFor(PATIENCE);
      assert.deepEqual([complaints, foreign], [[], []]);
      await page.context().close();
    });
  }

  it('revokes a key with its reason, and the last usable one only if that is chosen', async () => {
    const { page, key } = await openAsAdmin('org_keys', { width: 390 });
    await buttonOf(page, `Revoke ${key.id}`).click();
    await planned(page, 'organization org_keys state active → becomes revoked usable keys 2 now, 1 afterwards');
    assert.equal(await page.locator('#dialog-last').count(), 0);
    await page.locator('#dialog-reason').fill('found in a public repository');
    await page.keyboard.press('Enter');
    await confirmed(page).waitFor(PATIENCE);
    const revoked = await gateway.store.keys.get(key.id);
    assert.deepEqual([revoked?.revokedBy, revoked?.revokedReason], ['admin_token', 'found in a public repository']);
    await buttonOf(page, 'Close').click();
    assert.equal(await buttonOf(page, `Revoke ${key.id}`).count(), 0);
    await page.getByRole('button', { name: /^Revoke key_/ }).click();
    await planned(page, '1 now, 0 afterwards ▲ It is the last usable key of its organization.');
    const confirm = buttonOf(page, 'Revoke');
    assert.equal(await confirm.isDisabled(), true);
    await takeScreenshot(page, 'actions-last-key', false);
    assert.deepEqual(await findBarriers(page), []);
    await page.locator('#dialog-last').check();
    await confirm.click();
    await confirmed(page).waitFor(PATIENCE);
    assert.equal((await lastChange()).kind, 'key.revoked');
    await page.context().close();
  });

  it('revokes a key that was found by its visible end', async () => {
    const { id, key } = await gateway.issueKey({ organization: 'org_found' });
    await gateway.issueKey({ organization: 'org_found' });
    const { page } = await openAt('#/organizations');
    await signIn(page, ADMIN);
    await page.locator('#acting', { hasText: 'Each action first shows what it will do' }).waitFor(PATIENCE);
    await page.locator('#find').fill(key.slice(-4));
    await page.keyboard.press('Enter');
    await buttonOf(page, `Revoke ${id}`).click();
    await planned(page, 'organization org_found state');
    await buttonOf(page, 'Revoke').click();
    await confirmed(page).waitFor(PATIENCE);
    await page.keyboard.press('Escape');
    await page.locator('#keys-found .key', { hasText: 'revoked of org_found' }).waitFor(PATIENCE);
    await page.context().close();
  });

  it('changes a tier to the chosen one, and resets limits', async () => {
    const { page } = await openAsAdmin('org_tier');
    await buttonOf(page, 'Change tier org_tier').click();
    await planned(page, 'tier standard → becomes premium');
    await page.locator('#dialog-choice').selectOption('trial');
    await planned(page, 'tier standard → becomes trial');
    await takeScreenshot(page, 'actions-tier', false);
    assert.deepEqual(await findBarriers(page), []);
    await buttonOf(page, 'Change tier').click();
    await confirmed(page).waitFor(PATIENCE);
    assert.equal((await gateway.store.organizations.get('org_tier'))?.tier, 'trial');
    await buttonOf(page, 'Close').click();
    await page.locator('#subject-about dd', { hasText: 'trial' }).waitFor(PATIENCE);
    const { authorization } = await gateway.authorize({ organization: 'org_tier' });
    for (let count = 0; count < 3; count += 1)
      await (await fetch(`${gateway.url}/v1/things`, { headers: { authorization } })).arrayBuffer();
    await buttonOf(page, 'Reset limits org_tier').click();
    await planned(page, 'organization 3 → becomes 0');
    await buttonOf(page, 'Reset limits').click();
    await confirmed(page).waitFor(PATIENCE);
    const change = await lastChange();
    assert.deepEqual([change.kind, change.by, change.organization], ['limits.reset', 'admin_token', 'org_tier']);
    await page.context().close();
  });

  it('retries a latched upstream', async () => {
    const { authorization } = await gateway.authorize({ organization: 'org_upstream' });
    await (await fetch(`${gateway.url}/v1/things`, { headers: { authorization } })).arrayBuffer();
    const { page } = await openAt('#/system');
    await signIn(page, ADMIN);
    await buttonOf(page, 'Retry platform').click();
    await planned(page, 'credential latched → becomes unproven');
    await takeScreenshot(page, 'actions-retry', false);
    assert.deepEqual(await findBarriers(page), []);
    await buttonOf(page, 'Retry').click();
    await page.locator('dialog .outcome', { hasText: /^Done at/ }).waitFor(PATIENCE);
    await buttonOf(page, 'Close').click();
    await page.locator('#upstreams td', { hasText: 'unproven' }).waitFor(PATIENCE);
    await takeScreenshot(page, 'actions-retried');
    await page.context().close();
  });

  it('keeps the focus within the dialog, leaves it by Escape, and gives the focus back', async () => {
    const { page } = await openAsAdmin('org_keyboard');
    await buttonOf(page, 'Suspend org_keyboard').focus();
    await page.keyboard.press('Enter');
    await planned(page, 'state active');
    const focused = () => page.evaluate('document.activeElement.textContent');
    assert.equal(await focused(), 'Cancel');
    const around: unknown[] = [];
    for (const key of ['Tab', 'Tab', 'Shift+Tab', 'Shift+Tab']) {
      await page.keyboard.press(key);
      around.push(await focused());
    }
    assert.deepEqual(around, ['Suspend', 'Cancel', 'Suspend', 'Cancel']);
    await page.keyboard.press('Escape');
    await dialogOf(page).waitFor({ ...PATIENCE, state: 'detached' });
    assert.equal(await page.evaluate('document.activeElement.getAttribute("aria-label")'), 'Suspend org_keyboard');
    assert.equal((await gateway.store.organizations.get('org_keyboard'))?.state, 'active');
    await page.context().close();
  });

  it('does not do what another operator has changed meanwhile, and shows the state of now', async () => {
    const { page } = await openAsAdmin('org_raced');
    await buttonOf(page, 'Suspend org_raced').click();
    await planned(page, 'state active');
    await gateway.store.organizations.suspend('org_raced', 'another');
    await buttonOf(page, 'Suspend').click();
    await page.locator('dialog [role=alert]', { hasText: 'It has changed since you' }).waitFor(PATIENCE);
    await planned(page, 'state stays suspended .* Nothing would change');
    assert.equal(await buttonOf(page, 'Suspend').isDisabled(), true);
    assert.equal((await lastChange()).by, 'another');
    await takeScreenshot(page, 'actions-raced', false);
    await page.context().close();
  });

  it('shows script in an id as text', async () => {
    const id = 'org_<img src=x onerror=document.title="taken">';
    const organization = { id, name: id, tier: 'standard', state: 'active', contacts: [], operator: false } as const;
    await gateway.store.organizations.create(organization, 'test');
    const { page, complaints, foreign } = await openAt(`#/organizations/${encodeURIComponent(id)}`);
    await signIn(page, ADMIN);
    await page.getByRole('button', { name: /^Suspend org_<img/ }).click();
    await page.locator('dialog h2', { hasText: `Suspend ${id}?` }).waitFor(PATIENCE);
    await planned(page, 'state active');
    assert.equal(await page.locator('dialog img').count(), 0);
    assert.notEqual(await page.title(), 'taken');
    assert.deepEqual([complaints, foreign], [[], []]);
    await page.context().close();
  });

  it('refuses what a page of another site sends while an operator is signed in', async () => {
    await gateway.issueKey({ organization: 'org_attacked' });
    const target = `${gateway.adminUrl}/console/actions/suspend-organization`;
    const body = JSON.stringify({ target: 'org_attacked', dry_run: false });
    const evil = createServer((_request, response) => {
      response.setHeader('content-type', 'text/html').end('<!doctype html><title>evil</title>');
    });
    await new Promise<void>((resolve) => evil.listen(0, '127.0.0.1', resolve));
    const context = await browser.newContext();
    try {
      const operator = await context.newPage();
      await operator.goto(`${gateway.adminUrl}/`);
      await signIn(operator, ADMIN);
      await operator.locator('#role', { hasText: 'Role: admin' }).waitFor(PATIENCE);
      const page = await context.newPage();
      const statuses: number[] = [];
      page.on('response', (response) => {
        if (response.url().startsWith(target)) statuses.push(response.status());
      });
      // Another site, and another port of the same one.
      for (const host of ['localhost', '127.0.0.1']) {
        await page.goto(`http://${host}:${(evil.address() as AddressInfo).port}/`);
        const send = (init: object) =>
          page.evaluate(`fetch(${JSON.stringify(target)}, ${JSON.stringify(init)}).then(() => '', String)`);
        const headers = {
          'content-type': 'application/json',
          'x-console-action': '1',
          authorization: `Bearer ${ADMIN}`,
        };
        await send({ method: 'POST', mode: 'no-cors', body });
        await send({ method: 'POST', mode: 'no-cors', body, headers: { 'content-type': 'text/plain' } });
        assert.match(String(await send({ method: 'POST', body, headers, credentials: 'include' })), /Failed to fetch/);
        await page.evaluate(
          `new Promise((done) => { const image = new Image(); image.onerror = done; image.src = ${JSON.stringify(target)}; })`,
        );
        await page.evaluate(`(() => {
          const form = document.createElement('form');
          Object.assign(form, { method: 'post', action: ${JSON.stringify(target)}, enctype: 'text/plain' });
          const field = document.createElement('input');
          Object.assign(field, { name: '{"target":"org_attacked","dry_run":false,"reason":"', value: '"}' });
          form.append(field);
          document.body.append(form);
          form.submit();
        })()`);
        await page.waitForURL(target, PATIENCE);
      }
      assert.ok(statuses.length >= 6 && statuses.every((status) => status === 403), statuses.join());
      assert.equal((await gateway.store.organizations.get('org_attacked'))?.state, 'active');
    } finally {
      await context.close();
      evil.close();
    }
  });
});
