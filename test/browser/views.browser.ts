// Every view of the pages, wide and narrow, light and dark: a picture of each for people to look at (in SCREENSHOTS), no request to another
// host, no violation of a policy, no finding of axe, and nothing wider than the window. Look at the pictures after changing a page.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { startDocumentation } from '../support/documentation.ts';
import type { TestGateway } from '../support/gateway.ts';
import { type SessionGateway, startSessionGateway } from '../support/sessions.ts';
import { type FakeUpstream, startUpstream } from '../support/upstream.ts';
import { createAccountService } from './account-service.ts';
import {
  type Browser,
  chooseInMenu,
  findBarriers,
  launchBrowser,
  openPage,
  type Page,
  takeScreenshot,
} from './browser.ts';
import { type Operations, startOperations } from './scenes.ts';
import { SECRET, usual } from './usual-account.ts';

const DEGREES = ['minor', 'moderate', 'serious', 'critical'];
const ADMIN_TOKEN = 'an-admin-token-for-this-test';
const PATIENCE = { timeout: 30_000 };

/** What is looked at: its address, and what is done there until it is as readers see it. */
interface View {
  readonly at: string;
  readonly waitUntil?: 'load';
  /** An element that is there when the view is. */
  readonly ready?: string;
  readonly steps?: (page: Page) => Promise<unknown>;
}

const LOOKS = (['light', 'dark'] as const).flatMap((colorScheme) =>
  [1440, 390].map((width) => ({ colorScheme, width, name: `${colorScheme}-${width}` })),
);

/** Words of tables that are broken over lines where there is room, and tables that are wider than their place. Long columns may break. */
function brokenWordsOf(page: Page): Promise<unknown> {
  return page.evaluate(`[...document.querySelectorAll('.scroller')].filter((one) => one.offsetParent).flatMap((scroller) => {
    const words = [...scroller.querySelectorAll(':is(th, td):not(.long)')].flatMap((cell) => {
      const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
      const found = [];
      while (texts.nextNode()) {
        const node = texts.currentNode;
        for (const { 0: word, index } of node.data.matchAll(/[\\w.:]+/g)) {
          const range = document.createRange();
          range.setStart(node, index);
          range.setEnd(node, index + word.length);
          if (new Set([...range.getClientRects()].map(({ top }) => top)).size > 1) found.push(word);
        }
      }
      return found;
    });
    const isTooWide = scroller.scrollWidth > scroller.clientWidth + 1;
    return isTooWide ? [...words, scroller.ariaLabel + ' is too wide'] : words;
  })`);
}

/** The heads of narrow tables, by which they are sorted, if some of them are out of sight. */
function cutHeadsOf(page: Page): Promise<unknown> {
  return page.evaluate(`[...document.querySelectorAll('[role="table"] > thead > tr')]
    .filter((row) => row.offsetParent && row.scrollWidth > row.clientWidth + 1)
    .map((row) => row.textContent)`);
}

function lookAt(
  scene: string,
  views: Readonly<Record<string, View>>,
  origin: () => string,
  browser: () => Browser,
): void {
  for (const [name, view] of Object.entries(views))
    for (const { colorScheme, width, name: look } of LOOKS)
      it(`${name}, ${look}`, async () => {
        const { page, complaints, foreign } = await openPage(browser(), origin() + view.at, {
          ...{ colorScheme, width },
          ...(view.waitUntil && { waitUntil: view.waitUntil }),
        });
        if (view.ready) await page.locator(view.ready).first().waitFor(PATIENCE);
        await view.steps?.(page);
        await page.evaluate('scrollTo(0, 0)');
        await takeScreenshot(page, `${scene}-${name}-${look}`);
        assert.deepEqual(foreign, []);
        // A browser reports the status of the page itself, too.
        assert.deepEqual(
          complaints.filter((one) => !/status of (401|404|400)/.test(one)),
          [],
        );
        assert.deepEqual(await findBarriers(page, DEGREES), []);
        const scrolled = (await page.evaluate('document.documentElement.scrollWidth')) as number;
        assert.ok(scrolled <= width, `wider than the window: ${scrolled}`);
        if (width > 1000) assert.deepEqual(await brokenWordsOf(page), []);
        else assert.deepEqual(await cutHeadsOf(page), []);
        await page.context().close();
      });
}

