// The documentation in a real browser: light and dark, wide and narrow. Nothing is asked of another host, nothing violates the policy of
// the pages, axe finds nothing, and operations can be tried. Look at the screenshots after changing anything here.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { manyOperations } from '../support/many-operations.ts';
import { type Browser, findBarriers, launchBrowser, openPage, type Page, takeScreenshot } from './browser.ts';

const pages = {
  start: '/docs',
  guides: '/docs/guides',
  guide: '/docs/guides/pagination',
  errors: '/docs/errors',
  error: '/docs/errors/validation_failed',
  references: '/docs/reference',
  reference: '/docs/reference/v1',
  operation: '/docs/reference/v1/createCustomer',
  list: '/docs/reference/v1/listJobs',
  missing: '/docs/errors/no_such_code',
};

const PATIENCE = { timeout: 30_000 };

describe('the documentation in a browser', () => {
  let gateway: TestGateway;
  let browser: Browser;
  let key: string;
  before(async () => {
    const portal = { title: 'Platform API', description: 'One address, one key.', sampleOperation: 'listCustomers' };
    gateway = await startGateway({ gateway: { portal } });
    ({ key } = await gateway.issueKey({ mode: 'test' }));
    browser = await launchBrowser();
  });
  after(async () => {
    await browser?.close();
    await gateway?.stop();
  });

  const open = (path: string, options = {}) => openPage(browser, gateway.url + path, options);

  for (const colorScheme of ['light', 'dark'] as const) {
    for (const width of [1280, 390]) {
      for (const [name, path] of Object.entries(pages)) {
        it(`is fine at ${path}, ${colorScheme}, ${width} pixels wide`, async () => {
          const { page, complaints, foreign } = await open(path, { colorScheme, width });
          await takeScreenshot(page, `${name}-${colorScheme}-${width}`);
          assert.deepEqual(foreign, []);
          // The console reports the 404 of the page itself, too.
          assert.deepEqual(name === 'missing' ? complaints.slice(1) : complaints, []);
          assert.deepEqual(await findBarriers(page), []);
          await isNoWiderThan(page, width);
          await page.context().close();
        });
      }

      it(`lets a write be tried, ${colorScheme}, ${width} pixels wide`, async () => {
        const { page, complaints, foreign } = await open(pages.operation, { colorScheme, width });
        await page.locator('#key').fill(key);
        await page.locator('.try > summary').click();
        await page.locator('.try [type=submit]').click();
        await page.locator('.try-status').waitFor(PATIENCE);
        assert.match((await page.locator('.try-status').textContent()) ?? '', /^201/);
        assert.match((await page.locator('.try-answer').textContent()) ?? '', /"name": "Dana Whitfield"/);
        await takeScreenshot(page, `tried-${colorScheme}-${width}`);
        assert.deepEqual(await findBarriers(page), []);
        await isNoWiderThan(page, width);
        assert.deepEqual([foreign, complaints], [[], []]);
        await page.context().close();
      });

      it(`finds operations, guides and errors, ${colorScheme}, ${width} pixels wide`, async () => {
        const { page, complaints } = await open(pages.operation, { colorScheme, width });
        await page.keyboard.press('/');
        assert.equal(await page.evaluate('document.activeElement.id'), 'search');
        await page.keyboard.type('idempotency');
        await page.locator('#found a', { hasText: 'idempotency_key_reused' }).waitFor(PATIENCE);
        await page.locator('#found a', { hasText: 'Guide' }).first().waitFor(PATIENCE);
        await takeScreenshot(page, `search-${colorScheme}-${width}`);
        assert.deepEqual(await findBarriers(page), []);
        await page.locator('#search').fill('retrieve invoice');
        await page.locator('#found a[aria-selected=true]', { hasText: 'Retrieve an invoice' }).waitFor(PATIENCE);
        await page.keyboard.press('Enter');
        await page.waitForURL('**/docs/reference/v1/retrieveInvoice');
        assert.deepEqual(complaints, []);
        await page.context().close();
      });
    }
  }

  it('keeps the key in the tab, in every sample, and out of every address', async () => {
    const { page } = await open(pages.operation);
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    await page.locator('#key').fill(key);
    await page.locator('label[for=language-python]').click();
    assert.ok(
      ((await page.locator('.sample .panel:visible code').first().textContent()) ?? '').includes(`Bearer ${key}`),
    );
    await page.goto(gateway.url + pages.list);
    const shown = (await page.locator('.sample .panel:visible code').first().textContent()) ?? '';
    assert.ok(shown.includes(`Bearer ${key}`) && shown.includes('urllib.request'), shown);
    assert.equal(await page.evaluate('localStorage.length'), 0);
    assert.equal((await page.context().cookies()).length, 0);
    assert.ok(!asked.some((url) => url.includes(key)));
    await page.locator('#forget-key').click();
    assert.equal(await page.evaluate('sessionStorage.getItem("portal-key")'), null);
    assert.match(
      (await page.locator('.sample .panel:visible code').first().textContent()) ?? '',
      /Bearer YOUR_API_KEY/,
    );
    await page.locator('#key').fill(key.replace('sk_test_', 'sk_live_'));
    assert.match((await page.locator('#key-note').textContent()) ?? '', /This is a live key/);
    assert.equal(await page.evaluate('sessionStorage.getItem("portal-key")'), null);
    await page.context().close();
  });

  it('unfolds what an address points at, and copies samples', async () => {
    const { page } = await open(`${pages.operation}#body-address-city`);
    assert.ok(await page.locator('#body-address-city').isVisible());
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.locator('.samples .copy').first().click();
    await page.locator('.copy', { hasText: 'Copied' }).waitFor(PATIENCE);
    assert.match((await page.evaluate('navigator.clipboard.readText()')) as string, /^curl "http/);
    await page.context().close();
  });

  it('can be walked through by keyboard: past the navigation, through tabs, members and the form', async () => {
    const { page } = await open(pages.operation);
    const focused = () => page.evaluate('document.activeElement.outerHTML') as Promise<string>;
    await page.keyboard.press('Tab');
    assert.match(await focused(), /class="skip"/);
    assert.equal(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle'), 'solid');
    await page.keyboard.press('Enter');
    assert.equal(await page.evaluate('document.activeElement.id'), 'main');
    const reached: string[] = [];
    for (let count = 0; count < 80 && reached.at(-1) !== 'language-curl'; count += 1) {
      await page.keyboard.press('Tab');
      reached.push((await page.evaluate('document.activeElement.id || document.activeElement.className')) as string);
    }
    for (const one of ['member-name', 'key', 'language-curl'])
      assert.ok(reached.includes(one), `${one} is not reached`);
    await page.keyboard.press('ArrowRight');
    assert.match((await page.locator('.sample .panel:visible code').first().textContent()) ?? '', /await fetch/);
    await page.locator('.try > summary').focus();
    await page.keyboard.press('Enter');
    await page.locator('#try-body').waitFor(PATIENCE);
    await page.context().close();
  });

  it('shows its contents on narrow pages, also without JavaScript', async () => {
    const { page } = await open(pages.operation, { javaScript: false, width: 390 });
    await takeScreenshot(page, 'operation-without-javascript');
    assert.equal(await page.locator('.try').isVisible(), false);
    assert.equal(await page.locator('#search').isVisible(), false);
    await page.locator('.open-contents a').click();
    await takeScreenshot(page, 'contents-390');
    await page.locator('#contents a', { hasText: 'List customers' }).click();
    await page.waitForURL('**/listCustomers');
    await page.locator('label[for=language-go]').click();
    assert.match((await page.locator('.sample .panel:visible code').first().textContent()) ?? '', /package main/);
    await page.context().close();
  });

  it('sends less than 200 kB before the reference, and little more with it', async () => {
    for (const path of [pages.start, pages.operation]) {
      const { page } = await open('/livez');
      let bytes = 0;
      page.on('response', async (response) => {
        bytes += (await response.body().catch(() => Buffer.alloc(0))).length;
      });
      await page.goto(gateway.url + path, { waitUntil: 'networkidle' });
      assert.ok(bytes > 1000 && bytes < 200_000, `${path}: ${bytes} bytes`);
      await page.context().close();
    }
  });

  it('prints text and samples, without what a reader presses', async () => {
    const { page } = await open(pages.operation);
    await page.emulateMedia({ media: 'print' });
    await takeScreenshot(page, 'operation-print');
    assert.equal(await page.locator('.top').isVisible(), false);
    assert.equal(await page.locator('.try').isVisible(), false);
    assert.ok(await page.locator('#body-address-city').isVisible());
    await page.context().close();
  });
});

describe('the documentation of 187 operations', () => {
  it('stays quick to open and to search', async () => {
    const gateway = await startGateway({
      contracts: { 'many.json': manyOperations(187) },
      upstreams: { many: { contracts: ['many.json'], live: 'http://127.0.0.1:1', public: true } },
    });
    const browser = await launchBrowser();
    try {
      const { page, complaints } = await openPage(browser, `${gateway.url}/docs/reference/many/operation120`);
      await takeScreenshot(page, 'many');
      const elements = (await page.evaluate('document.querySelectorAll("*").length')) as number;
      assert.ok(elements < 3000, `${elements} elements`);
      await page.locator('#search').fill('operation 186');
      await page.locator('#found a[aria-selected=true]', { hasText: '186' }).waitFor(PATIENCE);
      assert.deepEqual(complaints, []);
    } finally {
      await browser.close();
      await gateway.stop();
    }
  });
});

async function isNoWiderThan(page: Page, width: number): Promise<void> {
  const scrolled = (await page.evaluate('document.documentElement.scrollWidth')) as number;
  assert.ok(scrolled <= width, `wider than the window: ${scrolled}`);
}
