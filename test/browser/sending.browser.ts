// Requests that are sent from the pages: a stream is shown as it comes and can be stopped, the focus stays where it was, and an operation
// that a page cannot send says why.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { type StartedHere, startInProcess } from '../support/in-process.ts';
import { createInstallation, type Installation } from '../support/process.ts';
import { type Browser, findBarriers, launchBrowser, openPage, takeScreenshot } from './browser.ts';

const PATIENCE = { timeout: 30_000 };

describe('a request from the documentation', () => {
  let installation: Installation;
  let gateway: StartedHere;
  let browser: Browser;
  let url: string;
  let key: string;
  before(async () => {
    installation = createInstallation();
    gateway = await startInProcess(installation.environment);
    url = `http://127.0.0.1:${gateway.port}`;
    key = /sk_test_\w+/.exec(gateway.stderr)?.[0] ?? '';
    browser = await launchBrowser();
  });
  after(async () => {
    await browser?.close();
    await gateway?.stop();
    installation?.remove();
  });

  const open = (operation: string, width = 1440) =>
    openPage(browser, `${url}/docs/reference/v1/${operation}#key=${key}`, { width });

  for (const width of [1440, 390])
    it(`shows events as they come, until the reader stops them, ${width} pixels wide`, async () => {
      const { page, complaints } = await open('watchFiles', width);
      await page.locator('.try [type=submit]').click();
      await page.locator('.try-stream', { hasText: 'Connected, waiting for events.' }).waitFor(PATIENCE);
      assert.match((await page.locator('.try-status').textContent()) ?? '', /^200/);
      await fetch(`${url}/v1/files/seen-${width}.txt`, {
        method: 'PUT',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/octet-stream' },
        body: 'text',
      });
      await page.locator('.try-answer code', { hasText: `seen-${width}.txt` }).waitFor(PATIENCE);
      await takeScreenshot(page, `stream-${width}`, false);
      assert.deepEqual(await findBarriers(page), []);
      assert.deepEqual(complaints, []);
      await page.locator('.try-stream button').click();
      await page.locator('.try-stream', { hasText: 'Stopped.' }).waitFor(PATIENCE);
      await page.context().close();
    });

  it('shows that a key is refused, in the head and on the account page', async () => {
    const { page } = await openPage(browser, `${url}/docs/reference/v1/listCustomers#key=${key.slice(0, -4)}0000`);
    await page.locator('.key-bar.refused .key-shown').waitFor(PATIENCE);
    await takeScreenshot(page, 'key-refused', false);
    assert.deepEqual(await findBarriers(page), []);
    await page.goto(`${url}/docs/account`);
    await page.locator('.account-advice', { hasText: 'This key is not accepted.' }).waitFor(PATIENCE);
    assert.equal(await page.locator('#account-name').count(), 0);
    await page.context().close();
  });

  it('leaves the focus on its button, also when it was sent by keyboard', async () => {
    const { page } = await open('listCustomers');
    await page.locator('.try [type=submit]').focus();
    await page.keyboard.press('Enter');
    await page.locator('.try-status', { hasText: /^200/ }).waitFor(PATIENCE);
    assert.equal(await page.evaluate('document.activeElement.textContent'), 'Send');
    // Light behind a dark card would shine through a fade.
    const { mask, corner } = (await page.evaluate(`(() => {
      const { maskImage, borderTopLeftRadius } = getComputedStyle(document.querySelector('.samples'));
      return { mask: maskImage, corner: borderTopLeftRadius };
    })()`)) as { mask: string; corner: string };
    assert.equal(mask, 'none');
    assert.ok(Number.parseFloat(corner) > 4, corner);
    await page.context().close();
  });

  it('leads to its explanation, with the test key of the tab', async () => {
    const { page } = await open('listCustomers');
    await page.locator('.try [type=submit]').click();
    const link = page.locator('.try-status a');
    await link.waitFor(PATIENCE);
    const id = (await link.textContent()) ?? '';
    await link.click();
    await page.locator('#request', { hasText: `Request id ${id}` }).waitFor(PATIENCE);
    assert.match((await page.locator('#request').textContent()) ?? '', /GET \/v1\/customers was answered with 200/);
    assert.equal(await page.locator('.account-asked').isVisible(), false);
    await takeScreenshot(page, 'explained', false);

    await page.locator('#account-forget').click();
    await page.reload();
    const asked = page.locator('.account-asked');
    await asked.waitFor(PATIENCE);
    assert.equal(
      await asked.textContent(),
      `To explain ${id}, paste the key that it was sent with, or a live key of its organization with the scope gateway:read.`,
    );
    await page.context().close();
  });

  it('is not offered for a WebSocket, whose samples open one', async () => {
    const { page } = await open('openFileSocket');
    await page.locator('label[for=language-python]').click();
    assert.match((await page.locator('.request .panel:visible code').textContent()) ?? '', /websockets\.sync/);
    assert.match((await page.locator('.not-here').textContent()) ?? '', /cannot open a WebSocket with a key/);
    await takeScreenshot(page, 'web-socket');
    await page.context().close();
  });
});

describe('a request to a service that has examples for test keys', () => {
  let gateway: TestGateway;
  let browser: Browser;
  before(async () => {
    const upstreams = { platform: { contracts: ['v1/*.yaml'], live: 'http://127.0.0.1:9', test: 'examples:' } };
    gateway = await startGateway({ upstreams });
    browser = await launchBrowser();
  });
  after(async () => {
    await browser?.close();
    await gateway?.stop();
  });

  it('says of its answer that it is an example, and of a refusal it does not', async () => {
    const { key } = await gateway.issueKey({ mode: 'test' });
    const { page } = await openPage(browser, `${gateway.url}/docs/reference/v1/listCustomers#key=${key}`);
    const send = async (status: RegExp) => {
      await page.locator('.try [type=submit]').click();
      const line = page.locator('.try-status', { hasText: status });
      await line.waitFor(PATIENCE);
      return (await line.textContent()) ?? '';
    };
    assert.match(await send(/^200/), /Example of the contract/);
    await takeScreenshot(page, 'sent-example', false);
    await page.locator('.values > summary').click();
    await page.locator('[data-name=limit]').fill('900');
    assert.doesNotMatch(await send(/^400/), /Example/);
    await page.context().close();
  });
});