describe('the documentation', () => {
  let gateway: TestGateway;
  let browser: Browser;
  let key: string;
  before(async () => {
    gateway = await startDocumentation();
    ({ key } = await gateway.issueKey({ mode: 'test' }));
    browser = await launchBrowser();
  });
  after(async () => {
    await browser?.close();
    await gateway?.stop();
  });

  const pasteKey = async (page: Page) => {
    await page.locator('#key').fill(key);
    await page.locator('#key').press('Enter');
    await page.locator('#key-note', { hasText: 'This key works' }).waitFor(PATIENCE);
  };
  const views: Record<string, View> = {
    landing: { at: '/docs' },
    references: { at: '/docs/reference' },
    reference: { at: '/docs/reference/v1' },
    operation: { at: '/docs/reference/v1/createCustomer' },
    list: { at: '/docs/reference/v1/listJobs' },
    stream: { at: '/docs/reference/v1/watchFiles' },
    resource: { at: '/docs/reference/v1/bookings' },
    tried: {
      at: '/docs/reference/v1/createCustomer',
      async steps(page) {
        await pasteKey(page);
        await page.locator('.values > summary').click();
        await page.locator('.try [type=submit]').click();
        await page.locator('.try-status', { hasText: '201' }).waitFor(PATIENCE);
      },
    },
    refused: {
      at: '/docs/reference/v1/createCustomer',
      async steps(page) {
        await pasteKey(page);
        await page.locator('.values > summary').click();
        await page.locator('#try-body').fill('{"name": ""}');
        await page.locator('.try [type=submit]').click();
        await page.locator('.try-status', { hasText: '400' }).waitFor(PATIENCE);
      },
    },
    untestable: { at: '/docs/reference/gateway/createKey' },
    guides: { at: '/docs/guides' },
    guide: { at: '/docs/guides/pagination' },
    'guide-errors': { at: '/docs/guides/errors' },
    errors: { at: '/docs/errors' },
    error: { at: '/docs/errors/validation_failed' },
    limits: { at: '/docs/limits' },
    changes: { at: '/docs/changes' },
    agents: { at: '/docs/agents' },
    search: {
      at: '/docs',
      async steps(page) {
        await page.locator('#theme[title]').waitFor(PATIENCE);
        await page.keyboard.press('/');
        await page.keyboard.type('idempotency');
        await page.locator('#found a').first().waitFor(PATIENCE);
      },
    },
    'search-nothing': {
      at: '/docs',
      async steps(page) {
        await page.locator('#theme[title]').waitFor(PATIENCE);
        await page.keyboard.press('/');
        await page.keyboard.type('zzzzqq');
        await page.locator('#found-count, #found', { hasText: /\w/ }).first().waitFor(PATIENCE);
      },
    },
    missing: { at: '/docs/errors/no_such_code' },
    account: { at: '/docs/account' },
    'account-shown': {
      at: '/docs/account',
      async steps(page) {
        await createAccountService(usual).attach(page);
        await page.locator('#account-key').fill(SECRET);
        await page.keyboard.press('Enter');
        await page.locator('#keys .account-card').first().waitFor(PATIENCE);
        await page.locator('.usage-chart .part').first().waitFor(PATIENCE);
        await page.locator('#requests summary').first().click();
        await page.locator('.stage.refused').first().waitFor(PATIENCE);
      },
    },
  };
  lookAt(
    'portal',
    views,
    () => gateway.url,
    () => browser,
  );
});

describe('the console, when all is quiet', () => {
  let scene: Operations;
  let browser: Browser;
  before(async () => {
    scene = await startOperations(false);
    browser = await launchBrowser();
  });
  after(async () => {
    await browser?.close();
    await scene?.close();
  });
  lookAt(
    'console',
    { quiet: { at: '/', ready: '#latency-chart path.line' } },
    () => scene.gateway.adminUrl,
    () => browser,
  );
});

