// The page "Your account" is there while the gateway answers its own contract at the address of the pages, and has data of no organization.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { OWN_ENTRY } from '../../support/administration.ts';
import { closesAfterAll } from '../../support/closing.ts';
import { startGateway } from '../../support/gateway.ts';

const start = closesAfterAll();
const files = { files: { contracts: ['files.yaml'], live: 'sandbox:files', test: 'sandbox:files' } };

const get = async (url: string, accept = 'text/html') => {
  const answer = await fetch(url, { headers: { accept } });
  return { status: answer.status, headers: answer.headers, text: await answer.text() };
};

describe('with an entry whose target is the gateway', async () => {
  const { url } = await start(startGateway({ upstreams: { ...OWN_ENTRY, ...files } }));
  const page = await get(`${url}/docs/account`);

  it('every page links the account', async () => {
    for (const path of ['/docs', '/docs/errors', '/docs/reference'])
      assert.match((await get(url + path)).text, /<a href="\/docs\/account">Your account<\/a>/, path);
    assert.match(page.text, /<a href="\/docs\/account" aria-current="true">Your account<\/a>/);
  });

  it('the first page has what clients may use, and folds what only operators may use', async () => {
    const { text } = await get(`${url}/docs`);
    const [, resources = ''] = text.split(/id="resources"|id="more"/);
    const namesIn = (html: string) => [...html.matchAll(/class="group-name"[^>]*>([\w -]+)</g)].map(([, name]) => name);
    assert.deepEqual(namesIn(resources), ['files', 'account', 'keys', 'requests']);
    assert.match(text, /href="\/docs\/reference">Browse the reference</);
    const { text: reference } = await get(`${url}/docs/reference/gateway`);
    for (const name of ['organizations', 'organization keys', 'operation'])
      assert.ok(namesIn(reference).includes(name), name);
  });

  it('the page has the policy of all pages, and no script or style within', () => {
    assert.equal(page.status, 200);
    assert.match(
      page.headers.get('content-security-policy') ?? '',
      /^default-src 'none'; script-src 'self'; style-src/,
    );
    assert.doesNotMatch(page.text, /<style|\sstyle=|\son[a-z]+=|<script(?! src=)|javascript:/);
    assert.ok(Buffer.byteLength(page.text) < 8000, 'the first view is small');
  });

  it('the field for the key has no name and no value, and no browser is to remember it', () => {
    const [field = ''] = /<input id="account-key"[^>]*>/.exec(page.text) ?? [];
    assert.match(field, /type="password" autocomplete="off"/);
    assert.doesNotMatch(field, / (name|value)=/);
  });

  it('it says where the first key comes from', async () => {
    assert.match(page.text, /No key yet\? The operator of this API makes your first key\./);
    const portal = { contact: 'help@example.com' };
    const helped = await start(startGateway({ gateway: { portal }, upstreams: OWN_ENTRY }));
    const { text } = await get(`${helped.url}/docs/account`);
    const words = 'The operator of this API makes your first key: <a href="mailto:help@example.com">ask for it</a>.';
    assert.ok(text.includes(`No key yet? ${words}`));
    for (const path of ['/docs', '/docs/guides/quickstart', '/docs/guides/authentication'])
      assert.ok((await get(helped.url + path)).text.includes(`${words} With a live key that has the scopes`), path);
  });

  it('every script and style that the page needs is served', async () => {
    const seen = new Set<string>();
    const visit = async (path: string): Promise<void> => {
      if (seen.has(path)) return;
      seen.add(path);
      const { status, text } = await get(url + path);
      assert.equal(status, 200, path);
      const folder = path.slice(0, path.lastIndexOf('/'));
      for (const [, name = ''] of text.matchAll(/ from '\.\/([\w-]+\.js)'/g)) await visit(`${folder}/${name}`);
    };
    for (const [, path = ''] of page.text.matchAll(/(?:src|href)="(\/docs\/assets\/[^"]+)"/g)) await visit(path);
    for (const name of ['account.css', 'account.js', 'account-api.js', 'page-tools.js'])
      assert.ok(
        [...seen].some((path) => path.endsWith(`/${name}`)),
        name,
      );
  });

  it('it knows the scopes of the contracts, and its Markdown the operations', async () => {
    const [, scopes = ''] = /data-scopes="([^"]*)"/.exec(page.text) ?? [];
    for (const scope of ['gateway:read', 'gateway:keys']) assert.ok(scopes.split(' ').includes(scope), scope);
    const { text } = await get(`${url}/docs/account.md`);
    for (const line of [
      '`GET /gateway/v1/limits`',
      '`POST /gateway/v1/keys`',
      '`POST /gateway/v1/keys/{key_id}/revoke`',
    ])
      assert.ok(text.includes(line), line);
    for (const [, path = ''] of text.matchAll(/\]\((\/docs[^)]*)\)/g))
      assert.equal((await get(url + path)).status, 200);
  });

  it('search and llms.txt find it', async () => {
    assert.match((await get(`${url}/docs/search.json`)).text, /"Your account","\/docs\/account"/);
    assert.match((await get(`${url}/llms.txt`)).text, /\/docs\/account\.md\)/);
  });
});

it('without the entry there is neither link nor page', async () => {
  const { url } = await start(startGateway({ upstreams: files }));
  assert.doesNotMatch((await get(`${url}/docs`)).text, /account/);
  assert.equal((await get(`${url}/docs/account`)).status, 404);
  assert.doesNotMatch((await get(`${url}/docs/search.json`)).text, /\/docs\/account/);
});

it('an entry on another host has no page, because pages may ask their own address only', async () => {
  const { gateway } = OWN_ENTRY;
  const { url } = await start(
    startGateway({
      upstreams: { gateway: { ...gateway, hosts: ['mail'] }, ...files },
      gateway: { hosts: { api: '127.0.0.1', mail: 'mail.example.com' } },
    }),
  );
  assert.doesNotMatch((await get(`${url}/docs`)).text, /\/docs\/account/);
  assert.equal((await get(`${url}/docs/account`)).status, 404);
});
