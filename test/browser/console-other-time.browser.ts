// The box for another time of the charts, in a wide and a narrow window: it is whole, begins with the time that is shown, and its opener
// can be read once another time is chosen.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { type Browser, findBarriers, launchBrowser, openPage, type Page, takeScreenshot } from './browser.ts';

const PATIENCE = { timeout: 30_000 };

describe('the box for another time', () => {
  let gateway: TestGateway;
  let browser: Browser;
  before(async () => {
    gateway = await startGateway();
    browser = await launchBrowser();
  });
  after(async () => {
    await browser?.close();
    await gateway?.stop();
  });

  async function openBox(width: number): Promise<Page> {
    const { page } = await openPage(browser, `${gateway.adminUrl}/#/?range=1h`, { width });
    await page.locator('#tiles .tile').first().waitFor(PATIENCE);
    await page.locator('#free-range summary').click();
    return page;
  }

  it('begins with the time that is shown, and closes with a click beside it', async () => {
    const page = await openBox(1440);
    const momentIn = async (id: string) => Date.parse(await page.locator(`#${id}`).inputValue());
    assert.equal((await momentIn('free-to')) - (await momentIn('free-from')), 3_600_000);
    await page.locator('#attention-title').click();
    assert.equal(await page.locator('#free-range form').isVisible(), false);
    await page.context().close();
  });

  for (const width of [1440, 390])
    it(`holds its fields, within a window of ${width} px`, async () => {
      const page = await openBox(width);
      await takeScreenshot(page, `other-time-${width}`);
      const outside = await page.evaluate(`(() => {
        const box = document.querySelector('#free-range form').getBoundingClientRect();
        return [...document.querySelectorAll('#free-range form :is(input, button)')].flatMap((one) => {
          const { left, right } = one.getBoundingClientRect();
          return left < box.left || right > box.right || right > innerWidth ? [one.id || one.textContent] : [];
        });
      })()`);
      assert.deepEqual(outside, []);
      assert.equal(await page.evaluate('document.documentElement.scrollWidth'), width);
      await page.locator('#free-range [type=submit]').click();
      await page.locator('#zoom-out').waitFor(PATIENCE);
      await takeScreenshot(page, `other-time-chosen-${width}`);
      assert.equal(await page.evaluate(`getComputedStyle(document.querySelector('#free-range')).opacity`), '1');
      assert.deepEqual(await findBarriers(page), []);
      await page.context().close();
    });
});