describe('the console in an incident', () => {
  let scene: Operations;
  let browser: Browser;
  before(async () => {
    scene = await startOperations(true);
    browser = await launchBrowser();
  });
  after(async () => {
    await browser?.close();
    await scene?.close();
  });

  const storyOf = (filter: string) => async (page: Page) => {
    await page.evaluate(`location.hash = '#/requests?${filter}'`);
    await page.locator('#exchange-list a.row').first().click(PATIENCE);
    await page.locator('#story .stage').first().waitFor(PATIENCE);
    const share = String.raw`[\d,]+ \(<?[\d.]+ %\)`;
    const counted = new RegExp(
      `org_\\w+ in the last 15 minutes: ${share} failed, ${share} refused, of [\\d,]+ requests`,
    );
    await page.locator('#story .steps li', { hasText: counted }).waitFor(PATIENCE);
    await page
      .locator('#story time', { hasText: /:\d\d\.\d{3}$/ })
      .first()
      .waitFor(PATIENCE);
  };
  const views: Record<string, View> = {
    incident: { at: '/', ready: '#attention li.bad' },
    requests: { at: '/#/requests', ready: '#exchange-list tbody tr' },
    'requests-filtered': {
      at: '/#/requests?status=5xx&organization=org_northwind&upstream=files',
      ready: '#exchange-list tbody tr',
    },
    'requests-none': { at: '/#/requests?organization=org_nobody', ready: '#exchange-list .empty' },
    story: { at: '/', steps: storyOf('status=5xx') },
    'story-limit': { at: '/', steps: storyOf('code=rate_limited') },
    'story-unknown': { at: '/#/requests/req_unknown', ready: '#story .empty, #story p' },
    operation: { at: `/#/operations/${encodeURIComponent('GET /v1/jobs')}`, ready: '#subject-traffic .column' },
    upstream: { at: '/#/upstreams/files', ready: '#subject-about dt' },
    organizations: { at: '/#/organizations', ready: '#organizations-found tbody tr' },
    organization: { at: '/#/organizations/org_harbor', ready: '#subject-about .limit' },
    'organization-unknown': { at: '/#/organizations/org_nobody', ready: '#subject-about .empty' },
    code: { at: '/#/codes/rate_limited', ready: '#breakdown tbody tr' },
    routes: { at: '/#/routes', ready: '#routes-found a[aria-label="Explain GET /v1/customers"]' },
    audit: {
      at: '/#/audit',
      ready: '#audit-rows tbody tr',
      async steps(page) {
        const times = await page.locator('#audit-rows time').allTextContents();
        assert.ok(times.length > 1 && times.every((time) => /:\d\d:\d\d$/.test(time)), times.join());
      },
    },
    alerts: { at: '/#/alerts', ready: '#alerts-receivers .empty' },
    configuration: { at: '/#/configuration', ready: '#configuration-view .file' },
    explain: { at: '/#/explain', ready: '#explain-form' },
    explained: {
      at: `/#/explain?method=GET&caller=org_acme&target=${encodeURIComponent('/v1/customers?limit=900')}`,
      ready: '#explain-form',
      async steps(page) {
        await page.locator('#explain-form button').click();
        await page.locator('#explain-outcome .stage').first().waitFor(PATIENCE);
      },
    },
    system: { at: '/#/system', ready: '#upstreams tbody tr' },
    runbook: { at: '/#/runbook/GatewayKeyStoreAway', ready: '#runbook h2' },
  };
  lookAt(
    'console',
    views,
    () => scene.gateway.adminUrl,
    () => browser,
  );
});

