// An instance that was killed, in a browser: it is named with the moment since when, and an operator who knows that it is gone says so in
// two clicks.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { freePort } from '../support/free-port.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { askWith, eventually, untilRead } from '../support/instances.ts';
import { apartAt, type Relay, startRedis, startRelay, type TestRedis } from '../support/redis.ts';
import { thingsAt } from '../support/things.ts';
import { type FakeUpstream, startUpstream } from '../support/upstream.ts';
import { type Browser, chooseInMenu, launchBrowser, openPage, type Page, takeScreenshot } from './browser.ts';

const ORGANIZATION = 'org_known';
const ADMIN = 'an-admin-token-for-this-test';
const PATIENCE = { timeout: 30_000 };

describe('the console after the end of an instance', () => {
  let redis: TestRedis;
  let relay: Relay;
  let one: TestGateway;
  let other: TestGateway;
  let upstream: FakeUpstream;
  let port: number;
  let browser: Browser;
  before(async () => {
    redis = await startRedis();
    upstream = await startUpstream((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"data":[]}');
    });
    const url = apartAt(redis.url);
    relay = await startRelay(url);
    port = await freePort();
    one = await start(url, await freePort());
    other = await start(relay.url, port);
    await eventually(async () => (await feedOf(one)).statuses.length === 2);
    const { key } = await one.issueKey({ organization: ORGANIZATION });
    await untilRead({ gateways: [one, other] });
    assert.equal((await askWith(key, other)).status, 200);
    browser = await launchBrowser();
  });
  after(async () => {
    await browser?.close();
    await Promise.all([one?.stop(), other?.stop()]);
    await upstream?.close();
    await relay?.stop();
    await redis?.stop();
  });

  const start = (url: string, at: number) =>
    startGateway({ ...thingsAt(upstream.url), environment: { REDIS_URL: url, PORT: String(at), ADMIN_TOKEN: ADMIN } });

  async function feedOf({ adminUrl }: TestGateway): Promise<{ readonly statuses: readonly unknown[] }> {
    const headers = { authorization: `Bearer ${ADMIN}` };
    return (await (await fetch(`${adminUrl}/console/feed?instance=all`, { headers })).json()) as never;
  }

  async function signedIn(at: string): Promise<Page> {
    const { page } = await openPage(browser, `${one.adminUrl}/${at}`);
    await chooseInMenu(page, 'sign-in');
    await page.locator('#token').fill(ADMIN);
    await page.keyboard.press('Enter');
    await page.locator('#role', { hasText: 'Role: admin' }).waitFor(PATIENCE);
    return page;
  }

  it('names it since when, until an operator says that it is gone for good', async () => {
    await relay.kill();
    const page = await signedIn('');
    const cause = page.locator('#attention li', { hasText: `:${port} does not respond` });
    await page.locator('#without', { hasText: `:${port} does not respond` }).waitFor(PATIENCE);
    // A line leaves the charts readable, which a band of an hour does not.
    const mark = page.locator('#traffic-chart .mark.outage', { hasText: `:${port} does not respond` });
    await mark.locator('line').waitFor({ ...PATIENCE, state: 'attached' });
    assert.equal(await mark.locator('rect').count(), 0);
    await cause.getByRole('link', { name: 'Details' }).click(PATIENCE);
    const row = page.locator('#instances tbody tr', { hasText: `:${port}` });
    await row.filter({ hasText: /missing since \d\d:\d\d:\d\d/ }).waitFor(PATIENCE);
    await takeScreenshot(page, 'missing-instance');
    await row.getByRole('button', { name: /^Gone for good/ }).click();
    const dialog = page.locator('dialog.action');
    await dialog.locator('.plan dl').waitFor(PATIENCE);
    assert.doesNotMatch((await dialog.textContent()) ?? '', /\d{4}-\d\d-\d\dT/);
    await takeScreenshot(page, 'missing-dialog');
    await dialog.getByRole('button', { name: 'Gone for good' }).click();
    await dialog.locator('.outcome', { hasText: 'Done at' }).waitFor(PATIENCE);
    await dialog.getByRole('button', { name: 'Close' }).click();
    await row.waitFor({ ...PATIENCE, state: 'detached' });
    await page.context().close();
  });

  it('says of an instance without Redis whose figures it shows, and what cannot be read', async () => {
    const { page } = await openPage(browser, `${other.adminUrl}/`);
    await page
      .locator('#without', { hasText: /^▲ Only \S+: Redis is away, so the figures of / })
      .filter({ hasText: `:${one.port}` })
      .waitFor(PATIENCE);
    assert.equal(await page.locator('#now-title').textContent(), 'Now, 1 of 2 instances');
    await takeScreenshot(page, 'missing-redis');
    // Its figures are in the memory of the gateway, only its record is not.
    await page.evaluate(`location.hash = '#/organizations/${ORGANIZATION}'`);
    await page.locator('#subject-about', { hasText: 'because Redis is away' }).waitFor(PATIENCE);
    await page.locator('#subject-tiles .tile', { hasText: 'Requests' }).first().waitFor(PATIENCE);
    await page.locator('#subject-causes li', { hasText: 'Redis' }).waitFor(PATIENCE);
    assert.equal(await page.locator('#not-read').isVisible(), false);
    await takeScreenshot(page, 'missing-redis-organization');
    await page.evaluate(`location.hash = '#/audit'`);
    await page.locator('#not-read', { hasText: 'because Redis is away' }).waitFor(PATIENCE);
    assert.equal(await page.locator('[data-view="audit"]').isVisible(), false);
    await takeScreenshot(page, 'missing-redis-audit');
    await page.locator('#nav a', { hasText: 'Overview' }).click();
    await page.locator('#not-read').waitFor({ ...PATIENCE, state: 'hidden' });
    assert.equal(await page.locator('[data-view="overview"]').isVisible(), true);
    await page.context().close();
  });
});
