// The console of gateways that share a Redis, in a browser: it begins with all of them, and one of them can be chosen.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { freePort } from '../support/free-port.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { askWith, eventually, untilRead } from '../support/instances.ts';
import { startRedis, type TestRedis } from '../support/redis.ts';
import { thingsAt } from '../support/things.ts';
import { type FakeUpstream, startUpstream } from '../support/upstream.ts';
import { type Browser, launchBrowser, openPage, type Page, takeScreenshot } from './browser.ts';

const PATIENCE = { timeout: 30_000 };

describe('the console of two instances', () => {
  let redis: TestRedis;
  let upstream: FakeUpstream;
  let one: TestGateway;
  let other: TestGateway;
  let browser: Browser;
  before(async () => {
    redis = await startRedis();
    upstream = await startUpstream((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"data":[]}');
    });
    [one, other] = [await start(), await start()];
    const { key } = await one.issueKey();
    await untilRead({ gateways: [one, other] });
    await eventually(async () => (await instancesOf(one)).length === 2);
    for (const gateway of [one, one, other]) assert.equal((await askWith(key, gateway)).status, 200);
    browser = await launchBrowser();
  });
  after(async () => {
    await browser?.close();
    await Promise.all([one?.stop(), other?.stop(), upstream?.close().catch(() => undefined)]);
    await redis?.stop();
  });

  /** An instance is known by its port. */
  const start = async () =>
    startGateway({ ...thingsAt(upstream.url), environment: { REDIS_URL: redis.url, PORT: String(await freePort()) } });

  async function instancesOf({ adminUrl }: TestGateway): Promise<readonly { readonly id: string; name: string }[]> {
    const feed = await (await fetch(`${adminUrl}/console/feed`)).json();
    return (feed as { instances: { id: string; name: string }[] }).instances;
  }

  const requestsOn = (page: Page) => page.locator('#tiles .tile', { hasText: 'Requests' }).locator('.soft').first();

  it('begins with all of them, and goes on with the one that is chosen', async () => {
    const { page } = await openPage(browser, `${one.adminUrl}/`);
    await requestsOn(page).filter({ hasText: '3 in the last' }).waitFor(PATIENCE);
    assert.equal(await page.locator('#instance option:checked').textContent(), 'All instances');
    const [own] = await instancesOf(one);
    await page.locator('#instance').selectOption(own?.id ?? '');
    await requestsOn(page).filter({ hasText: '2 in the last' }).waitFor(PATIENCE);
    await page.locator('#nav a', { hasText: 'System' }).click();
    assert.match(page.url(), new RegExp(`instance=${own?.id}`));
    await page.locator('#instance').selectOption('all');
    await page.locator('#request-id').fill(own?.name ?? '');
    await page.locator('#request-id').press('Enter');
    await page.waitForURL(new RegExp(`#/system\\?instance=${own?.id}$`), PATIENCE);
    await page.locator('#instance').selectOption('all');
    assert.doesNotMatch(page.url(), /instance=/);
    await page.context().close();
  });

  it('has one row for what all instances tell alike, and names the instance of what differs', async () => {
    const { page } = await openPage(browser, `${one.adminUrl}/#/system`);
    const targets = page.locator('#upstreams tbody tr');
    await targets.filter({ hasText: 'all' }).waitFor(PATIENCE);
    for (const table of ['upstreams', 'stores']) {
      const cells = await page.locator(`#${table} tbody td[data-label="Instance"]`).allTextContents();
      assert.deepEqual([...new Set(cells)], ['all'], table);
    }
    assert.equal(await targets.count(), 1);
    await takeScreenshot(page, 'instances-system');
    const joined =
      await page.evaluate(`import(new URL('system-table.js', document.querySelector('script[type=module]').src)).then(({ ofAll, sumOf }) =>
      ofAll(({ rows }) => rows, ({ name }) => name, { open: sumOf })({
        statuses: [
          { instance: 'a', status: { rows: [{ name: 'x', state: 'up', open: 2 }, { name: 'y', state: 'up' }, { name: 'z' }] } },
          { instance: 'b', status: { rows: [{ name: 'x', state: 'up', open: 3 }, { name: 'y', state: 'away' }] } },
          { instance: 'c', status: null },
        ],
      }))`);
    assert.deepEqual(joined, [
      { name: 'x', state: 'up', open: 5, instance: 'all' },
      { name: 'y', state: 'up', instance: 'a' },
      { name: 'y', state: 'away', instance: 'b' },
      { name: 'z', instance: 'a' },
    ]);
    const [own] = await instancesOf(one);
    await page.locator('#instance').selectOption(own?.id ?? '');
    await targets.filter({ hasText: 'all' }).waitFor({ ...PATIENCE, state: 'detached' });
    assert.equal(await page.locator('#upstreams th', { hasText: 'Instance' }).first().isVisible(), false);
    await page.context().close();
  });

  it('shows the configuration of the chosen instance, that they differ, and a change that was refused', async () => {
    const limitsOf = ({ directory }: TestGateway) => join(directory, 'config/limits.yaml');
    writeFileSync(limitsOf(other), '{ "tiers": { "standard": { "requests": 4321 } } }');
    const { page } = await openPage(browser, `${one.adminUrl}/#/system`);
    await page.locator('#instances .state.warn').nth(1).waitFor(PATIENCE);
    await takeScreenshot(page, 'instances-differ');
    await page.evaluate(`location.hash = '#/configuration'`);
    const now = page.locator('#configuration-now');
    await now.filter({ hasText: 'different configurations' }).waitFor(PATIENCE);
    await takeScreenshot(page, 'instances-configuration');
    const name = (await instancesOf(one))[1]?.name ?? '';
    await now.getByRole('link', { name }).click();
    const view = page.locator('#configuration-view');
    await view
      .filter({ hasText: `Instance ${name}.` })
      .filter({ hasText: '4321' })
      .waitFor(PATIENCE);
    await page.locator('#instance option:checked', { hasText: name }).waitFor({ ...PATIENCE, state: 'attached' });
    // It is renewed by itself, and a file that was opened stays open.
    const file = view.locator('details.file', { hasText: 'limits.yaml' });
    await file.locator('summary').click();
    writeFileSync(limitsOf(other), '{ "tiers": { "standard": { "requests": 5432 } } }');
    await file.locator('pre', { hasText: '5432' }).waitFor(PATIENCE);
    assert.equal(await file.getAttribute('open'), '');
    writeFileSync(limitsOf(other), '{ "tiers": { "standard": { "requests": -1 } } }');
    await now.filter({ hasText: 'refused at' }).filter({ hasText: 'tiers.standard.requests' }).waitFor(PATIENCE);
    await page.setViewportSize({ width: 390, height: 844 });
    await takeScreenshot(page, 'instances-refused-390');
    await page.context().close();
  });

  it('tells the state of an upstream for all instances, or for each if they differ', async () => {
    const { page } = await openPage(browser, `${one.adminUrl}/#/upstreams/things`);
    const facts = page.locator('#subject-about');
    await facts.filter({ hasText: `Target, live, all instances${upstream.url}` }).waitFor(PATIENCE);
    await upstream.close();
    const { key } = await one.issueKey();
    await untilRead({ gateways: [one, other] });
    for (let times = 0; times < 5; times += 1) await askWith(key, one);
    for (const { port } of [one, other])
      await facts.filter({ hasText: new RegExp(`Target, live, \\S+:${port}`) }).waitFor(PATIENCE);
    await facts.filter({ hasText: 'Healthy targets0 of 1' }).waitFor(PATIENCE);
    await takeScreenshot(page, 'instances-upstream');
    await page.context().close();
  });
});