describe('the console for an operator who may act', () => {
  let pager: FakeUpstream;
  let scene: Operations;
  let browser: Browser;
  before(async () => {
    pager = await startUpstream((_message, response) => response.writeHead(204).end());
    const receivers = { pager: { webhook: { url: pager.url, secret: 'pager_key' } } };
    scene = await startOperations(true, {
      environment: { ADMIN_TOKEN, PAGER_KEY: `whsec_${randomBytes(32).toString('base64')}` },
      gateway: { alerts: { receivers } },
    });
    browser = await launchBrowser();
    await silence('upstream files live');
  });
  after(async () => {
    await browser?.close();
    await scene?.close();
    await pager?.close();
  });

  async function silence(target: string): Promise<void> {
    const body = { target, seconds: 7200 };
    const ask = (more: object) =>
      fetch(`${scene.gateway.adminUrl}/console/actions/silence-alerts`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${ADMIN_TOKEN}`,
          'content-type': 'application/json',
          'x-console-action': '1',
        },
        body: JSON.stringify({ ...body, ...more }),
      });
    const { if_match } = (await (await ask({ dry_run: true })).json()) as { if_match: unknown };
    assert.equal((await ask({ dry_run: false, if_match })).status, 200);
  }

  /** In the head there is one line of controls in a wide window, and four in a narrow one. */
  async function assertLines(page: Page): Promise<void> {
    const { width } = page.viewportSize() ?? { width: 0 };
    const height = (await page.evaluate(`document.querySelector('.top').offsetHeight`)) as number;
    assert.ok(height <= (width > 1000 ? 60 : 150), `${height} px at ${width} px`);
  }

  const signIn = (ready: string) => async (page: Page) => {
    await assertLines(page);
    await chooseInMenu(page, 'sign-in');
    await page.locator('#token').fill(ADMIN_TOKEN);
    await page.keyboard.press('Enter');
    await page.locator('#role', { hasText: 'Role: admin' }).waitFor({ ...PATIENCE, state: 'attached' });
    await page.locator(ready).first().waitFor(PATIENCE);
    await assertLines(page);
  };
  const viewer: Record<string, View> = {
    'viewer-alerts': {
      at: '/#/alerts',
      ready: '#alerts-silences tbody tr',
      async steps(page) {
        await page.locator('#alerts-now a', { hasText: 'runbook' }).first().waitFor(PATIENCE);
        assert.equal(await page.locator('[data-view=alerts] th', { hasText: 'Action' }).first().isVisible(), false);
        assert.equal(await page.locator('[data-view=alerts] [data-label=Action]').first().isVisible(), false);
      },
    },
    'viewer-menu': {
      at: '/',
      ready: '#attention li.bad',
      async steps(page) {
        await page.locator('#menu-opener').focus();
        await page.keyboard.press('Enter');
        await page.locator('#sign-in').waitFor(PATIENCE);
        await page.keyboard.press('Tab');
        assert.equal(await page.evaluate('document.activeElement.id'), 'copy-link');
      },
    },
  };
  const operator: Record<string, View> = {
    'operator-incident': { at: '/', ready: '#attention li.bad', steps: signIn('#attention li.bad') },
    'operator-alerts': { at: '/#/alerts', steps: signIn('#alerts-now button.act') },
    'operator-organization': { at: '/#/organizations/org_harbor', steps: signIn('#subject-about button.act') },
    'operator-upstream': { at: '/#/upstreams/files', steps: signIn('#subject-about .state.bad') },
    'operator-system': { at: '/#/system', steps: signIn('#upstreams tbody tr') },
  };
  lookAt(
    'console',
    { ...viewer, ...operator },
    () => scene.gateway.adminUrl,
    () => browser,
  );
});

describe('the pages of signing in', () => {
  let world: SessionGateway;
  let browser: Browser;
  before(async () => {
    world = await startSessionGateway();
    browser = await launchBrowser();
  });
  after(async () => {
    await browser?.close();
    await world?.close();
  });
  const views: Record<string, View> = {
    'callback-unknown': { at: '/session/callback?state=unknown&code=unknown', waitUntil: 'load' },
    'callback-refused': { at: '/session/callback?error=access_denied&state=unknown', waitUntil: 'load' },
  };
  lookAt(
    'session',
    views,
    () => world.origin,
    () => browser,
  );
});
