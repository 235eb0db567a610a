// The search of the documentation in a real browser: what is found, by which words, and that nothing lies over the results.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startDocumentation } from '../support/documentation.ts';
import type { TestGateway } from '../support/gateway.ts';
import { type Browser, findBarriers, launchBrowser, openPage, type Page, takeScreenshot } from './browser.ts';

const pages = {
  start: '/docs',
  operation: '/docs/reference/v1/createCustomer',
  operators: '/docs/reference/gateway/listAlerts',
};

const PATIENCE = { timeout: 30_000 };

describe('the search in a browser', () => {
  let gateway: TestGateway;
  let browser: Browser;
  before(async () => {
    gateway = await startDocumentation();
    browser = await launchBrowser();
  });
  after(async () => {
    await browser?.close();
    await gateway?.stop();
  });

  const open = (path: string, options = {}) => openPage(browser, gateway.url + path, options);

  for (const colorScheme of ['light', 'dark'] as const) {
    for (const width of [1280, 390]) {
      it(`finds operations, guides and errors, ${colorScheme}, ${width} pixels wide`, async () => {
        const { page, complaints } = await open(pages.operation, { colorScheme, width });
        // The switch has its title from the script that listens to the key, too.
        await page.locator('#theme[title]').waitFor(PATIENCE);
        await page.keyboard.press('/');
        assert.equal(await page.evaluate('document.activeElement.id'), 'search');
        await page.keyboard.type('idempotency');
        await page.locator('#found a', { hasText: 'idempotency_key_reused' }).waitFor(PATIENCE);
        await page.locator('#found a', { hasText: 'Guide' }).first().waitFor(PATIENCE);
        await takeScreenshot(page, `search-${colorScheme}-${width}`);
        assert.deepEqual(await coveredCorners(page), []);
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

  it('finds answers to questions by other words than those of the texts', async () => {
    const { page } = await open(pages.start);
    const wanted = {
      'how do I get a key': 'Authentication',
      rotate: 'Replacing a key',
      throttling: 'Rate limits',
      'what is my quota': 'Limits',
      'retry a POST': 'Idempotency',
      'next page': 'Pagination',
    };
    for (const [question, title] of Object.entries(wanted)) {
      await page.locator('#search').fill(question);
      const first = page.locator('#found a:nth-child(-n+6) .found-title', { hasText: title });
      await first
        .first()
        .waitFor({ timeout: 5000 })
        .catch(() => assert.fail(`${question} does not find ${title}`));
    }
    await page.context().close();
  });

  it('shows what operators do when it is wanted', async () => {
    const { page } = await open(pages.operators);
    await page.locator('#search').fill('list alerts');
    await page.locator('#found a', { hasText: 'for operators' }).waitFor(PATIENCE);
    assert.equal(await page.locator('#found a', { hasText: 'List alerts' }).count(), 0);
    await page.locator('.found-none', { hasText: 'Nothing found that clients' }).waitFor(PATIENCE);
    await page.locator('#found-more').click();
    await page.locator('#found a', { hasText: 'List alerts' }).waitFor(PATIENCE);
    assert.equal(await page.evaluate('document.activeElement.id'), 'search');
    assert.deepEqual(await findBarriers(page), []);
    await page.context().close();
  });

  it('leads the id of a request to its explanation', async () => {
    const { page } = await open(pages.start);
    await page.locator('#search').fill('req_01M82FNCVBV2AJYXS1SB9PG1HK');
    await page.locator('#found a', { hasText: 'Explain this request' }).click();
    await page.locator('.account-asked', { hasText: 'req_01M82FNCVBV2AJYXS1SB9PG1HK' }).waitFor(PATIENCE);
    await page.locator('#search').fill('req_02M82FNCVBV2AJYXS1SB9PG1HK');
    await page.locator('#found a', { hasText: 'Explain this request' }).click();
    await page.locator('.account-asked', { hasText: 'req_02M82FNCVBV2AJYXS1SB9PG1HK' }).waitFor(PATIENCE);
    await page.context().close();
  });

  it('finds the fields of request bodies', async () => {
    const { page } = await open(pages.start);
    await page.locator('.top').click();
    await page.keyboard.press('Control+k');
    assert.equal(await page.evaluate('document.activeElement.id'), 'search');
    await page.keyboard.type('party_size');
    await page.locator('#found a[aria-selected=true]', { hasText: 'party_size' }).waitFor(PATIENCE);
    await page.keyboard.press('Enter');
    await page.waitForURL('**/docs/reference/v1/createBooking#body-party_size');
    assert.ok(await page.locator('#body-party_size').isVisible());
    await page.context().close();
  });

  it('leads on to resources, guides, errors and the contact where nothing is found, by keyboard', async () => {
    const { page } = await open(pages.start);
    await page.locator('#search').fill('zzzzqq');
    await page.locator('#found-count', { hasText: 'Nothing found' }).waitFor(PATIENCE);
    const titles = page.locator('#found a .found-title');
    const resources = ['Bookings', 'Experiences', 'Jobs', 'Technicians', 'Communications', 'Invoices', 'Files'];
    const more = ['Customers', 'Guests', 'Memberships', 'Account', 'Keys', 'Requests'];
    assert.deepEqual(await titles.allTextContents(), [...resources, ...more, 'All guides', 'All errors', 'Contact']);
    assert.equal(await page.locator('#found a').last().getAttribute('href'), 'mailto:help@example.com');
    assert.deepEqual(await findBarriers(page), []);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/docs/reference/v1/bookings');
    await page.context().close();
  });

  it('says that nothing has all words, and shows the nearest', async () => {
    const { page } = await open(pages.start);
    await page.locator('#search').fill('list overdue invoices');
    await page.locator('.found-none', { hasText: 'Nothing has all of these words' }).waitFor(PATIENCE);
    assert.equal(await page.locator('#found a .found-title').first().textContent(), 'List invoices');
    await page.locator('#search').fill('suspend a planet');
    await page.locator('.found-none', { hasText: 'Nothing found' }).waitFor(PATIENCE);
    await page.context().close();
  });
});

/** The corners of the first result at which a click meets something else. */
async function coveredCorners(page: Page): Promise<unknown[]> {
  return (await page.evaluate(`(() => {
    const option = document.querySelector('#found a');
    const { left, right, top, bottom } = option.getBoundingClientRect();
    const corners = [[left + 12, top + 8], [right - 24, top + 8], [left + 12, bottom - 8], [right - 24, bottom - 8]];
    return corners.map(([x, y]) => document.elementFromPoint(x, y)).filter((one) => !option.contains(one)).map((one) => one?.outerHTML ?? 'nothing');
  })()`)) as unknown[];
}
