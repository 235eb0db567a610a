// The console of operators in a real browser: it shows current traffic, is used by pointer and by keyboard alone, and sends requests to its
// own host only. How its views look: views.browser.ts.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { createInstallation } from '../support/process.ts';
import { thingsContract } from '../support/things.ts';
import { type FakeUpstream, startUpstream } from '../support/upstream.ts';
import { GUIDE, NOW_MS } from '../support/versions.ts';
import {
  type Browser,
  chooseInMenu,
  findBarriers,
  launchBrowser,
  openPage,
  type Page,
  takeScreenshot,
} from './browser.ts';

const TOKEN = 'a-token-made-for-this-test';
const PATIENCE = { timeout: 30_000 };
const STEP_MS = 5000;
const SLOT_MS = 15_000;

const answered = { 200: { description: 'done', content: { 'application/json': { schema: { type: 'object' } } } } };
const orders = {
  openapi: '3.1.1',
  info: { title: 'Stock', version: '1' },
  components: { securitySchemes: { apiKey: { type: 'http', scheme: 'bearer' } } },
  security: [{ apiKey: ['stock:read'] }],
  paths: { '/v1/stock': { get: { operationId: 'listStock', responses: answered } } },
};
const limits = {
  tiers: { standard: { requests: 100_000 } },
  organizations: { org_small: { requests: 10, windowSeconds: 60 } },
  extra: { watched: { requests: 5, windowSeconds: 60, per: 'organization', enforce: false } },
  operations: { getThing: { extra: 'watched' } },
};
const gatewayRules = {
  versions: { v1: { released: '2025-01-15' } },
  operations: { listStock: { deprecated: '2027-01-15', sunset: '2028-02-17', guide: GUIDE } },
};

/** Waits until some row of a table is as it should be, its cells joined by bars. */
async function hasRow(page: Page, table: string, expected: RegExp): Promise<void> {
  const rows = `[...document.querySelectorAll('#${table} tbody tr')]`;
  const read = () => page.evaluate(`${rows}.map((row) => [...row.cells].map((cell) => cell.textContent).join(' | '))`);
  const endsAt = performance.now() + PATIENCE.timeout;
  let found = (await read()) as string[];
  while (!found.some((row) => expected.test(row))) {
    assert.ok(performance.now() < endsAt, `${expected} is not among\n${found.join('\n')}`);
    await sleep(100);
    found = (await read()) as string[];
  }
}

const attention = (page: Page) => page.locator('#attention').textContent();

/** Waits for the next answer to a question of the page. */
const nextAnswer = (page: Page, path: string) =>
  page.waitForResponse((response) => new URL(response.url()).pathname === `/console/${path}`);

/** The table of recent exchanges, once it has a row. */
async function exchangesIn(page: Page): Promise<string[]> {
  await page.locator('#exchange-list tbody tr').first().waitFor(PATIENCE);
  return page.locator('#exchange-list tbody tr').allTextContents();
}

