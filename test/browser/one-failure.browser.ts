// The console after one failed request: nothing fails for long yet, but the target is suspect, and no figure is red.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { startGateway } from '../support/gateway.ts';
import { thingsAt } from '../support/things.ts';
import { unusedPort } from '../support/upstream.ts';
import { launchBrowser, openPage } from './browser.ts';

it('one failed request makes its target suspect, and the figure a warning', async (test) => {
  const gateway = await startGateway(thingsAt(`http://127.0.0.1:${await unusedPort()}`));
  test.after(() => gateway.stop());
  const { authorization } = await gateway.authorize();
  await fetch(`${gateway.url}/v1/things`, { headers: { authorization } });
  const browser = await launchBrowser();
  test.after(() => browser.close());
  const { page } = await openPage(browser, `${gateway.adminUrl}/`);
  const line = page.locator('#attention li.warn', { hasText: 'Suspect, because its last request failed: things.' });
  await line.waitFor({ timeout: 30_000 });
  await page.locator('#tiles .warn dt', { hasText: 'Failed' }).waitFor({ timeout: 30_000 });
  await page.evaluate("location.hash = '#/system'");
  await page.locator('.state.warn', { hasText: 'suspect' }).waitFor({ timeout: 30_000 });
  assert.equal(await page.locator('#tiles .bad, #attention .bad').count(), 0);
});
