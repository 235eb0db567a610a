// The page of an upstream whose breaker is open: that the gateway refuses its requests hurts clients as a failure does, and looks so.

import { it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { startGateway } from '../support/gateway.ts';
import { thingsAt } from '../support/things.ts';
import { startUpstream } from '../support/upstream.ts';
import { launchBrowser, openPage, takeScreenshot } from './browser.ts';

const PATIENCE = { timeout: 30_000 };

it('a broken-off upstream is red: its breaker, its callers, and the refused requests', async (test) => {
  const upstream = await startUpstream((_request, response) => response.writeHead(502).end());
  const gateway = await startGateway(thingsAt(upstream.url));
  const { authorization } = await gateway.authorize();
  let isOver = false;
  const sending = (async () => {
    while (!isOver) {
      await (await fetch(`${gateway.url}/v1/things`, { headers: { authorization } })).arrayBuffer();
      await sleep(20);
    }
  })();
  const browser = await launchBrowser();
  test.after(async () => {
    await browser.close();
    isOver = true;
    await sending;
    await gateway.stop();
    await upstream.close();
  });
  const { page } = await openPage(browser, `${gateway.adminUrl}/#/upstreams/things`);
  await page.locator('#subject-about', { hasText: 'the gateway answers its requests with 503' }).waitFor(PATIENCE);
  await page
    .locator('#breakdown .state.bad', { hasText: /^✕ (\d+), \1 with 5xx$/ })
    .first()
    .waitFor(PATIENCE);
  await page.locator('#breakdown .state.bad', { hasText: '503' }).first().waitFor(PATIENCE);
  await takeScreenshot(page, 'broken-off');
  await page.locator('#subject-about').getByRole('link', { name: 'its requests' }).click();
  await page.locator('#exchange-list tbody tr .state.bad', { hasText: '503' }).first().waitFor(PATIENCE);
});
