// The page "Your account" in a real browser: light and dark, wide and narrow, by keyboard, with what hurts most: markup in names, answers
// that are lost, limits that are full, keys that may do nothing. Look at the screenshots after changing anything here.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { OWN_ENTRY } from '../support/administration.ts';
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
import { failed, limit, OTHER, request, SECRET, usual, wave } from './usual-account.ts';

const DEGREES = ['minor', 'moderate', 'serious', 'critical'];
const PATIENCE = { timeout: 30_000 };
describe('the account page', () => {
  let gateway: TestGateway;
  let browser: Browser;
  before(async () => {
    gateway = await startGateway({
      upstreams: {
        ...OWN_ENTRY,
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
    await page.locator('#requests summary').first().waitFor(PATIENCE);
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
        assert.deepEqual(await findBarriers(page, DEGREES), []);
        const scrolled = (await page.evaluate('document.documentElement.scrollWidth')) as number;
        assert.ok(scrolled <= width, `${name} is wider than the window: ${scrolled}`);
      };

      it(`shows limits, use, refusals and keys, and changes keys, ${look}`, async () => {
        const { page, complaints, foreign, service } = await open(usual, { colorScheme, width });
        await check(page, 'empty');
        await show(page);
        await page.locator('#requests summary').first().click();
        await page.locator('.stage.refused', { hasText: 'must be at most 100, is 500' }).first().waitFor(PATIENCE);
        await check(page, 'shown');
        assert.match((await page.locator('.usage-legend').textContent()) ?? '', /List customers/);
        assert.match((await page.locator('#requests summary').first().textContent()) ?? '', /List jobs/);
        await page.locator('.organization-card summary').click();
        const commands = (await page.locator('.command').allTextContents()).join('\n');
        assert.match(commands, /\/gateway\/v1\/organization" -H "Authorization: Bearer \$API_KEY"/);
        assert.ok(!commands.includes(SECRET));
        await check(page, 'commands');

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
        service.fail(({ path }) => path === '/organization', refusal(403, 'ip_not_allowed'));
        await page.locator('#account-key').fill(SECRET);
        await page.keyboard.press('Enter');
        await page.locator('.account-advice', { hasText: 'may not be used from where you are' }).waitFor(PATIENCE);
        await check(page, 'not-from-here');
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
          'does not respond',
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

  it('explains the request that a link of the reference names', async () => {
    const { page } = await openPage(browser, `${gateway.url}/docs/account#request=${failed.request_id}`);
    await createAccountService(usual).attach(page);
    await show(page);
    await page.locator('#request .stage.refused', { hasText: 'must be at most 100, is 500' }).first().waitFor(PATIENCE);
    await page.context().close();
  });

  it('explains a request whose id is pasted, alone or with what stands around it', async () => {
    const { page } = await open();
    await show(page);
    assert.equal(await page.locator('#request .stage').count(), 0);
    await page.locator('#request-id').fill('no id!');
    await page.keyboard.press('Enter');
    await page.locator('#request-id-note', { hasText: 'This is no request id.' }).waitFor(PATIENCE);
    await page.locator('#request-id').fill(`  "request_id":"${failed.request_id}",`);
    await page.keyboard.press('Enter');
    await page.locator('#request .stage.refused', { hasText: 'must be at most 100, is 500' }).first().waitFor(PATIENCE);
    assert.equal(await page.locator('#request-id').inputValue(), failed.request_id);
    assert.match(page.url(), new RegExp(`#request=${failed.request_id}$`));
    assert.ok(await page.locator('#requests summary').first().isVisible(), 'the rest of the page stays');
    assert.deepEqual(await findBarriers(page, DEGREES), []);
    await page.context().close();
  });

  it('says what the error itself says, if no request of the key has its id', async () => {
    const { page } = await open();
    await show(page);
    const field = page.locator('#request-id');
    const error = { code: 'route_not_found', message: 'Did you mean /v1/jobs?', request_id: 'req_of_no_operation' };
    for (const pasted of [JSON.stringify({ error }, undefined, 2), `404 ${JSON.stringify(error)}`]) {
      await field.fill(pasted);
      await page.keyboard.press('Enter');
      const told = page.locator('#request strong', { hasText: 'Did you mean /v1/jobs?' });
      await told.waitFor(PATIENCE);
      assert.equal(await field.inputValue(), 'req_of_no_operation');
      const about = page.locator('#request a', { hasText: 'About route_not_found' });
      assert.equal(await about.getAttribute('href'), '/docs/errors/route_not_found');
    }
    await takeScreenshot(page, 'account-own-words');
    await field.fill('"request_id":"req_of_another"');
    await page.keyboard.press('Enter');
    await page.locator('#request .account-advice', { hasText: 'paste the whole error' }).waitFor(PATIENCE);
    assert.deepEqual(await findBarriers(page, DEGREES), []);
    await page.context().close();
  });

  it('folds limits on trial, tells those of keys by name, and says which requests their client ended', async () => {
    const { page } = await open();
    await show(page);
    const trial = page.locator('#limits details');
    assert.equal(await trial.locator('summary').textContent(), '1 on trial: it counts and never refuses');
    assert.equal(await page.locator('#limits h3', { hasText: 'watched' }).isVisible(), false);
    await trial.locator('summary').click();
    assert.equal(await page.locator('#limits h3', { hasText: 'watched' }).isVisible(), true);
    assert.equal(await page.locator('#limits > div > ul > li').count(), 3);
    assert.match((await page.locator('#limits').textContent()) ?? '', /Of the key My laptop\./);
    assert.equal(await page.locator('#requests summary').count(), 5);
    assert.match(
      (await page.locator('#requests summary', { hasText: '499' }).textContent()) ?? '',
      /ended by its client/,
    );
    await page.context().close();
  });

  it('shows all recent requests, or those that failed', async () => {
    const requests = [request({ status: 200, code: null, request_id: 'req_ok' }), ...usual.requests];
    const { page, service } = await open({ ...usual, requests });
    await show(page);
    const first = page.locator('#requests summary').first();
    assert.match((await first.textContent()) ?? '', /^200 List jobs /);
    assert.equal(service.asked.findLast(({ path }) => path === '/requests')?.query.get('status'), null);
    await page.locator('#requests-choice').selectOption({ label: 'Failed' });
    await first.locator('.status', { hasText: '400' }).waitFor(PATIENCE);
    assert.equal(service.asked.findLast(({ path }) => path === '/requests')?.query.get('status'), 'failed');
    assert.deepEqual(await findBarriers(page, DEGREES), []);
    await page.context().close();
  });

  it('shows more requests on demand, from all pages, and none of those that the page sends', async () => {
    const lookUp = { path: '/gateway/v1/requests/{request_id}', operation_id: 'explainRequest', status: 404 };
    const asked = { path: '/gateway/v1/organization', operation_id: 'getOrganization', code: 'insufficient_scope' };
    const requests = [
      ...Array.from({ length: 105 }, (_, index) => request({ ...lookUp, request_id: `req_look_${index}` })),
      request({ path: '/gateway/v1/limits', operation_id: 'getLimits', status: 200, code: null }),
      request({ ...asked, status: 403 }),
      ...Array.from({ length: 23 }, (_, index) => request({ request_id: `req_${index}` })),
    ];
    const { page } = await open({ ...usual, requests });
    await show(page);
    const rows = page.locator('#requests summary');
    const more = page.locator('#requests button', { hasText: 'Show more' });
    assert.equal(await rows.count(), 10);
    await more.click();
    await rows.nth(19).waitFor(PATIENCE);
    assert.equal(
      await page.evaluate('document.activeElement === document.querySelectorAll("#requests summary")[10]'),
      true,
    );
    await more.click();
    await rows.nth(22).waitFor(PATIENCE);
    assert.equal(await more.count(), 0);
    assert.equal(await page.locator('#requests', { hasText: 'resource_missing' }).count(), 0);
    await page.context().close();
  });

  it('asks for a scope before it sends, and leads a test key to the documentation', async () => {
    const { page, service } = await open();
    await show(page);
    await page.locator('#keys button', { hasText: 'Create a key' }).click();
    assert.equal(await page.locator('#key-mode').inputValue(), 'test');
    const before = service.asked.length;
    await press(page, 'Continue');
    await page.locator('#key-scopes-note', { hasText: 'Choose at least one scope.' }).waitFor(PATIENCE);
    assert.equal(await page.evaluate('document.activeElement.type'), 'checkbox');
    assert.deepEqual(await findBarriers(page, DEGREES), []);
    assert.equal(service.asked.length, before);
    await page.locator('.scope-choice', { hasText: 'customers:read' }).click();
    await press(page, 'Continue');
    await title(page, 'Create this key?');
    await press(page, 'Create the key');
    await page.locator('#account-secret').waitFor(PATIENCE);
    await press(page, 'Use it in the documentation');
    await page.waitForURL('**/docs');
    await page.locator('.key-bar.taken').waitFor({ ...PATIENCE, state: 'attached' });
    await page.context().close();
  });

  it('takes every text as text', async () => {
    const evil = (where: string) => `<img src=x onerror="document.title='${where}'"><b>${where}</b>`;
    const id = evil('operation');
    const marked = request({ operation_id: id, code: evil('code'), request_id: 'req_evil', method: evil('method') });
    const { page, service } = await open({
      organization: {
        ...usual.organization,
        name: evil('organization'),
        tier: evil('tier'),
        contacts: [evil('contact')],
      },
      limits: [limit({ policy: evil('policy'), key_id: evil('key'), operations: [id] })],
      use: { [id]: wave(10) },
      requests: [marked],
      explanations: {
        req_evil: {
          ...{
            request: marked,
            verdict: evil('verdict'),
            remedy: `${evil('remedy')} [a](javascript:1) [b](https://api.example.com/docs/errors) \`c<b>\``,
            doc_url: "javascript:document.title='doc'",
          },
          stages: [{ stage: evil('stage'), outcome: evil('outcome'), facts: [evil('fact')] }],
        },
      },
      keys: [
        keyRecord({ id: 'key_own', secret: SECRET, name: evil('own'), scopes: ['gateway:keys', evil('scope')] }),
        keyRecord({
          id: 'key_b',
          secret: OTHER,
          name: evil('name'),
          allowed_cidrs: [evil('range')],
          replaced_by: evil('by'),
        }),
      ],
    });
    await show(page);
    await page.locator('#requests summary').first().click();
    await page
      .locator('.stages .stage')
      .first()
      .waitFor({ ...PATIENCE, state: 'attached' });
    await page.locator('#use summary').first().click();
    await page.locator('#use summary').nth(1).click();
    await page.locator('#keys button', { hasText: 'Create a key' }).click();
    service.fail(
      ({ path }) => path === '/keys',
      refusal(422, evil('code'), {
        message: evil('message'),
        doc_url: 'javascript:1',
        errors: [{ param: evil('param'), message: evil('detail') }],
      }),
    );
    await page.locator('.scope-choice').first().click();
    await press(page, 'Continue');
    await page.locator('#account-dialog .account-advice').waitFor(PATIENCE);
    await takeScreenshot(page, 'account-markup');
    const text = String(await page.evaluate('document.body.textContent'));
    for (const where of [
      'organization',
      'tier',
      'contact',
      'policy',
      'operation',
      'verdict',
      'remedy',
      'stage',
      'fact',
      'own',
      'name',
      'scope',
      'range',
      'by',
      'message',
      'param',
      'detail',
    ])
      assert.ok(text.includes(`<b>${where}</b>`), where);
    assert.equal(await page.locator(':is(#account, dialog) :is(b, img)').count(), 0);
    assert.equal(await page.locator('a[href^="javascript"]').count(), 0);
    const remedy = page.locator('.explanation > p', { hasText: 'What to do' });
    assert.match((await remedy.textContent()) ?? '', /\[a\]\(javascript:1\) b c<b>$/);
    assert.equal(await remedy.locator('a').getAttribute('href'), 'https://api.example.com/docs/errors');
    assert.equal(await page.title(), 'Your account · Platform API');
    await page.context().close();
  });

  it('keeps the key in its memory: not in addresses, storage, cookies, history or elements', async () => {
    const { page, service } = await open();
    const addresses: string[] = [];
    page.on('request', (one) => addresses.push(one.url()));
    await show(page);
    assert.ok(service.asked.every(({ headers }) => headers.authorization === `Bearer ${SECRET}`));
    assert.ok(!addresses.some((address) => address.includes(SECRET.slice(-10))));
    const state = String(
      await page.evaluate(`JSON.stringify([location.href, history.state, document.cookie, { ...localStorage }, { ...sessionStorage },
        document.documentElement.outerHTML, [...document.querySelectorAll('input')].map(({ value }) => value)])`),
    );
    assert.ok(!state.includes(SECRET.slice(12, 30)), 'the key is in the page');
    assert.equal(await page.evaluate('history.length'), 2);
    await page.locator('.top a', { hasText: 'Errors' }).click();
    await page.waitForURL('**/docs/errors');
    await page.goBack();
    await page.locator('#account-key').waitFor(PATIENCE);
    assert.deepEqual(
      [await page.locator('#account-key').inputValue(), await page.locator('#account').textContent()],
      ['', ''],
    );
    await show(page);
    await page.locator('#account-forget').click();
    assert.equal(await page.locator('#account').textContent(), '');
    assert.equal(await page.evaluate('document.activeElement.id'), 'account-key');
    await page.context().close();
  });

  it('sends nothing that cannot be a key', async () => {
    const { page, service } = await open();
    for (const [pasted, told] of [
      ['no key', /not a whole key/],
      ['', /Paste a key first/],
    ] as const) {
      await page.locator('#account-key').fill(pasted);
      await page.keyboard.press('Enter');
      await page.locator('#account-key[aria-invalid]').waitFor(PATIENCE);
      assert.match((await page.locator('#account-note').textContent()) ?? '', told);
    }
    await page.locator('#account-key').fill(`  Bearer ${SECRET} `);
    assert.equal(await page.locator('#account-key[aria-invalid]').count(), 0);
    assert.equal(service.asked.length, 0);
    await page.context().close();
  });

  it('creates one key when answers are lost, and says that the secret was in one of them', async () => {
    const { page, service } = await open();
    await show(page);
    await page.locator('#keys button', { hasText: 'Create a key' }).click();
    await page.locator('.scope-choice').first().click();
    await press(page, 'Continue');
    await title(page, 'Create this key?');
    service.fail(({ query }) => query.has('wait'), 'lost after');
    await page.locator('#account-dialog button', { hasText: 'Create the key' }).dblclick();
    await page.locator('#account-dialog .warning', { hasText: 'did not arrive' }).waitFor(PATIENCE);
    await takeScreenshot(page, 'account-lost');
    const sent = service.asked.filter(({ query }) => query.has('wait'));
    assert.deepEqual([sent.length, new Set(sent.map(({ headers }) => headers['idempotency-key'])).size], [2, 1]);
    assert.equal(service.keys.length, usual.keys.length + 1);
    await press(page, 'Revoke it');
    await press(page, 'Continue');
    await press(page, 'Revoke the key');
    await title(page, 'The key is revoked');
    assert.equal(service.keys.at(-1)?.state, 'revoked');
    await page.context().close();
  });

  it('lets the reader send again what never arrived, and creates one key', async () => {
    const { page, service } = await open();
    await show(page);
    await page.locator('#keys button', { hasText: 'Create a key' }).click();
    await page.locator('.scope-choice').first().click();
    await press(page, 'Continue');
    service.fail(({ query }) => query.has('wait'), 'lost', 'lost', { status: 502, body: 'Bad Gateway' });
    await press(page, 'Create the key');
    await page.locator('#account-dialog button', { hasText: 'Send again' }).waitFor(PATIENCE);
    await takeScreenshot(page, 'account-send-again');
    assert.deepEqual(await findBarriers(page, DEGREES), []);
    await press(page, 'Send again');
    await page.locator('#account-secret').waitFor(PATIENCE);
    const keys = service.asked.flatMap(({ query, headers }) => (query.has('wait') ? [headers['idempotency-key']] : []));
    assert.deepEqual([keys.length, new Set(keys).size, service.keys.length], [4, 1, usual.keys.length + 1]);
    await page.context().close();
  });

  it('shows a secret until it is stored, then nowhere', async () => {
    const { page, service } = await open();
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await show(page);
    await card(page, 'My laptop').locator('button', { hasText: 'Rotate' }).click();
    await page.locator('#key-overlap').selectOption('0');
    await press(page, 'Continue');
    await press(page, 'Rotate the key');
    const secret = (await page.locator('#account-secret').textContent()) ?? '';
    assert.match(secret, /^sk_live_/);
    await press(page, 'Copy');
    await page.locator('#account-dialog button', { hasText: 'Copied' }).waitFor(PATIENCE);
    assert.equal(await page.evaluate('navigator.clipboard.readText()'), secret);
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    assert.ok(await page.locator('#account-secret').isVisible(), 'Escape loses the secret');
    assert.deepEqual(service.asked.find(({ path }) => path.endsWith('/rotate'))?.body, { overlap_seconds: 0 });
    await takeScreenshot(page, 'account-rotated');
    await press(page, 'Use it on this page');
    await page.locator('#account-note', { hasText: secret.slice(-4) }).waitFor(PATIENCE);
    await page.locator('#keys .account-card').first().waitFor(PATIENCE);
    assert.equal(service.asked.at(-1)?.headers.authorization, `Bearer ${secret}`);
    assert.ok(!String(await page.evaluate('document.documentElement.outerHTML')).includes(secret));
    await page.context().close();
  });

  it('asks again before the last key goes, and looks again if a key has changed', async () => {
    const [own = {}] = usual.keys;
    const { page, service } = await open({ ...usual, keys: [own] });
    await show(page);
    await card(page, 'My laptop').locator('button', { hasText: 'Revoke' }).click();
    await press(page, 'Continue');
    await page.locator('#account-dialog .account-advice', { hasText: 'last key that works' }).waitFor(PATIENCE);
    await takeScreenshot(page, 'account-last-key');
    assert.deepEqual(await findBarriers(page, DEGREES), []);
    await press(page, 'Continue');
    assert.equal(service.asked.at(-1)?.query.get('dry_run'), 'true', 'the box has to be ticked');
    await page.locator('#key-allow-last').check();
    await press(page, 'Continue');
    await title(page, 'Revoke this key?');
    assert.match((await page.locator('#account-dialog').textContent()) ?? '', /This page uses this key/);
    service.fail(({ query }) => query.has('wait'), refusal(412, 'precondition_failed'));
    await press(page, 'Revoke the key');
    await page.locator('#account-dialog .account-advice', { hasText: 'changed in the meantime' }).waitFor(PATIENCE);
    assert.equal(service.keys[0]?.state, 'active');
    await press(page, 'Back');
    await page.locator('#key-reason').fill('Found in a public repository');
    await press(page, 'Continue');
    await page.locator('#key-allow-last').check();
    await press(page, 'Continue');
    await press(page, 'Revoke the key');
    await title(page, 'The key is revoked');
    assert.deepEqual(service.asked.filter(({ query }) => query.has('wait')).at(-1)?.body, {
      reason: 'Found in a public repository',
      allow_last: true,
    });
    await page.context().close();
  });

  it('offers no change to a key without gateway:keys, and explains a refusal of one that it offered', async () => {
    const reader = keyRecord({ id: 'key_own', secret: SECRET, name: 'Reader', scopes: ['gateway:read'] });
    const { page } = await open({ ...usual, keys: [reader] });
    await show(page);
    assert.equal(await page.locator('#keys button').count(), 0);
    await page.locator('#keys', { hasText: 'use a key with the scope gateway:keys' }).waitFor(PATIENCE);
    await page.context().close();

    const { page: other, service } = await open({ ...usual, keys: usual.keys.slice(1) });
    await show(other);
    service.fail(
      ({ query }) => query.has('dry_run'),
      refusal(403, 'insufficient_scope', { required_scopes: ['gateway:keys'] }),
    );
    await other.locator('#keys button', { hasText: 'Create a key' }).click();
    await other.locator('#key-name').fill('Kept');
    await other.locator('.scope-choice').first().click();
    await press(other, 'Continue');
    await other.locator('#account-dialog .account-advice', { hasText: 'lacks gateway:keys' }).waitFor(PATIENCE);
    assert.equal(await other.locator('#key-name').inputValue(), 'Kept');
    await other.context().close();
  });

  it('shows nothing of a key that was forgotten while its answers were on their way', async () => {
    const { page, service } = await open();
    let answerNow: () => void = () => assert.fail();
    const later = new Promise<void>((done) => {
      answerNow = done;
    });
    await page.route('**/gateway/v1/organization', async (route) => {
      await later;
      await route.fallback().catch(() => undefined);
    });
    await page.locator('#account-key').fill(SECRET);
    await page.keyboard.press('Enter');
    await page.locator('#account', { hasText: 'Loading' }).waitFor(PATIENCE);
    await page.locator('#account-forget').click();
    answerNow();
    await page.waitForTimeout(300);
    assert.equal(await page.locator('#account').textContent(), '');
    assert.equal(service.asked.filter(({ path }) => path !== '/organization').length, 0);
    await page.context().close();
  });

  it('can be used by keyboard alone', async () => {
    const { page } = await open();
    const focused = () =>
      page.evaluate('document.activeElement.id || document.activeElement.textContent') as Promise<string>;
    const tabTo = async (text: string) => {
      for (let count = 0; count < 90; count += 1) {
        if ((await focused()).startsWith(text)) return;
        await page.keyboard.press('Tab');
      }
      assert.fail(`${text} is not reached`);
    };
    await tabTo('account-key');
    await page.keyboard.type(SECRET);
    await page.keyboard.press('Enter');
    await page.locator('#keys .account-card').first().waitFor(PATIENCE);
    await page.locator('.usage-chart .part').first().waitFor(PATIENCE);
    assert.equal(await focused(), 'account-name');
    for (let count = 0; count < 20; count += 1) {
      await page.keyboard.press('Tab');
      if (await page.evaluate('document.activeElement.matches(".usage-cursor")')) break;
    }
    const before = await page.locator('.usage-readout').textContent();
    await page.keyboard.press('ArrowLeft');
    assert.notEqual(await page.locator('.usage-readout').textContent(), before);
    await page.keyboard.press('Home');
    assert.equal(await page.locator('.usage-cursor').getAttribute('aria-valuenow'), '0');
    await tabTo('400');
    await page.keyboard.press('Enter');
    await page.locator('.stage.refused').first().waitFor(PATIENCE);
    await tabTo('Create a key');
    await page.keyboard.press('Enter');
    assert.equal(await focused(), 'key-name');
    await page.keyboard.press('Escape');
    assert.equal(await focused(), 'Create a key');
    await page.context().close();
  });

  it('is exact and bounded with 300 operations, 40 limits and 100 keys', async () => {
    const names = Array.from({ length: 300 }, (_, index) => `operation${index}WithAVeryLongNameOfItsOwn`);
    const { page, service } = await open(
      {
        ...usual,
        use: Object.fromEntries(names.map((name, index) => [name, wave(index + 1)])),
        limits: Array.from({ length: 40 }, (_, index) => limit({ policy: `policy-${index}`, used: index * 25 })),
        keys: [
          ...usual.keys,
          ...Array.from({ length: 97 }, (_, index) =>
            keyRecord({ id: `key_many${index}`, secret: OTHER, name: `Key ${index}` }),
          ),
        ],
      },
      { width: 390 },
    );
    await show(page);
    await takeScreenshot(page, 'account-many-390');
    const all = names.reduce(
      (sum, _, index) =>
        sum +
        wave(index + 1)
          .slice(-30)
          .reduce((one, value) => one + value, 0),
      0,
    );
    assert.match((await page.locator('#use').textContent()) ?? '', new RegExp(`${all.toLocaleString('en')} requests`));
    assert.match((await page.locator('.usage-legend').textContent()) ?? '', /^operation299\D.*operation295\D.*Other$/);
    await page.locator('#use summary', { hasText: 'By operation (300)' }).waitFor(PATIENCE);
    assert.ok(service.asked.length <= 20, `${service.asked.length} requests`);
    const elements = (await page.evaluate('document.querySelectorAll("*").length')) as number;
    assert.ok(elements < 6000, `${elements} elements`);
    const scrolled = (await page.evaluate('document.documentElement.scrollWidth')) as number;
    assert.ok(scrolled <= 390, `wider than the window: ${scrolled}`);
    await page.context().close();
  });

  it('says what it needs where there is no JavaScript', async () => {
    const { page } = await openPage(browser, `${gateway.url}/docs/account`, { javaScript: false, width: 390 });
    assert.equal(await page.locator('#account-form').isVisible(), false);
    assert.ok(await page.locator('.account-unscripted').isVisible());
    await page.context().close();
  });
});

describe('the account page and the gateway itself', () => {
  let gateway: TestGateway;
  let browser: Browser;
  before(async () => {
    gateway = await startGateway({
      upstreams: {
        ...OWN_ENTRY,
        platform: { contracts: ['v1/*.yaml'], live: 'sandbox:platform', test: 'sandbox:platform' },
      },
      limits: {
        tiers: { standard: { requests: 10_000 } },
        extra: { listing: { requests: 12, windowSeconds: 3600, per: 'organization' } },
        operations: { listCustomers: { extra: 'listing' } },
      },
    });
    browser = await launchBrowser();
  });
  after(async () => {
    await browser?.close();
    await gateway?.stop();
  });

  const call = async (key: string, path: string) => {
    const answer = await fetch(gateway.url + path, { headers: { authorization: `Bearer ${key}` } });
    await answer.arrayBuffer();
    return answer.status;
  };

  for (const [colorScheme, width] of [
    ['light', 1440],
    ['dark', 390],
  ] as const) {
    it(`do the round: limits, a refusal, use, a key that is made, used, rotated and revoked; ${colorScheme}, ${width}`, async () => {
      const organization = `org_round_${width}`;
      const { key } = await gateway.issueKey({ organization, scopes: ['*', 'gateway:read', 'gateway:keys'] });
      assert.equal(await call(key, '/v1/jobs?limit=500'), 400);
      for (let count = 0; count < 9; count += 1) assert.equal(await call(key, '/v1/customers'), 200);
      const { page, complaints, foreign } = await openPage(browser, `${gateway.url}/docs/account`, {
        colorScheme,
        width,
      });
      const dialog = page.locator('#account-dialog');
      const press = (name: string) => dialog.locator('button', { hasText: name }).click();
      await page.locator('#account-key').fill(key);
      await page.keyboard.press('Enter');

      await page.locator('#limits .account-card', { hasText: 'listing' }).locator('.badge.near').waitFor(PATIENCE);
      await page.locator('#requests summary', { hasText: 'validation_failed' }).first().click();
      await page.locator('.stage.refused', { hasText: 'validate' }).first().waitFor(PATIENCE);
      assert.match(
        (await page.locator('#requests details[open] .explanation').textContent()) ?? '',
        /What to do: Correct limit: it must be at most/,
      );
      await page.locator('.usage-legend', { hasText: 'List customers' }).waitFor(PATIENCE);
      await takeScreenshot(page, `account-round-${colorScheme}-${width}`);

      await page.locator('#keys button', { hasText: 'Create a key' }).click();
      await page.locator('#key-name').fill('Reports');
      await page.locator('.scope-choice', { hasText: 'customers:read' }).click();
      await press('Continue');
      await press('Create the key');
      const made = (await page.locator('#account-secret').textContent(PATIENCE)) ?? '';
      assert.match((await dialog.textContent()) ?? '', /In force on the gateway after \d+ ms/);
      assert.equal(await call(made, '/v1/customers'), 200);
      assert.equal(await call(made, '/v1/jobs'), 403);
      await press('I have stored it');

      const card = page.locator('#keys .account-card', { hasText: 'Reports' }).first();
      await card.locator('button', { hasText: 'Rotate' }).click();
      await page.locator('#key-overlap').selectOption('3600');
      await press('Continue');
      await press('Rotate the key');
      const next = (await page.locator('#account-secret').textContent(PATIENCE)) ?? '';
      assert.notEqual(next, made);
      for (const one of [made, next]) assert.equal(await call(one, '/v1/customers/cus_0000000000000000'), 404);
      await press('I have stored it');

      const successor = page.locator('#keys .account-card', { hasText: next.slice(-4) }).first();
      await successor.locator('button', { hasText: 'Revoke' }).click();
      await page.locator('#key-reason').fill('Not needed');
      await press('Continue');
      await press('Revoke the key');
      await dialog.locator('h2', { hasText: 'The key is revoked' }).waitFor(PATIENCE);
      assert.equal(await call(next, '/v1/customers'), 401);
      await press('Close');
      await page.locator('#keys summary', { hasText: 'Revoked and expired (1)' }).waitFor(PATIENCE);
      await takeScreenshot(page, `account-round-end-${colorScheme}-${width}`);
      assert.deepEqual(await findBarriers(page, DEGREES), []);
      assert.deepEqual([complaints, foreign], [[], []]);
      await page.context().close();
    });
  }

  it('say what a revoked key gets, and show a key without the scope its own requests', async () => {
    const { key: all } = await gateway.issueKey({ organization: 'org_round_1440', scopes: ['*'] });
    const { key: dead, id } = await gateway.issueKey({ organization: 'org_round_1440', scopes: ['gateway:read'] });
    await gateway.store.keys.revoke(id, 'test', 'a reason');
    const { page } = await openPage(browser, `${gateway.url}/docs/account`);
    await page.locator('#account-key').fill(dead);
    await page.keyboard.press('Enter');
    await page.locator('.account-advice', { hasText: 'This key is not accepted.' }).waitFor(PATIENCE);
    assert.match((await page.locator('.account-advice').textContent()) ?? '', /Request id req_/);
    assert.equal(await call(all, '/v1/jobs?limit=500'), 400);
    await page.locator('#account-key').fill(all);
    await page.keyboard.press('Enter');
    await page.locator('#account-name', { hasText: 'Requests of this key' }).waitFor(PATIENCE);
    await page.locator('#requests summary', { hasText: 'validation_failed' }).first().click();
    await page.locator('.stage.refused', { hasText: 'validate' }).first().waitFor(PATIENCE);
    assert.equal(await page.locator('#limits').count(), 0);
    await takeScreenshot(page, 'account-own-requests');
    await page.evaluate('location.hash = "request=req_of_no_operation"');
    const unknown = page.locator('#request .account-advice', { hasText: 'Its path or its key was not accepted' });
    await unknown.waitFor(PATIENCE);
    assert.match((await unknown.textContent()) ?? '', /Request id req_of_no_operation$/);
    await page.locator('.account-head button', { hasText: 'Refresh' }).click();
    await page.locator('#account-status', { hasText: 'up to date' }).waitFor(PATIENCE);
    assert.deepEqual(await page.locator('#requests summary strong').allTextContents(), ['validation_failed']);
    await takeScreenshot(page, 'account-unknown-request');
    await page.context().close();
  });
});
