// The documentation in a real browser: light and dark, wide and narrow. It sends no request to another host, has no errors, is accessible,
// and an operation can be tried. Look at the screenshots after changing anything here.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { type Browser, findBarriers, launchBrowser, openPage, type Page, takeScreenshot } from './browser.ts';

const pages = {
  start: '/docs',
  guide: '/docs/guides/pagination',
  errors: '/docs/errors',
  error: '/docs/errors/validation_failed',
  references: '/docs/reference',
  reference: '/docs/reference/v1',
  missing: '/docs/errors/no_such_code',
};

describe('the documentation in a browser', () => {
  let gateway: TestGateway;
  let browser: Browser;
  let key: string;
  before(async () => {
    gateway = await startGateway();
    ({ key } = await gateway.issueKey({ mode: 'test' }));
    browser = await launchBrowser();
  });
  after(async () => {
    await browser?.close();
    await gateway?.stop();
  });

  for (const colorScheme of ['light', 'dark'] as const) {
    for (const width of [1440, 390]) {
      for (const [name, path] of Object.entries(pages)) {
        it(`is fine at ${path}, ${colorScheme}, ${width} pixels wide`, async () => {
          const { page, complaints, foreign } = await openPage(browser, gateway.url + path, { colorScheme, width });
          if (name === 'reference') await page.waitForSelector('.opblock');
          await takeScreenshot(page, `${name}-${colorScheme}-${width}`);
          assert.deepEqual(foreign, []);
          // The console also reports that the page itself is a 404.
          assert.deepEqual(name === 'missing' ? complaints.slice(1) : complaints, []);
          assert.deepEqual(await findBarriers(page), []);
          const scrolled = (await page.evaluate('document.documentElement.scrollWidth')) as number;
          assert.ok(scrolled <= width, `wider than the window: ${scrolled}`);
          await page.context().close();
        });
      }

      it(`lets an operation be tried, ${colorScheme}, ${width} pixels wide`, async () => {
        const opened = await openPage(browser, `${gateway.url}/docs/reference/v1`, { colorScheme, width });
        const { page, complaints, foreign } = opened;
        await authorize(page, key);
        const operation = page.locator('#operations-customers-listCustomers');
        await operation.locator('.opblock-summary-control').click();
        await operation.locator('.try-out__btn').click();
        await operation.locator('.execute').click();
        await operation.locator('.live-responses-table tbody .response-col_status').waitFor();
        await takeScreenshot(page, `tried-${colorScheme}-${width}`);
        const status = await operation
          .locator('.live-responses-table tbody .response-col_status')
          .first()
          .textContent();
        assert.match(status ?? '', /^200/);
        const body = await operation
          .locator('.live-responses-table tbody .response-col_description')
          .first()
          .textContent();
        assert.match(body ?? '', /"has_more"/);
        assert.deepEqual(await findBarriers(page), []);
        assert.deepEqual([foreign, complaints], [[], []]);
        // The key is in this page and nowhere else.
        assert.equal(await page.evaluate('localStorage.length + sessionStorage.length'), 0);
        assert.equal((await page.context().cookies()).length, 0);
        await page.reload({ waitUntil: 'networkidle' });
        assert.equal(await page.locator('.btn.authorize.locked').count(), 0);
        await page.context().close();
      });
    }
  }

  it('shows an accessible dialog for the key, and closes it by keyboard', async () => {
    const { page } = await openPage(browser, `${gateway.url}/docs/reference/v1`);
    await page.locator('.btn.authorize').first().click();
    await page.locator('.modal-ux input').waitFor();
    await takeScreenshot(page, 'dialog');
    assert.deepEqual(await findBarriers(page), []);
    await page.locator('.modal-ux .btn-done').focus();
    await page.keyboard.press('Enter');
    await page.locator('.modal-ux').waitFor({ state: 'detached' });
    await page.context().close();
  });

  it('can be walked through by keyboard: past the navigation, and into scrolling parts', async () => {
    const { page } = await openPage(browser, `${gateway.url}/docs/guides/errors`);
    const focused = () => page.evaluate('document.activeElement.outerHTML') as Promise<string>;
    await page.keyboard.press('Tab');
    assert.match(await focused(), /class="skip"/);
    assert.ok(await page.locator('.skip').isVisible());
    const ring = await page.evaluate('getComputedStyle(document.activeElement).outlineStyle');
    assert.equal(ring, 'solid');
    await page.keyboard.press('Enter');
    assert.equal(await page.evaluate('document.activeElement.id'), 'main');
    const reached = new Set<string>();
    for (let count = 0; count < 20; count++) {
      await page.keyboard.press('Tab');
      reached.add(
        (await page.evaluate('document.activeElement.className || document.activeElement.localName')) as string,
      );
    }
    for (const one of ['anchor', 'code', 'table']) assert.ok(reached.has(one), `${one} is not reached`);
    await page.context().close();
  });

  it('opens an operation of the reference by keyboard', async () => {
    const { page } = await openPage(browser, `${gateway.url}/docs/reference/v1`);
    const control = page.locator('#operations-jobs-listJobs .opblock-summary-control');
    await control.focus();
    await page.keyboard.press('Enter');
    await page.locator('#operations-jobs-listJobs .opblock-body').waitFor();
    assert.equal(await control.getAttribute('aria-expanded'), 'true');
    await page.context().close();
  });

  it('is readable without JavaScript, the reference as a table', async () => {
    const { page } = await openPage(browser, `${gateway.url}/docs/reference/v1`, { javaScript: false });
    await takeScreenshot(page, 'reference-without-javascript');
    assert.equal(await page.locator('noscript table tbody tr').count(), 45);
    await page.goto(`${gateway.url}/docs/guides/errors`);
    assert.ok(await page.locator('h1').isVisible());
    await page.context().close();
  });
});

async function authorize(page: Page, key: string): Promise<void> {
  await page.locator('.btn.authorize').first().click();
  await page.locator('.modal-ux input').fill(key);
  await page.locator('.modal-ux .authorize').click();
  await page.locator('.modal-ux .btn-done').click();
}
