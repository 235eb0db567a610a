// The page "Your account" in a real browser: light and dark, wide and narrow, by keyboard, with what hurts most: markup in names, answers that
// are lost, limits that are full, keys that may do nothing. Look at the screenshots after changing anything here.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { type AccountData, type AccountService, createAccountService, keyRecord, refusal } from './account-service.ts';
import {
  type Browser,
  findBarriers,
  launchBrowser,
  type OpenPage,
  openPage,
  type Page,
  type PageOptions,
  takeScreenshot,
} from './browser.ts';

const PATIENCE = { timeout: 30_000 };
/** The form of a key, so that secret scanners do not take it for one. */
const SECRET = `sk_${'live'}_8Fq2bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbKw3J`;
const OTHER = `sk_${'live'}_Zp4xccccccccccccccccccccccccccccccQm8d`;

const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();

/** About a month of traffic, with weekends. */
const wave = (height: number) =>
  Array.from({ length: 60 }, (_, day) => Math.round(height * ([5, 6].includes(day % 7) ? 0.3 : 1 + Math.sin(day) / 4)));

const request = (members: object) => ({
  request_id: 'req_01K9Z6M3V8Q4T2R7',
  at: minutesAgo(3),
  method: 'GET',
  path: '/v1/jobs',
  operation_id: 'listJobs',
  key_id: 'key_own',
  status: 400,
  stage: 'validate',
  code: 'validation_failed',
  duration_ms: 1.4,
  ...members,
});

const explanation = (one: Record<string, unknown>) => ({
  request: one,
  verdict: 'GET /v1/jobs was refused by validate with 400 validation_failed.',
  remedy: 'Correct every member that errors names.',
  doc_url: 'https://api.example.com/docs/errors/validation_failed',
  stages: [
    { stage: 'admit', outcome: 'passed', facts: [], duration_ms: 0.05 },
    { stage: 'authenticate', outcome: 'passed', facts: ['the key is key_own of org_acme'], duration_ms: 0.2 },
    { stage: 'validate', outcome: 'refused', facts: ['query limit: must be at most 100, is 500'], duration_ms: 0.4 },
    { stage: 'forward', outcome: 'not reached', facts: [] },
  ],
});

const limit = (members: object) => ({
  policy: 'organization',
  key_id: null,
  operations: null,
  enforced: true,
  limit: 1000,
  window_seconds: 60,
  used: 120,
  remaining: 880,
  next_freed_at: new Date(Date.now() + 17_000).toISOString(),
  ...members,
});

const failed = request({});
const usual: AccountData = {
  organization: {
    id: 'org_acme',
    name: 'Acme Cleaning',
    tier: 'premium',
    state: 'active',
    contacts: ['api@acme.example'],
    operator: false,
  },
  limits: [
    limit({}),
    limit({ policy: 'key', key_id: 'key_own', limit: 100, used: 91, remaining: 9 }),
    limit({ policy: 'exports', limit: 5, window_seconds: 3600, used: 5, remaining: 0, operations: ['exportInvoices'] }),
    limit({ policy: 'watched', limit: 50, window_seconds: 1, used: 2, remaining: 48, enforced: false }),
  ],
  use: {
    listCustomers: wave(900),
    createJob: wave(320),
    listJobs: wave(610),
    retrieveInvoice: wave(140),
    updateJob: wave(90),
    listInvoices: wave(55),
    deleteCustomer: wave(4),
  },
  requests: [
    failed,
    request({
      request_id: 'req_02',
      status: 503,
      code: 'upstream_unavailable',
      operation_id: 'createJob',
      method: 'POST',
    }),
    request({ request_id: 'req_03', status: 429, code: 'rate_limited', operation_id: 'exportInvoices' }),
    request({ request_id: 'req_04', status: 404, code: 'route_not_found', operation_id: null, path: null }),
  ],
  explanations: { [String(failed.request_id)]: explanation(failed) },
  keys: [
    keyRecord({ id: 'key_own', secret: SECRET, name: 'My laptop', scopes: ['*', 'gateway:keys', 'gateway:read'] }),
    keyRecord({ id: 'key_import', secret: OTHER, name: 'Nightly import', scopes: ['customers:read', 'jobs:write'] }),
    keyRecord({
      ...{ id: 'key_old', secret: OTHER, name: 'Old import', state: 'revoked' },
      ...{ revoked_at: '2026-10-20T10:00:00Z', revoked_reason: 'Found in a public repository' },
    }),
  ],
};

