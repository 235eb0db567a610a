// What the first view of a page weighs: every byte that a browser without a cache receives until the page is quiet, headers and faces
// included.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { type Browser, launchBrowser } from './browser.ts';
import { type Operations, startOperations } from './scenes.ts';

const BYTES_MAX = 60_000;

describe('a first view', () => {
  let gateway: TestGateway;
  let incident: Operations;
  let browser: Browser;
  before(async () => {
    gateway = await startGateway({ gateway: { portal: { title: 'Platform API', sampleOperation: 'listCustomers' } } });
    // The first page has most to say in an incident.
    incident = await startOperations(true);
    browser = await launchBrowser();
  });
  after(async () => {
    await browser?.close();
    await incident?.close();
    await gateway?.stop();
  });

  /** Received bytes by path, as the network counts them: compressed, with headers. */
  async function receivedFor(url: string): Promise<Map<string, number>> {
    const page = await (await browser.newContext({ viewport: { width: 1440, height: 900 } })).newPage();
    const network = await page.context().newCDPSession(page);
    await network.send('Network.enable');
    const paths = new Map<string, string>();
    const received = new Map<string, number>();
    network.on('Network.requestWillBeSent', ({ requestId, request }) =>
      paths.set(requestId, new URL(request.url).pathname),
    );
    network.on('Network.loadingFinished', ({ requestId, encodedDataLength }) =>
      received.set(paths.get(requestId) ?? '?', encodedDataLength),
    );
    await page.goto(url, { waitUntil: 'networkidle' });
    await page.context().close();
    return received;
  }

  const views: readonly (readonly [string, () => string])[] = [
    ['the landing page', () => `${gateway.url}/docs`],
    ['the reference', () => `${gateway.url}/docs/reference/v1`],
    ['an operation', () => `${gateway.url}/docs/reference/v1/createCustomer`],
    ['a guide', () => `${gateway.url}/docs/guides/pagination`],
    ['the console in an incident', () => `${incident.gateway.adminUrl}/`],
  ];
  for (const [name, url] of views)
    it(`of ${name} is at most ${BYTES_MAX} bytes`, async (test) => {
      const received = await receivedFor(url());
      const total = [...received.values()].reduce((sum, bytes) => sum + bytes, 0);
      const list = [...received].sort(([, a], [, b]) => b - a).map(([path, bytes]) => `${bytes} ${path}`);
      test.diagnostic(`${total} bytes in ${received.size} answers`);
      if (process.env.LIST) console.log(list.join('\n'));
      assert.ok(received.has(new URL(url()).pathname) && total > 20_000, 'counted');
      assert.ok(total <= BYTES_MAX, `${total} bytes:\n${list.join('\n')}`);
    });
});
