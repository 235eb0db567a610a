// Pages of the console that are reached by their address or by the links at the top: an unknown one says so, the runbooks have an index,
// the audit log is narrowed by author and time, and a narrow window shows every link.

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { eventually } from '../support/instances.ts';
import { thingsAt } from '../support/things.ts';
import { type FakeUpstream, startUpstream, unusedPort } from '../support/upstream.ts';
import { organization } from '../unit/auth/samples.ts';
import { type Browser, findBarriers, launchBrowser, openPage, takeScreenshot } from './browser.ts';

const PATIENCE = { timeout: 30_000 };

/** A contract of one operation that each caller may use. */
const contractOf = (path: string) => ({
  openapi: '3.1.1',
  info: { title: path, version: '1' },
  paths: { [path]: { get: { 'x-gateway-public': true, responses: { 200: { description: 'done' } } } } },
});

describe('the console', () => {
  let gateway: TestGateway;
  let service: FakeUpstream;
  let browser: Browser;
  let slowMs = 0;
  let offsetMs = 0;
  before(async () => {
    service = await startUpstream(async (_request, response) => {
      await sleep(slowMs);
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
    const limits = {
      tiers: { standard: { requests: 100_000 } },
      organizations: { org_limited: { requests: 2, windowSeconds: 60 } },
    };
    gateway = await startGateway({ ...thingsAt(service.url), limits, now: () => Date.now() + offsetMs });
    browser = await launchBrowser();
  });
  after(async () => {
    await browser?.close();
    await gateway?.stop();
    await service?.close();
  });

  const open = (hash: string, options = {}) => openPage(browser, `${gateway.adminUrl}/${hash}`, options);

  it('says of an unknown address that it has no such page', async () => {
    const { page } = await open('#/nothing/here');
    await page.getByText('The console has no page #/nothing/here.').waitFor(PATIENCE);
    assert.equal(await page.locator('#tiles').isVisible(), false);
    assert.match(await page.title(), /Not found/);
    await takeScreenshot(page, 'console-unknown-address');
    await page.locator('#nav a', { hasText: 'Overview' }).click();
    await page.locator('#tiles .tile').first().waitFor(PATIENCE);
    assert.equal(await page.getByText('The console has no page').isVisible(), false);
    await page.context().close();
  });

  it('wraps a long state of an upstream before the next value', async () => {
    const { page } = await open('#/upstreams/things', { width: 1440 });
    await page.locator('#subject-about dt', { hasText: 'In progress' }).waitFor(PATIENCE);
    // A latched credential has the name of its secret, which may be wider than the column.
    const beyond = await page.evaluate(`(() => {
      const list = document.createElement('dl');
      list.className = 'facts card';
      list.style.width = '20rem';
      list.innerHTML = '<div><dd><span class="state bad">✕ latched: ' + 'stalwart_admin_credentials_'.repeat(3) + '</span></dd></div>';
      document.querySelector('#subject-about').parentElement.append(list);
      return list.querySelector('span').getBoundingClientRect().right - list.querySelector('dd').getBoundingClientRect().right;
    })()`);
    assert.ok(Number(beyond) <= 0, String(beyond));
    await page.context().close();
  });

  it('shows the requests that an upstream with a refused credential did not get', async () => {
    const strict = await startUpstream((_request, response) => response.writeHead(401).end());
    const latched = await startGateway({
      ...thingsAt(strict.url, { credential: { bearer: { secret: 'things_token' } } }),
      environment: { THINGS_TOKEN: 'a-token' },
    });
    try {
      const { authorization } = await latched.authorize();
      for (let sent = 0; sent < 6; sent += 1)
        await (await fetch(`${latched.url}/v1/things`, { headers: { authorization } })).arrayBuffer();
      const { page } = await openPage(browser, `${latched.adminUrl}/#/upstreams/things`, { width: 1440 });
      const tile = page.locator('#subject-tiles .more');
      await tile.waitFor(PATIENCE);
      assert.match((await tile.textContent()) ?? '', /^Not sent✕ ≥ [1-6]refused with 5xx, not counted as failed$/);
      assert.match((await tile.locator('a').getAttribute('href')) ?? '', /upstream=things.*status=refused/);
      await takeScreenshot(page, 'console-latched');
      await page.context().close();
    } finally {
      await latched.stop();
      await strict.close();
    }
  });

  it('says that an organization was used last at its latest request', async () => {
    const { authorization } = await gateway.authorize({ organization: 'org_used' });
    const ask = async () => {
      await (await fetch(`${gateway.url}/v1/things`, { headers: { authorization } })).arrayBuffer();
      await sleep(1500);
    };
    await ask();
    await ask();
    const answer = await fetch(`${gateway.adminUrl}/console/exchanges?organization=org_used`);
    const { exchanges } = (await answer.json()) as { exchanges: { at: string }[] };
    const { page } = await open('#/organizations/org_used');
    const used = page.locator('#subject-about dt', { hasText: 'Last use' }).locator('xpath=../dd/time');
    await page.locator('#breakdown tbody tr').first().waitFor(PATIENCE);
    await sleep(3000);
    assert.equal(await used.getAttribute('datetime'), exchanges[0]?.at);
    await page.context().close();
  });

  it('lists the runbooks, each with what it is about', async () => {
    const { page } = await open('');
    await page.getByRole('link', { name: 'Runbooks' }).click(PATIENCE);
    const items = page.locator('#runbook li');
    await items.first().waitFor(PATIENCE);
    assert.ok((await items.count()) > 20, String(await items.count()));
    assert.match((await page.locator('#runbook').textContent()) ?? '', /Key store empty: The key store was wiped/);
    assert.deepEqual(await findBarriers(page), []);
    await takeScreenshot(page, 'console-runbooks');
    await items.getByRole('link', { name: 'Target down' }).click();
    await page.locator('#runbook h3', { hasText: 'Look' }).first().waitFor(PATIENCE);
    await page.locator('#runbook').getByRole('link', { name: 'Runbooks' }).click();
    await items.first().waitFor(PATIENCE);
    await page.context().close();
  });

  it('narrows the audit log by author and time', async () => {
    const { organizations } = gateway.store;
    await organizations.create(organization({ id: 'org_early' }), 'alice');
    await sleep(50);
    const since = new Date().toISOString();
    await sleep(50);
    await organizations.create(organization({ id: 'org_late' }), 'alice');
    await organizations.create(organization({ id: 'org_other' }), 'bob');
    const rowsAt = async (query: string) => {
      const { page } = await open(`#/audit?${query}`);
      await page.locator('#audit-rows tbody tr').first().waitFor(PATIENCE);
      const rows = await page.locator('#audit-rows tbody tr').allTextContents();
      await takeScreenshot(page, 'console-audit');
      await page.context().close();
      return rows.map((row) => /org_(?:early|late|other)/.exec(row)?.[0] ?? row);
    };
    const named = async (query: string) => (await rowsAt(query)).join();
    assert.match(await named('by=alice'), /^org_late,org_early$/);
    assert.match(await named(`by=alice&since=${since}`), /^org_late$/);
    assert.match(await named(`by=alice&until=${since}`), /^org_early$/);
    const { page } = await open('#/audit');
    await page.locator('#audit-by').fill('bob');
    await page.locator('#audit-form button').click();
    await page.locator('#audit-rows tbody tr', { hasText: 'org_other' }).waitFor(PATIENCE);
    assert.equal(await page.locator('#audit-rows tbody tr').count(), 1);
    assert.match(page.url(), /by=bob/);
    await page.context().close();
  });

  it('lists a change that was made and taken back as two, and leads to the lines of each', async () => {
    const path = join(gateway.directory, 'config/limits.yaml');
    const usual = readFileSync(path, 'utf8');
    const changes = async () => {
      const answer = await fetch(`${gateway.adminUrl}/console/configuration`);
      return ((await answer.json()) as { latest: unknown[] }).latest.length;
    };
    for (const [index, text] of [usual.replace('100000', '50'), usual].entries()) {
      writeFileSync(path, text);
      await eventually(async () => (await changes()) === index + 1);
    }
    await eventually(async () => {
      const noted = await gateway.store.audit.list({ limit: 10 });
      return noted.filter(({ by }) => by === 'reload').length === 2;
    });
    const { page } = await open('#/audit?by=reload');
    const rows = page.locator('#audit-rows tbody tr');
    await rows.nth(1).waitFor(PATIENCE);
    assert.match((await rows.nth(0).textContent()) ?? '', /saved file.*50 → 100000/);
    assert.match((await rows.nth(1).textContent()) ?? '', /saved file.*100000 → 50/);
    await rows.nth(1).getByRole('link', { name: 'lines of the change' }).click();
    const lines = page.locator('#configuration-view .change .added').first();
    await lines.waitFor(PATIENCE);
    assert.match((await lines.textContent()) ?? '', /^\+.*50/);
    assert.match((await page.locator('#configuration-view h3').first().textContent()) ?? '', /^Change to version/);
    await takeScreenshot(page, 'console-change');
    await page.context().close();
  });

  it('leads the page of a slow operation with its slowest requests', async () => {
    const { authorization } = await gateway.authorize();
    const send = async (times: number) => {
      for (let sent = 0; sent < times; sent += 1)
        await (await fetch(`${gateway.url}/v1/things`, { headers: { authorization } })).arrayBuffer();
    };
    await send(80);
    await (await fetch(`${gateway.adminUrl}/console/feed`)).arrayBuffer();
    offsetMs = 180_000;
    await (await fetch(`${gateway.adminUrl}/console/feed`)).arrayBuffer();
    slowMs = 900;
    await Promise.all([send(4), send(4), send(4)]);
    await eventually(async () => {
      const feed = (await (await fetch(`${gateway.adminUrl}/console/feed`)).json()) as { attention: { id: string }[] };
      return feed.attention.some(({ id }) => id === 'slow GET /v1/things');
    });
    const { page } = await open('#/operations/GET%20%2Fv1%2Fthings');
    const slowest = page.locator('#breakdown .slowest');
    await slowest.locator('tbody tr').first().waitFor(PATIENCE);
    assert.match((await slowest.locator('tbody tr').first().textContent()) ?? '', /9\d\d ms|1\.\d s/);
    const titles = await page.locator('#breakdown section:not([hidden]) h3').allTextContents();
    assert.equal(
      titles.find((title) => /requests|remembered|Latest/i.test(title)),
      'Slowest remembered requests',
    );
    assert.ok((await page.locator('#subject-traffic .mark.warning').count()) > 0, 'the warning is marked');
    await takeScreenshot(page, 'console-slow-operation');
    await page.context().close();
  });

  it('shows the times of an error code, and the cause that names it', async () => {
    slowMs = 0;
    const { authorization } = await gateway.authorize({ organization: 'org_limited' });
    for (let sent = 0; sent < 15; sent += 1)
      await (await fetch(`${gateway.url}/v1/things`, { headers: { authorization } })).arrayBuffer();
    const { page } = await open('#/codes/rate_limited');
    await page.locator('#subject-traffic .column').first().waitFor(PATIENCE);
    await page.locator('#subject-causes li', { hasText: 'org_limited is refused' }).waitFor(PATIENCE);
    assert.equal(await page.locator('#subject-latency').isVisible(), false);
    assert.equal(await page.locator('#subject-tiles .tile.bad').count(), 0, 'only a 5xx is a failure');
    assert.deepEqual(await findBarriers(page), []);
    await takeScreenshot(page, 'console-code');
    await page.context().close();
  });

  it('begins the page of an operation, and System, with the cause of a dead upstream', async () => {
    const { contracts, upstreams } = thingsAt(`http://127.0.0.1:${await unusedPort()}`);
    const names = Array.from({ length: 6 }, (_, index) => `a${index}`);
    const quiet = names.map((name) => [name, { contracts: [`${name}.yaml`], live: 'http://127.0.0.1:1' }]);
    const quietContracts = names.map((name) => [`${name}.yaml`, contractOf(`/v1/${name}`)]);
    const dead = await startGateway({
      contracts: { ...contracts, ...Object.fromEntries(quietContracts) },
      upstreams: { ...Object.fromEntries(quiet), ...upstreams },
    });
    try {
      const { authorization } = await dead.authorize();
      for (let sent = 0; sent < 8; sent += 1)
        await (await fetch(`${dead.url}/v1/things`, { headers: { authorization } })).arrayBuffer();
      const { page } = await openPage(browser, `${dead.adminUrl}/#/operations/GET%20%2Fv1%2Fthings`);
      const cause = page.locator('#subject-causes li.bad', { hasText: 'Upstream things (live)' });
      await cause.waitFor(PATIENCE);
      assert.equal(await cause.getByRole('link', { name: 'Details' }).count(), 1, 'a link to the upstream');
      await takeScreenshot(page, 'console-operation-of-dead-upstream');
      await page.evaluate(`location.hash = '#/codes/upstream_unreachable'`);
      await page.locator('#subject-tiles .tile.bad', { hasText: /^Last .*✕ 8/ }).waitFor(PATIENCE);
      await page.locator('#nav a', { hasText: 'System' }).click();
      await page.locator('#system-causes li.bad', { hasText: 'Upstream things (live)' }).waitFor(PATIENCE);
      const rows = page.locator('#upstreams tbody tr:visible');
      assert.match((await rows.first().textContent()) ?? '', /^things \(live\).*✕/);
      assert.equal(await rows.count(), 1, 'the targets that were not asked are folded');
      await page.locator('#upstreams summary', { hasText: '6 targets were not asked yet' }).click();
      assert.equal(await rows.count(), 7);
      assert.deepEqual(await findBarriers(page), []);
      await takeScreenshot(page, 'console-system-dead-upstream');
      await page.setViewportSize({ width: 390, height: 900 });
      await takeScreenshot(page, 'console-system-dead-upstream-390');
      await page.context().close();
    } finally {
      await dead.stop();
    }
  });

  it('shows large what the last minute had, and in its colour, beside the shown time', async () => {
    let fails = true;
    let laterMs = 0;
    const flaky = await startUpstream((_request, response) =>
      response.writeHead(fails ? 500 : 200, { 'content-type': 'application/json' }).end('{}'),
    );
    const recovered = await startGateway({ ...thingsAt(flaky.url), now: () => Date.now() + laterMs });
    try {
      const { authorization } = await recovered.authorize();
      const sample = async () => (await fetch(`${recovered.adminUrl}/console/feed`)).arrayBuffer();
      const send = async () => {
        for (let sent = 0; sent < 5; sent += 1)
          await (await fetch(`${recovered.url}/v1/things`, { headers: { authorization } })).arrayBuffer();
        await sample();
      };
      await send();
      fails = false;
      laterMs = 180_000;
      await sample();
      await send();
      const { page } = await openPage(browser, `${recovered.adminUrl}/#/operations/GET%20%2Fv1%2Fthings`);
      const tile = page.locator('#subject-tiles .tile', { hasText: 'Failed' });
      await tile.locator('.value', { hasText: /^0 %$/ }).waitFor(PATIENCE);
      assert.match((await tile.locator('.soft').textContent()) ?? '', /^last 15 minutes 50 %/);
      assert.equal(await page.locator('#subject-tiles :is(.bad, .warn)').count(), 0);
      await takeScreenshot(page, 'console-recovered-operation');
      await page.setViewportSize({ width: 390, height: 900 });
      await takeScreenshot(page, 'console-recovered-operation-390');
      await page.context().close();
    } finally {
      await recovered.stop();
      await flaky.close();
    }
  });

  it('shows every link in a narrow window', async () => {
    const { page } = await open('', { width: 390 });
    await page.locator('#tiles .tile').first().waitFor(PATIENCE);
    const outside = await page.evaluate(
      `[...document.querySelectorAll('#nav .links a')].filter((one) => one.getBoundingClientRect().right > innerWidth || one.getBoundingClientRect().left < 0).map((one) => one.textContent)`,
    );
    assert.deepEqual(outside, []);
    const head = await page.locator('.top').boundingBox();
    assert.ok((head?.height ?? 999) < 115, `the head is ${head?.height} px tall`);
    assert.ok(await page.locator('#request-id').isVisible());
    await takeScreenshot(page, 'console-narrow');
    await page.context().close();
  });
});
