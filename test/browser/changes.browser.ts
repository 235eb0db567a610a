// The page "Changes" in a real browser: what is folded can be unfolded, and breaking changes can be shown alone, without a script. With
// one, it shows the changes of one contract and since a day, and the address has the choice.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type StartedHere, startInProcess } from '../support/in-process.ts';
import { createInstallation, type Installation } from '../support/process.ts';
import { type Browser, findBarriers, launchBrowser, openPage, takeScreenshot } from './browser.ts';

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

  for (const width of [1440, 390])
    it(`are chosen by contract and day, and the address keeps the choice, ${width} pixels wide`, async () => {
      const url = `http://127.0.0.1:${gateway.port}/docs/changes`;
      const { page, complaints } = await openPage(browser, url, { width });
      const count = page.locator('#change-count');
      const shown = async () => Number.parseInt((await count.textContent()) ?? '', 10);
      const all = await shown();
      assert.equal(await page.locator('.change-item:visible').count(), all);
      await page.locator('#change-operators').check();
      assert.ok((await shown()) > all);
      await page.locator('#change-api').selectOption('mail');
      const headings = () => page.locator('.changes h3:visible').allTextContents();
      assert.deepEqual([...new Set(await headings())], ['Mail principals API']);
      await page.locator('#change-since').fill('2026-11-25');
      await page.locator('#change-breaking').check();
      assert.equal(await shown(), 1);
      assert.match((await page.locator('.change-item:visible').textContent()) ?? '', /→[\s\S]*What to do:/);
      await takeScreenshot(page, `changes-chosen-${width}`);
      assert.deepEqual(await findBarriers(page), []);
      await page.reload({ waitUntil: 'networkidle' });
      assert.match(page.url(), /\?api=mail&since=2026-11-25&breaking=1&operators=1$/);
      assert.equal(await shown(), 1);
      await page.locator('#change-since').fill('2999-01-01');
      await page.locator('#change-none button').click();
      assert.equal(await shown(), all);
      assert.deepEqual(complaints, []);
      await page.context().close();
    });
});
