// The page "Changes" in a real browser: what is folded can be unfolded, and breaking changes can be shown alone, without a script.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type StartedHere, startInProcess } from '../support/in-process.ts';
import { createInstallation, type Installation } from '../support/process.ts';
import { type Browser, launchBrowser, openPage, takeScreenshot } from './browser.ts';

describe('the changes of the contracts in a browser', () => {
  let installation: Installation;
  let gateway: StartedHere;
  let browser: Browser;
  before(async () => {
    installation = createInstallation();
    gateway = await startInProcess(installation.environment);
    browser = await launchBrowser();
  });
  after(async () => {
    await browser?.close();
    await gateway?.stop();
    installation?.remove();
  });

  for (const width of [1440, 390])
    it(`are unfolded and filtered, ${width} pixels wide`, async () => {
      const url = `http://127.0.0.1:${gateway.port}/docs/changes`;
      const { page } = await openPage(browser, url, { width, javaScript: false });
      const further = page.locator('.further').first();
      await further.locator('summary').click();
      assert.ok(await further.locator('a, code').last().isVisible());
      await takeScreenshot(page, `changes-${width}`);
      const shown = async () => page.locator('.change-list li:visible').count();
      const all = await shown();
      await page.locator('.only-breaking input').check();
      const breaking = await shown();
      assert.ok(breaking > 0 && breaking < all, `${breaking} of ${all}`);
      assert.equal(await page.locator('.change-list .mark-of:visible').filter({ hasNotText: 'breaking' }).count(), 0);
      await takeScreenshot(page, `changes-breaking-${width}`);
      await page.context().close();
    });
});
