// The documentation in a real browser: operations can be tried, by keyboard and without JavaScript, too. Nothing is asked of another host,
// and nothing violates the policy of the pages. The search: search.browser.ts. How its pages look: views.browser.ts.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { until } from '../support/connection.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { manyOperations } from '../support/many-operations.ts';
import { mistyped } from '../support/mistyped.ts';
import { type Browser, findBarriers, launchBrowser, openPage, type Page, takeScreenshot } from './browser.ts';

const pages = {
  start: '/docs',
  guide: '/docs/guides/pagination',
  errors: '/docs/errors',
  operation: '/docs/reference/v1/createCustomer',
  list: '/docs/reference/v1/listJobs',
};

const PATIENCE = { timeout: 30_000 };

describe('the documentation in a browser', () => {
  let gateway: TestGateway;
  let browser: Browser;
  let key: string;
  before(async () => {
    const portal = {
      title: 'Platform API',
      description: 'One address, one key.',
      sampleOperation: 'listCustomers',
      contact: 'help@example.com',
    };
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
      it(`lets a write be tried, ${colorScheme}, ${width} pixels wide`, async () => {
        const { page, complaints, foreign } = await open(pages.operation, { colorScheme, width });
        await pasteKey(page, key);
        await page.locator('.values > summary').click();
        await page.locator('.try [type=submit]').click();
        await page.locator('.try-status', { hasText: /^201/ }).waitFor(PATIENCE);
        const shown = (await page.locator('.try-answer').textContent()) ?? '';
        assert.match(shown, /"name": "Dana Whitfield"/);
        assert.ok((await page.locator('.try-answer code .p').count()) > 3, 'the answer is coloured');
        await takeScreenshot(page, `tried-${colorScheme}-${width}`);
        assert.deepEqual(await findBarriers(page), []);
        await isNoWiderThan(page, width);
        assert.deepEqual([foreign, complaints], [[], []]);
        await page.context().close();
      });
    }
  }

  it('keeps the key in the tab, shows it as dots, and copies it whole; it is in no address', async () => {
    const { page } = await open(pages.operation);
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    const sample = () => page.locator('.request .panel:visible code').first().textContent();
    const copied = async () => {
      await page.locator('.request .panel:visible .copy').click();
      await page.locator('.copy', { hasText: 'Copied' }).first().waitFor(PATIENCE);
      return (await page.evaluate('navigator.clipboard.readText()')) as string;
    };
    await pasteKey(page, key);
    await page.locator('#key-note', { hasText: 'This key works' }).waitFor(PATIENCE);
    await page.locator('label[for=language-python]').click();
    assert.match((await sample()) ?? '', /Bearer sk_test_•{12}"/);
    assert.ok((await copied()).includes(`"Bearer ${key}"`));
    await page.goto(gateway.url + pages.list);
    assert.match((await sample()) ?? '', /Bearer sk_test_•{12}"[\s\S]*urllib\.request/);
    assert.ok(!(await page.content()).includes(key), 'the key is in no element');
    assert.equal(await page.evaluate('localStorage.length'), 0);
    assert.equal((await page.context().cookies()).length, 0);
    assert.ok(!asked.some((url) => url.includes(key)));
    await page.locator('#forget-key').click();
    assert.equal(await page.evaluate('sessionStorage.getItem("portal-key")'), null);
    assert.match((await sample()) ?? '', /Bearer YOUR_API_KEY/);
    await pasteKey(page, key.replace('sk_test_', 'sk_live_'));
    assert.match((await page.locator('#key-note').textContent()) ?? '', /This is a live key/);
    assert.equal(await page.evaluate('sessionStorage.getItem("portal-key")'), null);
    await page.context().close();
  });

  it('takes a test key from the fragment of a link and removes it from the address; no live key, no text', async () => {
    const { page } = await open(`${pages.start}#key=${key}`);
    await page.locator('#key-note', { hasText: 'This key works' }).waitFor(PATIENCE);
    assert.equal(new URL(page.url()).hash, '');
    await page.locator('.try [type=submit]').click();
    await page.locator('.try-status', { hasText: '200' }).waitFor(PATIENCE);
    await page.context().close();
    for (const [bad, says] of [
      [key.replace('sk_test_', 'sk_live_'), 'This is a live key. Use a test key here: it begins with sk_test_.'],
      ['%3Cb%3E', 'This is not a whole key.'],
      ['sk_test_a%0d%0ab', 'This is not a whole key.'],
      ['', 'Links bring test keys only: they begin with sk_test_.'],
    ] as const) {
      const { page: other, complaints } = await open(`${pages.start}#key=${bad}`);
      assert.equal(await other.evaluate('sessionStorage.getItem("portal-key")'), null, bad);
      assert.equal(new URL(other.url()).hash, '', bad);
      assert.equal(await other.locator('#key-note').textContent(), says);
      assert.deepEqual(complaints, []);
      await other.context().close();
    }
    const refused = await open(`${pages.start}#key=${mistyped(key)}`);
    await refused.page.locator('#key-note a', { hasText: 'api_key_' }).waitFor(PATIENCE);
    await refused.page.context().close();
  });

  it('needs no line more for a key that works, 390 pixels wide; for one that is refused it says why', async () => {
    const heightOf = async (page: Page) => (await page.locator('.top').boundingBox())?.height ?? 0;
    const { page } = await open(pages.start, { width: 390 });
    const before = await heightOf(page);
    await page.evaluate(`location.hash = '#key=${key}'`);
    await page.locator('.key-bar.works').waitFor({ ...PATIENCE, state: 'attached' });
    assert.equal(await heightOf(page), before);
    assert.equal(await page.locator('#key-note').textContent(), 'This key works.');
    assert.deepEqual(await findBarriers(page), []);
    await page.evaluate(`location.hash = '#key=${mistyped(key)}'`);
    await page.locator('#key-note a', { hasText: 'api_key_' }).waitFor(PATIENCE);
    assert.ok((await heightOf(page)) > before);
    await page.context().close();
  });

  it('takes the key of a link that is opened in a tab that has the page already, in place of a refused one', async () => {
    const { page } = await open(`${pages.start}#key=${mistyped(key)}`);
    await page.locator('#key-note a', { hasText: 'api_key_' }).waitFor(PATIENCE);
    await page.evaluate(`location.hash = '#key=${key}'`);
    await page.locator('#key-note', { hasText: 'This key works' }).waitFor(PATIENCE);
    assert.equal(await page.evaluate('sessionStorage.getItem("portal-key")'), key);
    assert.equal(new URL(page.url()).hash, '');
    await page.context().close();
  });

  it('goes on with the request once the key works, on later pages of the tab, too', async () => {
    const { page } = await open(pages.start);
    const [get, send] = [page.locator('.steps li').nth(0), page.locator('.steps li').nth(1)];
    const isDone = async () => /done/.test((await get.getAttribute('class')) ?? '');
    assert.equal(await isDone(), false);
    assert.ok(await send.getByText('Paste the key').isVisible());
    await pasteKey(page, key);
    await get.getByText('The key at the top of this page works').waitFor(PATIENCE);
    assert.equal(await isDone(), true);
    assert.ok(!(await send.getByText('Paste the key').isVisible()));
    assert.ok(await send.getByText('Press “Send”').isVisible());
    assert.deepEqual(await findBarriers(page), []);
    await page.goto(gateway.url + pages.start);
    assert.equal(await isDone(), true);
    await page.locator('#forget-key').click();
    assert.equal(await isDone(), false);
    assert.ok(await send.getByText('Paste the key').isVisible());
    await page.context().close();
  });

  it('writes what is typed into every sample, and sends just that; a refusal links its page and its request', async () => {
    const { page } = await open(pages.operation);
    await pasteKey(page, key);
    const sample = async (language: string) => {
      await page.locator(`label[for=language-${language}]`).click();
      return (await page.locator('.request .panel:visible code').first().textContent()) ?? '';
    };
    await page.locator('.values > summary').click();
    await page.locator('#try-body').fill('{"name": "Zoë <b>", "extra": [1, 2]}');
    // The script of the form is loaded when a reader turns to it.
    await page.locator('[data-sample=curl] code', { hasText: 'Zoë' }).waitFor({ ...PATIENCE, state: 'attached' });
    for (const language of ['curl', 'javascript', 'python', 'go']) {
      const code = await sample(language);
      assert.match(code, /Zoë <b>/, language);
      assert.doesNotMatch(code, /Dana/, language);
    }
    await page.locator('.try [type=submit]').click();
    await page.locator('.try-status', { hasText: '400' }).waitFor(PATIENCE);
    const reason = page.locator('.try-reason');
    assert.match((await reason.textContent()) ?? '', /^extra: \S.*[.]$/);
    assert.equal(await page.locator('#try-body').getAttribute('aria-invalid'), 'true');
    const body = page.locator('.try-answer .code code').first();
    assert.match(
      (await body.locator('a', { hasText: '/docs/errors/' }).getAttribute('href')) ?? '',
      /validation_failed$/,
    );
    await page.locator('#try-body').fill('{"name": ');
    assert.equal(await page.locator('#try-body').getAttribute('aria-invalid'), null);
    assert.match(await sample('curl'), /--data-binary/);
    await page.locator('.try [type=submit]').click();
    await page.locator('.try-answer', { hasText: 'malformed_json' }).waitFor(PATIENCE);
    assert.match((await reason.textContent()) ?? '', /^Line 1, column 10: .*JSON/);
    assert.equal(await page.locator('#try-body').getAttribute('aria-invalid'), 'true');
    assert.equal(
      await page.locator('#try-body').evaluate((one) => (one as { selectionStart?: number }).selectionStart),
      9,
    );
    await page.goto(gateway.url + pages.list);
    await page.locator('.values > summary').click();
    await page.locator('[data-name=limit]').fill('2');
    // The script of the form is loaded when a reader turns to it.
    await page.locator('.request .panel:visible code', { hasText: 'limit=2' }).first().waitFor(PATIENCE);
    assert.match(await sample('curl'), /\/v1\/customers\?limit=2|\/v1\/jobs\?limit=2/);
    await page.locator('[data-name=limit]').fill('900');
    await page.locator('.try [type=submit]').click();
    await page.locator('.try-reason', { hasText: /^limit: Must be at most 100\.$/ }).waitFor(PATIENCE);
    assert.deepEqual(
      await page.locator('.try [aria-invalid]').evaluateAll((all) => all.map((one) => one.dataset.name)),
      ['limit'],
    );
    await page.context().close();
  });

  it('shows a response in the window, and leaves request and fields as they are', async () => {
    const { page } = await open(pages.operation);
    const isOpen = () => page.locator('.values').evaluate((details) => (details as { open?: boolean }).open);
    const heightOf = async () => (await page.locator('[data-sample=curl] .code').boundingBox())?.height ?? 0;
    await pasteKey(page, key);
    await page.locator('.values > summary').click();
    await page.locator('#try-body').fill('{"name": ""}');
    await page.locator('.try [type=submit]').click();
    await page.locator('.try-status', { hasText: /^400/ }).waitFor(PATIENCE);
    assert.equal(await isOpen(), true);
    await until(() => isInPane(page, '#try-body'));
    await page.locator('#try-body').fill('{"name": "Ada"}');
    const height = await heightOf();
    await page.locator('.try [type=submit]').click();
    await page.locator('.try-status', { hasText: /^201/ }).waitFor(PATIENCE);
    assert.equal(await isOpen(), true);
    await until(() => isInPane(page, '.try-status'));
    const scrollers = await page.evaluate(`[...document.querySelectorAll('.request, .request *')].filter(
      (one) => one.scrollHeight > one.clientHeight + 2 && /auto|scroll/.test(getComputedStyle(one).overflowY),
    ).length`);
    assert.equal(scrollers, 0, 'one column scrolls, nothing in it');
    assert.equal(await heightOf(), height, 'no line of the sample is cut');
    await page.context().close();
  });

  it('leaves the first page in its place when a response opens, and a narrow page says the purpose first', async () => {
    const { page } = await open(pages.start);
    const topOf = async () => (await page.locator('.hero-text').boundingBox())?.y;
    const heightOf = async () => (await page.locator('[data-sample=curl] .code').boundingBox())?.height;
    await pasteKey(page, key);
    const [before, height] = [await topOf(), await heightOf()];
    await page.locator('.try [type=submit]').click();
    await page.locator('.try-status', { hasText: /^200/ }).waitFor(PATIENCE);
    assert.equal(await topOf(), before);
    assert.equal(await heightOf(), height, 'no line of the sample is cut');
    await page.context().close();
    const narrow = await open(pages.operation, { width: 390 });
    const [needs, samples] = await Promise.all(
      ['.needs', '.samples'].map((part) => narrow.page.locator(part).first().boundingBox()),
    );
    assert.ok((needs?.y ?? 0) < (samples?.y ?? 0));
    await narrow.page.context().close();
  });

  it('has a page for a resource that anyone can use, light and dark', async () => {
    for (const colorScheme of ['light', 'dark'] as const) {
      const { page, complaints } = await open('/docs/reference/v1/customers', { colorScheme });
      await page.locator('#object').waitFor(PATIENCE);
      assert.equal(await isWhole(page, '.of-object .copy'), true);
      assert.deepEqual(await findBarriers(page), []);
      assert.deepEqual(complaints, []);
      await page.context().close();
    }
  });

  it('fades code out at an edge that it goes beyond, and only there', async () => {
    const { page } = await open(pages.guide, { width: 390 });
    const fades = (await page.evaluate(`[...document.querySelectorAll('.guide > .block .code')].map((one) => [
      one.scrollWidth > one.clientWidth,
      Number.parseFloat(getComputedStyle(one).getPropertyValue('--fade-right')) > 0,
    ])`)) as [boolean, boolean][];
    for (const [isLong, isFaded] of fades) assert.equal(isFaded, isLong);
    assert.equal(new Set(fades.map(([isLong]) => isLong)).size, 2, 'some are long');
    await page.context().close();
  });

  it('shows limits on a narrow page without scrolling aside', async () => {
    const { page } = await open('/docs/limits', { width: 390 });
    const widths = await page
      .locator('.limits .table')
      .evaluateAll((all) => all.map((one) => one.scrollWidth - one.clientWidth));
    assert.ok(widths.length > 1 && widths.every((beyond) => beyond <= 0), String(widths));
    await page.context().close();
  });

  it('filters the codes, and remembers the colours that a reader chose', async () => {
    const { page } = await open(pages.errors);
    await page.locator('#filter').fill('429 organization');
    await page.locator('#filter-count', { hasText: ' of ' }).waitFor(PATIENCE);
    const rows = page.locator('tbody tr:visible');
    assert.ok((await rows.count()) >= 1 && (await rows.count()) < 8);
    // Words of the message, which the table does not show.
    await page.locator('#filter').fill('errors lists each violation');
    await page.locator('#filter-count', { hasText: /^1 of / }).waitFor(PATIENCE);
    assert.match((await rows.textContent()) ?? '', /validation_failed/);
    await page.locator('#filter').fill('teapot');
    await page.locator('#filter-none', { hasText: 'No code has “teapot”' }).waitFor(PATIENCE);
    assert.deepEqual(await findBarriers(page), []);
    await page.locator('#filter-none button', { hasText: 'Clear filter' }).click();
    assert.ok((await rows.count()) > 20);
    assert.equal(await page.evaluate('document.activeElement.id'), 'filter');
    assert.equal(await page.locator('#filter-none').isVisible(), false);
    const background = () => page.evaluate('getComputedStyle(document.documentElement).backgroundColor');
    const light = await background();
    await page.locator('#theme').click();
    assert.notEqual(await background(), light);
    await page.goto(gateway.url + pages.guide);
    assert.notEqual(await background(), light);
    await page.locator('#theme').click();
    assert.equal(await background(), light);
    assert.equal(await page.evaluate('localStorage.length'), 0);
    await page.context().close();
  });

  it('unfolds what an address points at, and copies samples', async () => {
    const { page } = await open(`${pages.operation}#body-address-city`);
    assert.ok(await page.locator('#body-address-city').isVisible());
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.locator('.request .panel:visible .copy').click();
    await page.locator('.copy', { hasText: 'Copied' }).waitFor(PATIENCE);
    assert.match((await page.evaluate('navigator.clipboard.readText()')) as string, /^curl "http/);
    await page.context().close();
  });

  it('can be walked through by keyboard: past the navigation, through tabs, members and the form', async () => {
    const { page } = await open(pages.operation);
    const focused = () => page.evaluate('document.activeElement.outerHTML') as Promise<string>;
    await page.keyboard.press('Tab');
    assert.match(await focused(), /class="skip"/);
    for (const one of ['brand', 'search', 'key', 'theme']) {
      await page.keyboard.press('Tab');
      assert.match(await focused(), new RegExp(`(id|class)="${one}"`));
    }
    for (const _ of ['theme', 'key', 'search', 'brand']) await page.keyboard.press('Shift+Tab');
    assert.equal(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle'), 'solid');
    await page.keyboard.press('Enter');
    assert.equal(await page.evaluate('document.activeElement.id'), 'main');
    const reached: string[] = [];
    const tab = async () => {
      await page.keyboard.press('Tab');
      reached.push((await page.evaluate('document.activeElement.id || document.activeElement.className')) as string);
    };
    for (let count = 0; count < 80 && reached.at(-1) !== 'language-curl'; count += 1) await tab();
    assert.ok(reached.includes('language-curl'), 'the samples are not reached');
    await page.keyboard.press('ArrowRight');
    assert.match((await page.locator('.request .panel:visible code').first().textContent()) ?? '', /await fetch/);
    await page.locator('.values > summary').focus();
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

  it('closes its contents by Escape and by their link, and gives the focus back', async () => {
    const { page } = await open(pages.operation, { width: 390 });
    const opener = page.locator('.open-contents a');
    for (const close of [() => page.keyboard.press('Escape'), () => page.locator('.close-contents a').click()]) {
      await opener.click();
      await page.locator('#contents').waitFor(PATIENCE);
      await close();
      await page.locator('#contents').waitFor({ ...PATIENCE, state: 'hidden' });
      await page.waitForFunction("document.activeElement.matches('.open-contents a')", undefined, PATIENCE);
    }
    await page.context().close();
  });

  it('says what it has to say of a key beside the other fields, not over them', async () => {
    const { page } = await open(pages.operation, { width: 390 });
    await page.locator('#key').fill('sk_live_abc');
    await page.locator('#key-note', { hasText: 'This is a live key' }).waitFor(PATIENCE);
    const over = await page.evaluate(`(() => {
      const note = document.getElementById('key-note').getBoundingClientRect();
      return [...document.querySelectorAll('#search, #key, .sections a')].filter((one) => {
        const { top, bottom, left, right } = one.getBoundingClientRect();
        return top < note.bottom && bottom > note.top && left < note.right && right > note.left;
      }).length;
    })()`);
    assert.equal(over, 0);
    await page.context().close();
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

/** Pastes and leaves the field, as a reader does. */
async function pasteKey(page: Page, key: string): Promise<void> {
  await page.locator('#key').fill(key);
  await page.locator('#key').press('Enter');
}

/** Whether all of an element is within the visible part of the samples. */
async function isInPane(page: Page, selector: string): Promise<boolean> {
  const pane = await page.locator('.samples').boundingBox();
  const part = await page.locator(selector).first().boundingBox();
  if (pane === null || part === null) return false;
  const end = Math.min(pane.y + pane.height, 900);
  return part.y >= pane.y - 1 && part.y + part.height <= end + 1;
}

async function isNoWiderThan(page: Page, width: number): Promise<void> {
  const scrolled = (await page.evaluate('document.documentElement.scrollWidth')) as number;
  assert.ok(scrolled <= width, `wider than the window: ${scrolled}`);
}

/** Whether a click meets the element in each of its corners. */
async function isWhole(page: Page, selector: string): Promise<boolean> {
  return page.locator(selector).evaluate((one) => {
    one.scrollIntoView({ block: 'center' });
    const { left, right, top, bottom } = one.getBoundingClientRect();
    const corners = [left + 3, right - 3].flatMap((x) => [top + 3, bottom - 3].map((y) => [x, y] as const));
    return corners.every(([x, y]) => one.ownerDocument.elementFromPoint(x, y) === one);
  });
}