describe('the console in a browser', () => {
  let upstream: FakeUpstream;
  let dying: FakeUpstream;
  let gateway: TestGateway;
  let browser: Browser;
  let nowMs = NOW_MS;
  before(async () => {
    upstream = await startUpstream(async ({ url }, response) => {
      await sleep(url.startsWith('/v1/things/slow') ? 60 : 0);
      const status = url.startsWith('/v1/strict') ? 500 : 200;
      response.writeHead(status, { 'content-type': 'application/json' }).end('{}');
    });
    dying = await startUpstream();
    gateway = await startGateway({
      contracts: { 'things.yaml': thingsContract(), 'stock.yaml': orders },
      upstreams: {
        platform: { contracts: ['things.yaml'], live: upstream.url, breaker: 'off' },
        stock: { contracts: ['stock.yaml'], live: [upstream.url, dying.url] },
      },
      gateway: gatewayRules,
      limits,
      now: () => nowMs,
    });
    browser = await launchBrowser();
  });
  after(async () => {
    await browser?.close();
    await gateway?.stop();
    await upstream?.close();
    await dying?.close();
  });

  const open = (options = {}) => openPage(browser, `${gateway.adminUrl}/`, options);
  const ask = async (authorization: string, path: string, times = 1) => {
    for (let count = 0; count < times; count += 1)
      await (await fetch(gateway.url + path, { headers: { authorization } })).arrayBuffer();
  };

  it('shows its empty state before any traffic', async () => {
    const { page, complaints, foreign } = await open();
    await page.locator('#attention li').waitFor(PATIENCE);
    assert.match((await attention(page)) ?? '', /^● Nothing needs attention\. 2 upstreams, stores, certificates and/);
    assert.match((await page.locator('#operations').textContent()) ?? '', /No requests in this time/);
    assert.match((await page.locator('#codes').textContent()) ?? '', /No errors/);
    assert.equal(await page.locator('#workers-section').isVisible(), false);
    await takeScreenshot(page, 'console-empty');
    assert.deepEqual([complaints, foreign], [[], []]);
    assert.deepEqual(await findBarriers(page), []);
    await page.context().close();
  });

  it('shows a quarter of an hour of traffic, errors by code and limits that refuse', async () => {
    const { authorization } = await gateway.authorize({ organization: 'org_busy' });
    const small = await gateway.authorize({ organization: 'org_small' });
    for (let slot = 0; slot < 178; slot += 1) {
      const busy = 3 + Math.round(4 * Math.sin(slot / 20) ** 2) + (slot > 120 && slot < 135 ? 8 : 0);
      await ask(authorization, '/v1/things', busy);
      await ask(authorization, '/v1/things/thing_1', slot % 3);
      if (slot % 4 === 0) await ask(authorization, '/v1/things/slow');
      if (slot % 10 === 0) await ask(authorization, '/v1/nothing');
      if (slot > 150) await ask(authorization, '/v1/strict');
      if (slot > 165) await ask(small.authorization, '/v1/things', 2);
      nowMs += STEP_MS;
      // The page's requests start the sampling of the counts.
      await (await fetch(`${gateway.adminUrl}/console/feed`)).arrayBuffer();
    }
    const { page } = await open();
    await hasRow(page, 'operations', /^GET \/v1\/things \| [1-9]/);
    await hasRow(page, 'operations', /^GET \/v1\/strict .*\| ✕ 27$/);
    await hasRow(page, 'codes', /^route_not_found \| match \| {2}\| \d \| 18$/);
    await hasRow(page, 'codes', /^upstream_error \| forward/);
    await hasRow(page, 'organizations', /^org_small \| \d+ \| 0 \| \d \| ▲ 0 \| organization: 10 in 60 s/);
    await hasRow(page, 'organizations', /^org_busy \| 0 \| [1-9]\d* \| 0 \| ▲ 0 \| watched: 5 in 60 s/);
    const said = (await page.locator('#traffic-chart svg').getAttribute('aria-label')) ?? '';
    assert.match(
      said,
      /^Requests over the last 15 minutes\. 2xx: last [\d.]+\/s, highest [\d.]+\/s at \d\d:\d\d; refused: .*failed: /,
    );
    // Five seconds of a slot are no rate of its fifteen.
    nowMs += SLOT_MS - (nowMs % SLOT_MS) + STEP_MS;
    // Requests count from the sample before them on.
    await nextAnswer(page, 'feed');
    await nextAnswer(page, 'feed');
    await ask(authorization, '/v1/things', 30);
    await nextAnswer(page, 'feed');
    await nextAnswer(page, 'feed');
    await page.locator('#traffic-chart [role="slider"]').focus();
    await page.keyboard.press('End');
    await page.locator('#traffic-chart .tip', { hasText: /2xx: 2\/s.*30 requests so far/ }).waitFor(PATIENCE);
    assert.ok((await page.locator('#traffic-chart .column.partial').count()) > 0);
    await page.context().close();
  });

  it('opens the page of an operation with what is known, before the gateway answers', async () => {
    const { page, complaints } = await open();
    const row = page.locator('#operations a.row', { hasText: '/v1/things' }).first();
    await row.waitFor(PATIENCE);
    const held = Promise.withResolvers<void>();
    await page.route(/\/console\/(feed|breakdown)/, async (route) => {
      await held.promise;
      await route.continue();
    });
    await row.click();
    await page.locator('#subject-tiles .tile', { hasText: 'p99' }).waitFor(PATIENCE);
    await page.locator('#subject-traffic .column').first().waitFor(PATIENCE);
    assert.equal(await page.locator('#breakdown a.row').count(), 0);
    held.resolve();
    await page.locator('#breakdown a.row').first().waitFor(PATIENCE);
    await page.locator('#subject-about a', { hasText: 'platform' }).waitFor(PATIENCE);
    assert.deepEqual(complaints, []);
    await page.context().close();
  });

  it('shows a target that is down, a reload with mistakes, and the callers of deprecated operations', async () => {
    const { authorization } = await gateway.authorize({ organization: 'org_busy' });
    const { page } = await open();
    await page.locator('#attention li').first().waitFor(PATIENCE);
    await dying.close();
    await ask(authorization, '/v1/stock', 40);
    await page.locator('#nav a', { hasText: 'System' }).click();
    await hasRow(page, 'upstreams', new RegExp(`${dying.url} \\| ✕ ejected until`));
    await page.locator('#upstreams a', { hasText: 'stock' }).first().click();
    await page.locator('#subject-about', { hasText: 'Healthy targets1 of 2' }).waitFor(PATIENCE);
    await page.locator('#subject-causes li').first().waitFor(PATIENCE);
    const told = (await page.locator('main [data-view="subject"]').textContent()) ?? '';
    // The marks of both charts and the list of what happened name it, too.
    assert.equal(told.split(dying.url).length - 1, 5, `with its cause, and among the targets: ${told}`);
    const first = page.locator('#subject-about .facts > div').first();
    assert.match((await first.locator('.state.bad').textContent()) ?? '', /ejected/);
    // A link to a past time says what happened in it, and nothing of another time.
    const during = (fromMs: number, toMs: number) =>
      `#/upstreams/stock?${new URLSearchParams({ from: new Date(fromMs).toISOString(), to: new Date(toMs).toISOString() })}`;
    await page.evaluate(`location.hash = '${during(nowMs - 120_000, nowMs + 1000)}'`);
    await page.locator('#subject-happened', { hasText: `target ${dying.url} is ejected` }).waitFor(PATIENCE);
    await takeScreenshot(page, 'console-past');
    await page.evaluate(`location.hash = '${during(nowMs - 600_000, nowMs - 300_000)}'`);
    await page.locator('#subject-happened li', { hasText: 'is ejected' }).waitFor({ ...PATIENCE, state: 'detached' });
    await page.evaluate("location.hash = '#/upstreams/stock'");
    await page.locator('#nav a', { hasText: 'Overview' }).click();
    writeFileSync(join(gateway.directory, 'config/limits.yaml'), '{ "tiers": { "standard": { "requests": -1 } } }');
    await page.locator('#attention', { hasText: 'The configuration files have mistakes' }).waitFor(PATIENCE);
    await page.locator('#nav a', { hasText: 'System' }).click();
    await page.locator('.mistakes').waitFor(PATIENCE);
    assert.match(
      (await page.locator('.mistakes').textContent()) ?? '',
      /limits\.yaml:1:\d+: tiers\.standard\.requests/,
    );
    // The list of deprecated operations is renewed once a minute.
    nowMs += 61_000;
    await hasRow(page, 'versions', /^GET \/v1\/stock|listStock/);
    // The clock of this browser is months away from that of the gateway.
    const loaded = /Loaded.*?, (\d+ [a-z]+ ago)/.exec((await page.locator('#configuration').textContent()) ?? '')?.[1];
    await page.evaluate("location.hash = '#/configuration'");
    await page.locator('#configuration-view', { hasText: `, ${loaded}.` }).waitFor(PATIENCE);
    await page.locator('#nav a', { hasText: 'Overview' }).click();
    // A tab in the background tells it, too.
    await page.waitForFunction('/^\\([12]\\) Overview · /.test(document.title)', undefined, PATIENCE);
    const said = (await attention(page)) ?? '';
    assert.match(said, new RegExp(`Upstream stock \\(live\\): target ${dying.url} .*Since [^.]*\\d\\d:\\d\\d`));
    assert.match(said, /The previous configuration stays in force; the next start fails\. Since [^.]*\d\d:\d\d/);
    await page.setViewportSize({ width: 390, height: 844 });
    const follows = page.locator('#attention .follows', { hasText: 'The previous configuration stays in force' });
    await follows.waitFor(PATIENCE);
    await takeScreenshot(page, 'console-causes-390');
    await page.setViewportSize({ width: 1440, height: 900 });
    // Refusals that clients cause are no alarm, unless they are a great part of what one sends.
    assert.doesNotMatch(said, /org_busy is refused|deprecated/);
    await page
      .locator('#happened', { hasText: 'A changed configuration was refused' })
      .waitFor({ ...PATIENCE, state: 'attached' });
    await page.locator('#attention a', { hasText: 'runbook' }).first().click();
    await page.locator('#runbook .soft', { hasText: /Runbook of the alert Gateway/ }).waitFor(PATIENCE);
    assert.match((await page.locator('#runbook h2').textContent()) ?? '', /^[A-Z][a-z]+( [a-z]+)+$/);
    assert.ok((await page.locator('#runbook ol li').count()) > 1, 'steps');
    assert.equal(await page.locator('#runbook .attention li').count(), 1, 'with the cause that led here');
    // So that there is a last minute to be looked at.
    await ask(authorization, '/v1/things', 150);
    await ask(authorization, '/v1/things/slow', 2);
    nowMs += STEP_MS;
    await hasRow(page, 'operations', /^GET \/v1\/things \| [1-9]/);
    await page.context().close();
  });

  it('leads from a code to its page, and from there to the story of a request or to all of them', async () => {
    const { page } = await open();
    await page.locator('#codes a', { hasText: 'upstream_error' }).click();
    await page.locator('#subject-about', { hasText: 'What clients are told' }).waitFor(PATIENCE);
    await hasRow(page, 'breakdown', /^org_busy \| 2\d \| ✕ 2\d \| {2}\| 0$/);
    await hasRow(page, 'breakdown', /^GET \/v1\/strict \| 2\d/);
    await page.locator('#subject-tiles a', { hasText: 'In this time' }).click();
    const rows = await exchangesIn(page);
    assert.ok(rows.length > 1 && rows.every((row) => /✕ 500.*GET \/v1\/strict.*upstream_error/.test(row)), rows[0]);
    assert.equal(await page.locator('#filter-code').inputValue(), 'upstream_error');
    await page.goBack();
    await page.locator('#breakdown section.wide a.row').first().click();
    await page.locator('.verdict', { hasText: 'failed with 500 upstream_error' }).waitFor(PATIENCE);
    await page.locator('.stage.bad .told', { hasText: 'it answered 500' }).waitFor(PATIENCE);
    const id = (await page.locator('#story dd code').first().textContent()) ?? '';
    await page.goBack();
    await page.locator('#subject-title', { hasText: 'upstream_error' }).waitFor(PATIENCE);
    await page.locator('#request-id').fill(id);
    await page.keyboard.press('Enter');
    await page.locator('#story dd code', { hasText: id }).waitFor(PATIENCE);
    await page.locator('main').focus();
    await page.keyboard.press('/');
    await page.keyboard.type('org_busy');
    await page.keyboard.press('Enter');
    await page.locator('#subject-title', { hasText: 'org_busy' }).waitFor(PATIENCE);
    await page.context().close();
  });

  it('finds what a text names, and otherwise says what was searched', async () => {
    const { page } = await open();
    const find = async (text: string) => {
      await page.locator('#request-id').fill(text);
      await page.keyboard.press('Enter');
    };
    await find('/v1/things/thing_7?expand=all');
    await page.locator('#routes-found tbody tr', { hasText: '/v1/things/{id}' }).first().waitFor(PATIENCE);
    assert.match((await page.locator('#routes-count').textContent()) ?? '', /^[1-9]/);
    for (const [text, name] of [
      ['platform', 'platform'],
      ['upstream_error', 'upstream_error'],
    ] as const) {
      await find(text);
      await page.locator('#subject-title', { hasText: name }).waitFor(PATIENCE);
    }
    await find('127.0.0.1');
    await page.locator('#chips button', { hasText: 'Client address: 127.0.0.1' }).waitFor(PATIENCE);
    await find('listStock');
    // The only result is opened.
    await page.locator('#subject-title', { hasText: '/v1/stock' }).waitFor(PATIENCE);
    await find('busy');
    await page.locator('#subject-about code', { hasText: 'org_busy' }).first().waitFor(PATIENCE);
    await find('nothing-of-this-name');
    await page.locator('#story', { hasText: 'Nothing matches nothing-of-this-name' }).waitFor(PATIENCE);
    assert.match((await page.locator('#story').textContent()) ?? '', /organizations, keys, upstreams, error codes/);
    await page.context().close();
  });

  it('leads from a column of the chart to its exchanges, with the pointer and with keys', async () => {
    const { page } = await open();
    await page.locator('#traffic-chart .column').first().waitFor(PATIENCE);
    const cursor = page.locator('#traffic-chart [role="slider"]');
    await cursor.focus();
    for (const key of ['Home', 'End', 'ArrowLeft', 'PageUp', 'ArrowRight']) await page.keyboard.press(key);
    const said = (await cursor.getAttribute('aria-valuetext')) ?? '';
    assert.match(said, /^\d\d:\d\d:\d\d to \d\d:\d\d:\d\d; 2xx: [\d.]+\/s; .*requests/);
    // The other chart shows the same time.
    for (const chart of ['traffic', 'latency'])
      assert.ok(
        (await page.locator(`#${chart}-chart .tip`).textContent())?.startsWith(said.split(';')[0] ?? '?'),
        chart,
      );
    await page.keyboard.press('Enter');
    await exchangesIn(page);
    assert.match((await page.locator('#chips').textContent()) ?? '', /^From \d\d:\d\d:\d\d to /);
    await page.goBack();
    const failed = page.locator('#traffic-chart .column.status-5').last();
    await failed.waitFor(PATIENCE);
    const [x = 0, y = 0, width = 0, height = 0] = (await page.evaluate(
      `['x', 'y', 'width', 'height'].map((name) =>
        Number([...document.querySelectorAll('#traffic-chart .column.status-5')].at(-1).getAttribute(name)))`,
    )) as number[];
    await cursor.click({ position: { x: x + width / 2, y: y + height / 2 } });
    const rows = await exchangesIn(page);
    assert.ok(
      rows.every((row) => /✕ 500/.test(row)),
      rows[0],
    );
    await page.context().close();
  });

  it('shows the former time when one comes back from the requests of a column, before the gateway has answered', async () => {
    const { page } = await open();
    const columns = page.locator('#traffic-chart .column');
    await columns.first().waitFor(PATIENCE);
    const drawn = await columns.count();
    // The last column may have just begun, and then has no requests.
    for (const key of ['PageUp', 'Enter']) await page.locator('#traffic-chart [role="slider"]').press(key);
    await exchangesIn(page);
    // This answer is about the time of the column alone.
    await nextAnswer(page, 'feed');
    await page.route('**/console/feed*', () => undefined);
    await page.goBack();
    await columns.first().waitFor(PATIENCE);
    assert.equal(await columns.count(), drawn);
    await page.context().close();
  });

  it('follows new exchanges that pass the filters, until it is paused, and keeps the focus', async () => {
    const { authorization } = await gateway.authorize({ organization: 'org_live' });
    const { page } = await openPage(browser, `${gateway.adminUrl}/#/requests?organization=org_live`);
    await page.locator('#exchange-list .empty').waitFor(PATIENCE);
    await ask(authorization, '/v1/things');
    await exchangesIn(page);
    await page.locator('#exchange-list a.row').first().focus();
    const focused = await page.evaluate('document.activeElement.href');
    await ask(authorization, '/v1/things?undeclared=1');
    await page.locator('#exchange-list tbody tr').nth(1).waitFor(PATIENCE);
    assert.equal(await page.evaluate('document.activeElement.href'), focused);
    await page.locator('#filter-status').selectOption('4xx');
    await page
      .locator('#exchange-list tbody tr')
      .nth(1)
      .waitFor({ ...PATIENCE, state: 'detached' });
    assert.equal((await exchangesIn(page)).length, 1);
    await page.locator('#pause').click();
    assert.match((await page.locator('#connection').textContent()) ?? '', /Paused/);
    // The question that was in progress, and one that would have come.
    await sleep(2000);
    await ask(authorization, '/v1/things?undeclared=2');
    await sleep(2000);
    assert.equal((await exchangesIn(page)).length, 1);
    await page.locator('#pause', { hasText: 'Resume' }).click();
    await page.locator('#exchange-list tbody tr').nth(1).waitFor(PATIENCE);
    await page.context().close();
  });

  it('shows what narrows the list of requests, and each of it can be taken away', async () => {
    const { authorization } = await gateway.authorize({ organization: 'org_chips' });
    await ask(authorization, '/v1/things?undeclared=1');
    await ask(authorization, '/v1/things');
    const from = new Date(nowMs - 60_000).toISOString();
    const address = `#/requests?organization=org_chips&status=4xx&upstream=platform&from=${encodeURIComponent(from)}`;
    const { page } = await openPage(browser, `${gateway.adminUrl}/${address}`);
    await exchangesIn(page);
    assert.equal(await page.locator('#filter-upstream').isVisible(), false, 'it is rarely needed');
    const names = await page.locator('#chips button').allTextContents();
    assert.match(names[0] ?? '', /^From \d\d:\d\d:\d\d to now ✕$/);
    assert.deepEqual(names.slice(1), [
      ...['Status: 4xx ✕', 'Organization: org_chips ✕', 'Upstream: platform ✕', 'Remove all'],
    ]);
    assert.equal((await exchangesIn(page)).length, 1);
    await page.getByRole('button', { name: 'Remove Status: 4xx' }).click();
    await page.locator('#exchange-list tbody tr').nth(1).waitFor(PATIENCE);
    assert.doesNotMatch(page.url(), /status/);
    assert.equal(await page.evaluate('document.activeElement.className'), 'chip');
    await page.getByRole('button', { name: /^Remove From/ }).click();
    assert.doesNotMatch(page.url(), /from=/);
    await page.getByRole('button', { name: 'Remove all' }).click();
    assert.equal(await page.locator('#chips').isVisible(), false);
    assert.match(page.url(), /#\/requests$/);
    assert.equal(await page.evaluate('document.activeElement.id'), 'filter-status');
    await page.context().close();
  });

  it('keeps the colours that its reader chose, and otherwise has those of the system', async () => {
    const { page, complaints } = await open({ colorScheme: 'dark' });
    const ground = () => page.evaluate('getComputedStyle(document.documentElement).backgroundColor');
    const dark = await ground();
    await page.locator('#menu-opener').focus();
    await page.keyboard.press('Enter');
    const theme = page.locator('#theme');
    await theme.filter({ hasText: 'Colours: system' }).focus();
    await page.keyboard.press('Enter');
    const light = await ground();
    assert.notEqual(light, dark);
    await page.reload();
    await page.locator('#menu-opener').click();
    await theme.filter({ hasText: 'Colours: light' }).waitFor(PATIENCE);
    assert.equal(await ground(), light);
    await theme.click();
    assert.equal(await ground(), dark);
    await theme.click();
    assert.equal(await page.evaluate('localStorage.length'), 0);
    assert.deepEqual(complaints, []);
    await page.context().close();
  });

  it('explains a request that is not sent, with the command that does the same', async () => {
    const target = encodeURIComponent('/v1/things?undeclared=1');
    const { page, complaints } = await openPage(
      browser,
      `${gateway.adminUrl}/#/explain?method=GET&caller=org_busy&target=${target}`,
    );
    await page.locator('#explain-form button').click(PATIENCE);
    await page.locator('.verdict.warn', { hasText: 'would be refused by validate with 400' }).waitFor(PATIENCE);
    await page
      .locator('.stage.warn .told', { hasText: /query parameter that the contract does not name .*[(]unknown[)]/ })
      .waitFor(PATIENCE);
    assert.match((await page.locator('.stage.off').first().textContent()) ?? '', /^throttle○ not tried/);
    assert.equal(
      await page.locator('#explain-outcome .command code').textContent(),
      "bin/gateway explain --request 'GET /v1/things?undeclared=1' --org 'org_busy'",
    );
    assert.deepEqual(complaints, []);
    await page.context().close();
  });

  it('draws durations of few requests pale, and says so', async () => {
    const { page } = await openPage(
      browser,
      `${gateway.adminUrl}/#/operations/${encodeURIComponent('GET /v1/things/{id}')}`,
    );
    const chart = page.locator('#subject-latency');
    await chart
      .locator('path.line')
      .first()
      .waitFor({ ...PATIENCE, state: 'attached' });
    assert.match((await chart.locator('h3').textContent()) ?? '', /pale where there were fewer than 5/);
    assert.ok(((await chart.locator('path.p99.pale').getAttribute('d')) ?? '').includes('L'));
    await page.context().close();
  });

  it('finds an organization by its name, shows script in a name as text, and copies commands', async () => {
    const name = 'Evil <script>document.title="taken"</script><img src=x onerror=alert(1)>';
    const organization = {
      id: 'org_evil',
      name,
      tier: 'standard',
      state: 'active',
      contacts: [],
      operator: false,
    } as const;
    await gateway.store.organizations.create(organization, 'test');
    const { id } = await gateway.issueKey({ organization: 'org_evil' });
    const { page, complaints, foreign } = await openPage(browser, `${gateway.adminUrl}/#/organizations`);
    await page.locator('#find').fill('evil <script>');
    await page.keyboard.press('Enter');
    await page.locator('#organizations-found a', { hasText: name }).click();
    await page.locator('#subject-title', { hasText: name }).waitFor(PATIENCE);
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    assert.doesNotMatch((await page.locator('#organization .key').first().textContent()) ?? '', /active of/);
    const line = `bin/gateway keys revoke ${id} --reason '' --wait`;
    await page.getByRole('button', { name: `Copy: ${line}` }).click();
    await page.locator('.copy', { hasText: 'Copied' }).waitFor(PATIENCE);
    assert.equal(await page.evaluate('navigator.clipboard.readText()'), line);
    await gateway.store.keys.revoke(id, 'test', undefined);
    await page.locator('#organization .key', { hasText: 'revoked' }).waitFor(PATIENCE);
    assert.equal(await page.evaluate('document.activeElement.closest("#organization, #subject-about") !== null'), true);
    await page.evaluate(`location.hash = ${JSON.stringify(`#/requests/${encodeURIComponent(name)}`)}`);
    await page.locator('#story', { hasText: 'This request is not remembered' }).waitFor(PATIENCE);
    assert.notEqual(await page.title(), 'taken');
    assert.equal(await page.locator('main script, main img').count(), 0);
    assert.deepEqual([complaints, foreign], [[], []]);
    await page.context().close();
  });

  it('finds a key by its visible end, with its own state, its organization and its commands', async () => {
    const { id, key } = await gateway.issueKey({ organization: 'org_found' });
    const { page, complaints } = await openPage(browser, `${gateway.adminUrl}/#/organizations`);
    await page.locator('#find').fill(`…${key.slice(-4)}`);
    await page.keyboard.press('Enter');
    const card = page.locator('#keys-found .key', { hasText: id });
    await card.waitFor(PATIENCE);
    assert.match((await card.textContent()) ?? '', /active of org_found/);
    assert.ok((await card.textContent())?.includes(`bin/gateway keys rotate ${id} --overlap 0s --wait`));
    await gateway.store.keys.revoke(id, 'test', 'leaked');
    await page.reload();
    await page.locator('#keys-found .key', { hasText: 'revoked of org_found' }).waitFor(PATIENCE);
    assert.deepEqual(complaints, []);
    await page.context().close();
  });

  it('shows longer ranges, and keeps the chosen one', async () => {
    const { page } = await open();
    await page.locator('#traffic-chart .column').first().waitFor(PATIENCE);
    await page.locator('#ranges input[value="24h"]').focus();
    await page.keyboard.press('Space');
    await page.locator('#traffic-chart svg[aria-label*="over the last 24 hours"]').waitFor(PATIENCE);
    assert.match((await page.locator('#operations-title').textContent()) ?? '', /last 24 hours/);
    assert.match((await page.locator('#reach').textContent()) ?? '', /of at most [\d.]+ MiB/);
    await page.context().close();
  });

  it('has what is shown in its address: a time that was dragged, an operation, and a link that shows the same elsewhere', async () => {
    const { page } = await open();
    await page.locator('#traffic-chart .column').first().waitFor(PATIENCE);
    await page.locator('#shown').selectOption('GET /v1/things');
    const box = await page.locator('#traffic-chart .cursor').boundingBox();
    assert.ok(box);
    const y = box.y + box.height / 2;
    await page.mouse.move(box.x + box.width * 0.4, y);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.5, y);
    await page.mouse.move(box.x + box.width * 0.6, y);
    await page.mouse.up();
    const chart = page.locator(
      '#traffic-chart svg[aria-label*="Requests of GET /v1/things over"][aria-label*=" from "]',
    );
    await chart.waitFor(PATIENCE);
    const dragged = (await chart.getAttribute('aria-label')) ?? '';
    assert.match(page.url(), /from=2\d{3}-.*to=2\d{3}-/);
    assert.match((await page.locator('#charts-title').textContent()) ?? '', /^Traffic, .*\d\d:\d\d to .*\d\d:\d\d$/);
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await chooseInMenu(page, 'copy-link');
    await page.locator('#copy-link', { hasText: 'Copied' }).waitFor(PATIENCE);
    const link = (await page.evaluate('navigator.clipboard.readText()')) as string;
    const elsewhere = await openPage(browser, link);
    await elsewhere.page.locator('#traffic-chart .column').first().waitFor(PATIENCE);
    assert.equal(await elsewhere.page.locator('#traffic-chart svg').getAttribute('aria-label'), dragged);
    await elsewhere.page.context().close();
    await page.locator('#operations tbody a', { hasText: 'GET /v1/strict' }).waitFor({ state: 'detached' });
    await page.locator('#zoom-out').click();
    await page.locator(`#traffic-chart svg:not([aria-label="${dragged}"])`).waitFor(PATIENCE);
    await page.goBack();
    await page.locator(`#traffic-chart svg[aria-label="${dragged}"]`).waitFor(PATIENCE);
    await page.goBack();
    await page
      .locator('#traffic-chart svg[aria-label^="Requests of GET /v1/things over the last 15 minutes"]')
      .waitFor(PATIENCE);
    const cursor = page.locator('#traffic-chart [role="slider"]');
    await cursor.focus();
    for (const key of ['End', 'Shift+ArrowLeft', 'Shift+ArrowLeft', 'Enter']) await page.keyboard.press(key);
    await page.locator('#zoom-out').waitFor(PATIENCE);
    await page.context().close();
  });

  it('asks again about what an address names that was opened before the first answer', async () => {
    const { authorization } = await gateway.authorize({ organization: 'org_early' });
    await ask(authorization, '/v1/things', 5);
    nowMs += STEP_MS;
    const { page } = await openPage(browser, `${gateway.adminUrl}/console/icon.svg`);
    for (const [hash, name] of [
      ['#/upstreams/platform', 'platform'],
      ['#/organizations/org_early', 'org_early'],
    ] as const) {
      const held = Promise.withResolvers<void>();
      await page.route('**/console/feed?*', async (route) => {
        await held.promise;
        await route.continue();
      });
      await page.goto(`${gateway.adminUrl}/`, { waitUntil: 'load' });
      await page.evaluate(`location.hash = '${hash}'`);
      held.resolve();
      await page.locator('#subject-title', { hasText: name }).waitFor(PATIENCE);
      await page.locator('#subject-traffic .column').first().waitFor(PATIENCE);
      assert.doesNotMatch((await page.locator('#subject-note').textContent()) ?? '', /No counts|Loading/);
      await page.unrouteAll({ behavior: 'ignoreErrors' });
      await page.goto('about:blank');
    }
    await page.context().close();
  });

  it('shows one operation in its charts when it is chosen, and keeps the choice', async () => {
    const { page } = await open();
    await page.locator('#traffic-chart .column').first().waitFor(PATIENCE);
    await page.locator('#shown').selectOption('GET /v1/strict');
    const chart = page.locator('#traffic-chart svg[aria-label^="Requests of GET /v1/strict over"]');
    await chart.waitFor(PATIENCE);
    assert.match((await chart.getAttribute('aria-label')) ?? '', /failed: last [\d.]+\/s, highest [\d.]+\/s/);
    await takeScreenshot(page, 'console-one-operation');
    await nextAnswer(page, 'feed');
    assert.equal(await page.locator('#shown').inputValue(), 'GET /v1/strict');
    await page.context().close();
  });

  it('can be used by keyboard: past the head, sorted by buttons that keep the focus, and paused', async () => {
    const { page } = await open();
    await page.locator('#operations tbody tr').first().waitFor(PATIENCE);
    await page.keyboard.press('Tab');
    assert.equal(await page.evaluate('document.activeElement.className'), 'skip');
    assert.equal(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle'), 'solid');
    await page.keyboard.press('Enter');
    assert.equal(await page.evaluate('document.activeElement.id'), 'main');
    const reached: string[] = [];
    for (let count = 0; count < 60; count += 1) {
      await page.keyboard.press('Tab');
      reached.push((await page.evaluate('document.activeElement.id || document.activeElement.textContent')) as string);
      if (reached.at(-1) === 'Operation') break;
    }
    assert.ok(reached.includes('shown') && reached.includes('As a table'), reached.join());
    assert.equal(reached.at(-1), 'Operation');
    await page.keyboard.press('Space');
    assert.equal(
      await page.locator('#operations thead th', { hasText: 'Operation' }).getAttribute('aria-sort'),
      'ascending',
    );
    const names = await page.locator('#operations tbody th').allTextContents();
    assert.deepEqual(names, names.toSorted());
    await nextAnswer(page, 'feed');
    await sleep(100);
    assert.equal(await page.evaluate('document.activeElement.textContent'), 'Operation');
    await page.keyboard.press('Enter');
    assert.deepEqual(await page.locator('#operations tbody th').allTextContents(), names.toReversed());
    await page.locator('#pause').focus();
    await page.keyboard.press('Enter');
    assert.equal(await page.locator('#pause').textContent(), 'Resume');
    assert.match((await page.locator('#connection').textContent()) ?? '', /Paused/);
    await page.context().close();
  });
});

describe('the console of a gateway that is not on loopback', () => {
  it('shows nothing before it has the token, which stays in the tab and out of every URL', async () => {
    const gateway = await startGateway({ environment: { ADMIN_HOST: '0.0.0.0', ADMIN_TOKEN: TOKEN } });
    const browser = await launchBrowser();
    try {
      const { page, complaints, foreign } = await openPage(browser, `${gateway.adminUrl}/`);
      const asked: string[] = [];
      page.on('request', (request) => asked.push(request.url()));
      await page.locator('#token').waitFor(PATIENCE);
      assert.equal(await page.locator('#views').isVisible(), false);
      await takeScreenshot(page, 'console-login');
      assert.deepEqual(await findBarriers(page), []);
      await page.keyboard.type('not-the-token');
      await page.keyboard.press('Enter');
      await page.locator('#login-error', { hasText: 'No operator has this token.' }).waitFor(PATIENCE);
      await takeScreenshot(page, 'console-login-refused');
      await page.locator('#token').fill(TOKEN);
      await page.keyboard.press('Enter');
      await page.locator('#attention li').waitFor(PATIENCE);
      await page.reload();
      await page.locator('#attention li').waitFor(PATIENCE);
      assert.equal(await page.evaluate('localStorage.length'), 0);
      assert.equal((await page.context().cookies()).length, 0);
      assert.ok(!asked.some((url) => url.includes(TOKEN)));
      // The browser itself reports the answers that asked for the token, and the requests in progress when the page was loaded anew.
      assert.deepEqual([complaints.filter((one) => !/401|ERR_ABORTED/.test(one)), foreign], [[], []]);
      await chooseInMenu(page, 'leave');
      await page.locator('#token').waitFor(PATIENCE);
      assert.equal(await page.evaluate('sessionStorage.length'), 0);
    } finally {
      await browser.close();
      await gateway.stop();
    }
  });
});

describe('the console of a gateway that is started anew', () => {
  it('shows that the gateway does not answer, recovers by itself, and shows a restart', async () => {
    const installation = createInstallation({ ADMIN_PORT: '0' });
    const browser = await launchBrowser();
    const first = await installation.start();
    try {
      const { page } = await openPage(browser, `http://127.0.0.1:${first.adminPort}/`);
      await page.locator('#connection', { hasText: 'Live' }).waitFor(PATIENCE);
      const headHeight = () => page.evaluate(`document.querySelector('.top').offsetHeight`);
      const usual = await headHeight();
      await first.stop();
      await page.locator('#connection', { hasText: 'No response since' }).waitFor(PATIENCE);
      await page.locator('#lost', { hasText: 'has not answered this page since' }).waitFor(PATIENCE);
      // The last known causes stay, in grey, with their time.
      await page.locator('#attention-title', { hasText: / as of \d/ }).waitFor(PATIENCE);
      for (const id of ['attention', 'tiles'])
        assert.match(
          (await page.evaluate(`getComputedStyle(document.getElementById('${id}')).filter`)) as string,
          /grayscale/,
        );
      assert.ok(Number(await headHeight()) - Number(usual) <= 2, 'the head stays one line');
      await takeScreenshot(page, 'console-lost');
      await page.setViewportSize({ width: 390, height: 844 });
      await takeScreenshot(page, 'console-lost-390');
      await page.setViewportSize({ width: 1440, height: 900 });
      const again = createInstallation({ ...installation.environment, ADMIN_PORT: String(first.adminPort) });
      const second = await again.start();
      try {
        await page.locator('#connection', { hasText: 'Live, restarted at' }).waitFor(PATIENCE);
        assert.equal(await page.locator('#lost').isVisible(), false);
        assert.equal(await page.locator('#attention-title .as-of').isVisible(), false);
        assert.equal(await headHeight(), usual, 'also after its return');
      } finally {
        await second.stop();
        again.remove();
      }
    } finally {
      await browser.close();
      await first.stop();
      installation.remove();
    }
  });
});
