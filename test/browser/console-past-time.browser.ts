// A past time shows what was wrong then, and not what is wrong now; links and searches lead to the culprit.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { thingsAt } from '../support/things.ts';
import { type FakeUpstream, startUpstream } from '../support/upstream.ts';
import { NOW_MS } from '../support/versions.ts';
import { type Browser, chooseInMenu, launchBrowser, openPage, type Page, takeScreenshot } from './browser.ts';

const PATIENCE = { timeout: 30_000 };
const STEP_MS = 5000;
const FAILING = '#/upstreams/things?';

describe('a time in which an operation failed', () => {
  let service: FakeUpstream;
  let gateway: TestGateway;
  let browser: Browser;
  let nowMs = NOW_MS;
  let status = 200;
  let headers: { authorization: string };
  let time = '';
  before(async () => {
    service = await startUpstream((_request, response) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end('{}'),
    );
    gateway = await startGateway({ ...thingsAt(service.url, { breaker: 'off' }), now: () => nowMs });
    browser = await launchBrowser();
    headers = await gateway.authorize();
    await goOn(60);
    const from = new Date(nowMs).toISOString();
    await goOn(24, 500);
    time = `from=${from}&to=${new Date(nowMs).toISOString()}`;
    await goOn(60);
  });
  after(async () => {
    await browser?.close();
    await gateway?.stop();
    await service?.close();
  });

  async function goOn(steps: number, answer = 200): Promise<void> {
    status = answer;
    for (let step = 0; step < steps; step += 1) {
      for (let sent = 0; sent < 2; sent += 1)
        await (await fetch(`${gateway.url}/v1/things`, { headers })).arrayBuffer();
      nowMs += STEP_MS;
      await (await fetch(`${gateway.adminUrl}/console/feed`)).arrayBuffer();
    }
  }

  const open = async (hash: string): Promise<Page> => (await openPage(browser, `${gateway.adminUrl}/${hash}`)).page;

  it('has its causes on the first page, with links, and no figure of the present', async () => {
    const page = await open(`#/?${time}`);
    await page.locator('#tiles', { hasText: 'in this time' }).waitFor(PATIENCE);
    const line = page.locator('#attention li').first();
    assert.match(
      (await line.textContent()) ?? '',
      /Upstream things \(live\): target \S+ is failing \(status 500\)\. \(\d+ of \d+ requests failed/,
    );
    for (const lead of [line.locator('a'), page.locator('#happened li a').first()])
      assert.ok(((await lead.getAttribute('href')) ?? '').startsWith(FAILING));
    assert.match((await page.locator('#attention-title').textContent()) ?? '', /^Needed attention in this time [1-9]/);
    assert.equal(await page.locator('#tiles .tile', { hasText: 'In progress' }).count(), 0);
    assert.equal(await page.getByRole('columnheader', { name: 'Last minute' }).isVisible(), false);
    await takeScreenshot(page, 'console-past-time');
    await page.locator('#happened li a').first().click();
    await page.locator('#subject-causes li', { hasText: 'is failing (status 500).' }).waitFor(PATIENCE);
    await page.context().close();
  });

  it('is in a copied link to a list of requests, which shows the same rows later', async () => {
    const page = await open('#/requests?status=service_failed');
    const rowsOf = async (of: Page) => {
      await of.locator('#exchange-list tbody tr').first().waitFor(PATIENCE);
      return of.locator('#exchange-list tbody tr').allTextContents();
    };
    await rowsOf(page);
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await chooseInMenu(page, 'copy-link');
    await page.locator('#copy-link', { hasText: 'Copied' }).waitFor(PATIENCE);
    const link = (await page.evaluate('navigator.clipboard.readText()')) as string;
    assert.match(link, /status=service_failed&to=/);
    const told = await rowsOf(page);
    await page.context().close();
    await goOn(2, 500);
    const { page: other } = await openPage(browser, link);
    assert.deepEqual(await rowsOf(other), told);
    await other.context().close();
  });

  it('is found by the address of a target, and a path by its only operation', async () => {
    const page = await open('');
    await page.locator('#tiles .tile').first().waitFor(PATIENCE);
    const search = async (text: string) => {
      await page.locator('#request-id').fill(text);
      await page.locator('#request-id').press('Enter');
      await page.locator('#subject-title').waitFor(PATIENCE);
      await page.waitForFunction(`!location.hash.endsWith('#/') && location.hash !== window.before`);
      await page.evaluate('window.before = location.hash');
      return (await page.evaluate('decodeURIComponent(location.hash)')) as string;
    };
    assert.equal(await search(new URL(service.url).host), '#/upstreams/things');
    assert.equal(await search('/v1/strict'), '#/operations/GET /v1/strict');
    assert.equal(await search(service.url), '#/upstreams/things');
    await page.context().close();
  });
});
