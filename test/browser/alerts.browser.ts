// The alerts of the console in a real browser: a dead service is told, silenced and told again by clicking alone. Look at the screenshots
// after changing anything here.

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { after, before, describe, it } from 'node:test';
import { startAlertReceiver } from '../support/alert-receiver.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { thingsAt } from '../support/things.ts';
import { unusedPort } from '../support/upstream.ts';
import { type Browser, chooseInMenu, findBarriers, launchBrowser, openPage, takeScreenshot } from './browser.ts';

const ADMIN = 'an-admin-token-for-this-test';
const PATIENCE = { timeout: 30_000 };

/** Opens a view, and signs in. */
async function openSignedIn(browser: Browser, gateway: TestGateway, view: string) {
  const opened = await openPage(browser, `${gateway.adminUrl}/#/${view}`);
  await chooseInMenu(opened.page, 'sign-in');
  await opened.page.locator('#token').fill(ADMIN);
  await opened.page.keyboard.press('Enter');
  return opened;
}

describe('alerts of the console in a browser', () => {
  let pager: Awaited<ReturnType<typeof startAlertReceiver>>;
  let gateway: TestGateway;
  let browser: Browser;
  let servicePort: number;
  const service = createServer((_request, response) => {
    response.setHeader('content-type', 'application/json').end('{}');
  });
  before(async () => {
    pager = await startAlertReceiver();
    servicePort = await unusedPort();
    gateway = await startGateway({
      ...thingsAt(`http://127.0.0.1:${servicePort}`),
      gateway: {
        alerts: {
          receivers: {
            pager: { webhook: { url: pager.url, secret: 'pager_key' } },
            other: { webhook: { url: `http://127.0.0.1:${await unusedPort()}/`, secret: 'pager_key' } },
          },
        },
      },
      environment: { ADMIN_TOKEN: ADMIN, PAGER_KEY: pager.secret },
    });
    browser = await launchBrowser();
    const headers = await gateway.authorize();
    for (let times = 0; times < 8; times += 1) await fetch(`${gateway.url}/v1/things`, { headers });
  });
  after(async () => {
    await browser?.close();
    await gateway?.stop();
    await pager?.close();
    service.close();
  });

  it('are listed, silenced for a time and told again', async () => {
    const { page, complaints, foreign } = await openSignedIn(browser, gateway, 'system');
    await page.locator('#configuration').getByText('2 receivers').waitFor(PATIENCE);
    await page.locator('main').getByText('Alerts and silences').click(PATIENCE);
    await page
      .locator('#alerts-now')
      .getByText(/is failing/)
      .waitFor(PATIENCE);
    await page
      .locator('#alerts-receivers')
      .getByText(/ECONNREFUSED/)
      .waitFor(PATIENCE);
    assert.equal(await page.getByText('No receivers.').isVisible(), false);
    await page.getByRole('button', { name: 'Silence upstream things live' }).click(PATIENCE);
    await page.locator('#dialog-choice').selectOption('7200');
    const confirm = page.locator('dialog button.main:not([disabled])');
    await confirm.waitFor(PATIENCE);
    await takeScreenshot(page, 'alerts-dialog', false);
    await confirm.click();
    await page.locator('dialog .outcome').getByText('Done').waitFor(PATIENCE);
    await page.locator('dialog').getByRole('button', { name: 'Close' }).click();
    await page.locator('#alerts-silences').getByText('upstream things live').first().waitFor(PATIENCE);
    await page.locator('#alerts-now').getByText('silent').waitFor(PATIENCE);
    // The names of several targets and their errors.
    await page.evaluate(
      `document.querySelector('#alerts-now tbody .state').append(' target http://10.0.0.1:8080 is failing (ECONNREFUSED);'.repeat(4))`,
    );
    const table = '#alerts-now .scroller';
    const beyond = `document.querySelector('${table}').scrollWidth - document.querySelector('${table}').clientWidth`;
    for (const [colorScheme, width] of [
      ['light', 1440],
      ['dark', 390],
    ] as const) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 900 });
      await takeScreenshot(page, `alerts-${colorScheme}-${width}`);
      assert.equal(await page.evaluate(beyond), 0, `the last columns are visible at ${width} px`);
      assert.deepEqual(await findBarriers(page), []);
      assert.ok(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), `${width} px`);
    }
    await page.getByRole('button', { name: 'End silence upstream things live' }).click(PATIENCE);
    await confirm.click(PATIENCE);
    await page.locator('dialog .outcome').getByText('Done').waitFor(PATIENCE);
    const kinds = (await gateway.store.audit.list({ limit: 5 })).map(({ kind, by }) => `${kind} ${by}`);
    assert.deepEqual(kinds.slice(0, 2), ['alerts.silenced admin_token', 'alerts.silenced admin_token']);
    assert.deepEqual([complaints.filter((line) => !line.includes('401')), foreign], [[], []]);
    await page.context().close();
  });

  it('are pale while they are quiet, below those that last, and say to the second when their end is told', async () => {
    const { page } = await openPage(browser, `${gateway.adminUrl}/#/alerts`);
    const rows = page.locator('#alerts-now tbody tr');
    await rows.getByText(/receiver other: /).waitFor(PATIENCE);
    await new Promise<void>((resolve) => void service.listen(servicePort, '127.0.0.1', resolve));
    const headers = await gateway.authorize();
    for (let times = 0; times < 3; times += 1) await fetch(`${gateway.url}/v1/things`, { headers });
    await rows
      .last()
      .getByText(/^○ Quiet since .*\d\d:\d\d:\d\d; its end is sent at .*\d\d:\d\d:\d\d, unless it returns\.$/)
      .waitFor(PATIENCE);
    assert.match((await rows.last().textContent()) ?? '', /^Upstream things/);
    for (const [colorScheme, width] of [
      ['light', 1440],
      ['dark', 1440],
      ['light', 390],
      ['dark', 390],
    ] as const) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 900 });
      await takeScreenshot(page, `alerts-quiet-${colorScheme}-${width}`);
      assert.deepEqual(await findBarriers(page), []);
      assert.ok(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), `${width} px`);
    }
    await page.context().close();
  });
});

