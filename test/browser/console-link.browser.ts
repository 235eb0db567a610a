// The link that the console copies shows the same numbers to two readers: at once, and when traffic and time have gone on.

import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { thingsAt } from '../support/things.ts';
import { type FakeUpstream, startUpstream } from '../support/upstream.ts';
import { NOW_MS } from '../support/versions.ts';
import { type Browser, chooseInMenu, launchBrowser, openPage, type Page, takeScreenshot } from './browser.ts';

const PATIENCE = { timeout: 30_000 };
const STEP_MS = 5000;

let service: FakeUpstream;
let gateway: TestGateway;
let browser: Browser;
let nowMs = NOW_MS;
before(async () => {
  service = await startUpstream();
  gateway = await startGateway({ ...thingsAt(service.url), now: () => nowMs });
  browser = await launchBrowser();
});
after(async () => {
  await browser?.close();
  await gateway?.stop();
  await service?.close();
});

/** The figures of all requests and of each operation. */
async function numbersOf(page: Page): Promise<string[]> {
  await page.locator('#traffic-chart .column').first().waitFor(PATIENCE);
  const tiles = await page.locator('#tiles .tile').allTextContents();
  const chart = await page.locator('#traffic-chart svg').getAttribute('aria-label');
  return [...tiles, ...(await page.locator('#operations tbody tr').allTextContents()), String(chart)];
}

it('shows the same numbers elsewhere, now and later', async () => {
  const { authorization } = await gateway.authorize();
  const goOn = async (steps: number) => {
    for (let step = 0; step < steps; step += 1) {
      for (let sent = 0; sent < 1 + (step % 3); sent += 1)
        await (await fetch(`${gateway.url}/v1/things`, { headers: { authorization } })).arrayBuffer();
      nowMs += STEP_MS;
      await (await fetch(`${gateway.adminUrl}/console/feed`)).arrayBuffer();
    }
  };
  await goOn(200);
  const { page } = await openPage(browser, `${gateway.adminUrl}/`);
  await page.locator('#traffic-chart .column').first().waitFor(PATIENCE);
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await chooseInMenu(page, 'copy-link');
  await page.locator('#copy-link', { hasText: 'Copied' }).waitFor(PATIENCE);
  const link = (await page.evaluate('navigator.clipboard.readText()')) as string;
  await page.locator('#tiles', { hasText: 'in this time' }).waitFor(PATIENCE);
  const told = await numbersOf(page);
  assert.ok(
    told.some((text) => /[1-9]\d* in this time/.test(text)),
    told.join('\n'),
  );

  const elsewhere = async () => {
    const other = await openPage(browser, link);
    await other.page.locator('#tiles', { hasText: 'in this time' }).waitFor(PATIENCE);
    const numbers = await numbersOf(other.page);
    await other.page.context().close();
    return numbers;
  };
  assert.deepEqual(await elsewhere(), told);
  await takeScreenshot(page, 'console-link');
  // Less than the 15 minutes for which the finest counts are kept.
  await goOn(150);
  assert.deepEqual((await elsewhere()).slice(0, -1), told.slice(0, -1));
  await page.context().close();
});