describe('the account page', () => {
  let gateway: TestGateway;
  let browser: Browser;
  before(async () => {
    gateway = await startGateway({
      upstreams: {
        gateway: { contracts: ['gateway/*.yaml'], live: 'gateway:', timeoutMs: 20_000 },
        platform: { contracts: ['v1/*.yaml'], live: 'sandbox:platform', test: 'sandbox:platform' },
      },
      gateway: { portal: { title: 'Platform API' } },
    });
    browser = await launchBrowser();
  });
  after(async () => {
    await browser?.close();
    await gateway?.stop();
  });

  interface Opened extends OpenPage {
    readonly service: AccountService;
  }

  async function open(data: AccountData = usual, options: PageOptions = {}): Promise<Opened> {
    const opened = await openPage(browser, `${gateway.url}/docs/account`, options);
    const service = createAccountService(data);
    await service.attach(opened.page);
    return { ...opened, service };
  }

  async function show(page: Page, key = SECRET): Promise<void> {
    await page.locator('#account-key').fill(key);
    await page.keyboard.press('Enter');
    await page.locator('#keys .account-card').first().waitFor(PATIENCE);
    await page.locator('.usage-chart .part').first().waitFor(PATIENCE);
    await page.locator('#failed summary').first().waitFor(PATIENCE);
    await page.locator('#limits .bar').first().waitFor(PATIENCE);
  }

  const press = (page: Page, name: string) => page.locator('#account-dialog button', { hasText: name }).click();
  const title = (page: Page, text: string) =>
    page.locator('#account-dialog h2', { hasText: text }).waitFor({ ...PATIENCE });
  const card = (page: Page, name: string) => page.locator('#keys .account-card', { hasText: name }).first();

  for (const colorScheme of ['light', 'dark'] as const) {
    for (const width of [1440, 390]) {
      const look = `${colorScheme}-${width}`;
      const check = async (page: Page, name: string) => {
        await takeScreenshot(page, `account-${name}-${look}`);
        assert.deepEqual(await findBarriers(page), []);
        const scrolled = (await page.evaluate('document.documentElement.scrollWidth')) as number;
        assert.ok(scrolled <= width, `${name} is wider than the window: ${scrolled}`);
      };

      it(`shows limits, use, refusals and keys, and changes keys, ${look}`, async () => {
        const { page, complaints, foreign, service } = await open(usual, { colorScheme, width });
        await check(page, 'empty');
        await show(page);
        await page.locator('#failed summary').first().click();
        await page.locator('.stage.refused', { hasText: 'must be at most 100, is 500' }).first().waitFor(PATIENCE);
        await check(page, 'shown');

        await page.locator('#keys button', { hasText: 'Create a key' }).click();
        await page.locator('#key-name').fill('Reports');
        await page.locator('.scope-choice', { hasText: 'customers:read' }).click();
        await check(page, 'create');
        await press(page, 'Continue');
        await title(page, 'Create this key?');
        await check(page, 'create-confirm');
        await press(page, 'Create the key');
        await page.locator('#account-secret').waitFor(PATIENCE);
        await check(page, 'secret');
        assert.match((await page.locator('#account-dialog').textContent()) ?? '', /all 3 gateways after 231 ms/);
        await press(page, 'I have stored it');
        await card(page, 'Reports').waitFor(PATIENCE);

        await card(page, 'Reports').locator('button', { hasText: 'Rotate' }).click();
        await check(page, 'rotate');
        await press(page, 'Continue');
        await title(page, 'Rotate this key?');
        await press(page, 'Rotate the key');
        await page.locator('#account-secret').waitFor(PATIENCE);
        await press(page, 'I have stored it');

        await card(page, 'Nightly import').locator('button', { hasText: 'Revoke' }).click();
        await page.locator('#key-reason').fill('No longer used');
        await press(page, 'Continue');
        await title(page, 'Revoke this key?');
        await check(page, 'revoke-confirm');
        await press(page, 'Revoke the key');
        await title(page, 'The key is revoked');
        await press(page, 'Close');
        await page.locator('#keys summary', { hasText: 'Revoked and expired (2)' }).waitFor(PATIENCE);

        const changes = service.asked.filter(({ method }) => method === 'POST');
        assert.deepEqual(
          changes.map(({ path, query }) => `${path} ${query}`),
          ['/keys', '/keys/key_0003/rotate', '/keys/key_import/revoke'].flatMap((path) => [
            `${path} dry_run=true`,
            `${path} wait=10`,
          ]),
        );
        for (const { query, headers } of changes)
          assert.equal(headers['idempotency-key'] !== undefined, query.has('wait'), 'a trial has no Idempotency-Key');
        assert.equal(changes.at(-1)?.headers['if-match'], '"active-"');
        assert.deepEqual([complaints, foreign], [[], []]);
        await page.context().close();
      });

      it(`says what to do about refusals, ${look}`, async () => {
        const { page, service } = await open(usual, { colorScheme, width });
        service.fail(
          ({ path }) => path === '/organization',
          refusal(403, 'insufficient_scope', { required_scopes: ['gateway:read'] }),
        );
        await page.locator('#account-key').fill(SECRET);
        await page.keyboard.press('Enter');
        await page.locator('.account-advice', { hasText: 'This key lacks gateway:read.' }).waitFor(PATIENCE);
        await check(page, 'insufficient');
        service.fail(
          ({ path }) => path === '/limits',
          refusal(429, 'rate_limited', { retry_after: 17, retryable: true }),
        );
        service.fail(({ path }) => path === '/usage', 'lost', 'lost');
        service.fail(({ path }) => path === '/requests', { status: 502, body: '<h1>Bad Gateway</h1>' });
        service.fail(({ path }) => path === '/keys', { status: 200, body: '<h1>Please log in</h1>' });
        await page.locator('#account-key').fill(SECRET);
        await page.keyboard.press('Enter');
        await page.locator('#keys .account-advice').waitFor(PATIENCE);
        await check(page, 'refused');
        const text = (await page.locator('#account').textContent()) ?? '';
        for (const part of [
          'Wait 17 seconds',
          'req_refused_1',
          'does not answer',
          'could not do this',
          'cannot be read',
        ])
          assert.ok(text.includes(part), `${part} is not in ${text}`);
        for (const one of ['limits', 'use', 'failed', 'keys']) {
          const again = page.locator(`#${one} .account-advice button`);
          if ((await again.count()) > 0) await again.click();
        }
        await page.locator('#limits .bar').first().waitFor(PATIENCE);
        await page.locator('.usage-chart .part').first().waitFor(PATIENCE);
        await page.context().close();
      });
    }
  }
});