describe('alerts without a receiver', () => {
  let gateway: TestGateway;
  let browser: Browser;
  before(async () => {
    gateway = await startGateway({ environment: { ADMIN_TOKEN: ADMIN } });
    browser = await launchBrowser();
  });
  after(async () => {
    await browser?.close();
    await gateway?.stop();
  });

  it('say in amber that there are no receivers, with the lines to add and their guide, from System and from what needs attention', async () => {
    const { page, complaints, foreign } = await openSignedIn(browser, gateway, 'system');
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.locator('#configuration .warn').getByText('no receivers').click(PATIENCE);
    const card = page.locator('[data-view=alerts] .attention li.warn');
    await card.getByText('No receivers.').waitFor(PATIENCE);
    for (const [colorScheme, width] of [
      ['light', 1440],
      ['dark', 390],
    ] as const) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 900 });
      await takeScreenshot(page, `alerts-none-${colorScheme}-${width}`);
      assert.deepEqual(await findBarriers(page), []);
      assert.ok(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), `${width} px`);
    }
    await card.getByRole('button', { name: /^Copy/ }).click();
    await card.getByText('Copied').waitFor(PATIENCE);
    const lines = (await page.evaluate('navigator.clipboard.readText()')) as string;
    assert.match(lines, /^alerts:\n {2}receivers:\n {4}pager:\n {6}webhook: \{ url: /);
    await card.getByRole('link').click();
    await page.locator('#runbook code').getByText('gateway alerts test pager').first().waitFor(PATIENCE);
    await takeScreenshot(page, 'alerts-guide');
    await page.locator('#nav a').first().click();
    await page.locator('[data-view=overview]').getByRole('link', { name: 'Alerts' }).click(PATIENCE);
    await card.waitFor(PATIENCE);
    assert.deepEqual([complaints.filter((line) => !line.includes('401')), foreign], [[], []]);
    await page.context().close();
  });
});
