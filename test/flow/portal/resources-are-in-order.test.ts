// Resources stand in the groups that the contracts name by `x-tagGroups`, in every list of the documentation; those of the gateway itself
// come after those of services.

import assert from 'node:assert/strict';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { OWN_ENTRY } from '../../support/administration.ts';
import { closesAfterAll } from '../../support/closing.ts';
import { shippedContracts, startGateway } from '../../support/gateway.ts';

const start = closesAfterAll();

const documentOf = (tags: readonly string[], tagGroups: unknown) => ({
  openapi: '3.1.0',
  info: { title: 'Things', version: '1' },
  tags: tags.map((name) => ({ name, description: `About ${name}.` })),
  'x-tagGroups': tagGroups,
  paths: Object.fromEntries(
    tags.map((tag) => [
      `/v1/${tag}`,
      { get: { operationId: `get-${tag}`, tags: [tag], responses: { '200': { description: 'Done.' } } } },
    ]),
  ),
});

async function landingOf(contracts: Record<string, object>): Promise<{ landing: string; reference: string }> {
  const upstreams = { things: { contracts: Object.keys(contracts), live: 'http://127.0.0.1:1', public: true } };
  const { url } = await start(startGateway({ contracts, upstreams }));
  const read = async (path: string) => (await fetch(url + path)).text();
  return { landing: await read('/docs'), reference: await read('/docs/reference/v1') };
}

const namesIn = (html: string) =>
  [...html.matchAll(/(?:<h4>|<strong class="group-name">)([\w <&;-]+?)<\//g)].map(([, name]) => name);

describe('the groups of resources', () => {
  it('are joined over all documents, in the order of their first resource', async () => {
    const { landing, reference } = await landingOf({
      'a.json': documentOf(
        ['jobs', 'invoices'],
        [
          { name: 'Work', tags: ['jobs'] },
          { name: 'Money & <more>', tags: ['invoices'] },
        ],
      ),
      'b.json': documentOf(['files', 'bookings'], [{ name: 'Work', tags: ['bookings'] }]),
    });
    const [, resources = ''] = landing.split('id="resources"');
    assert.deepEqual(namesIn(resources.split('id="more"')[0] ?? ''), [
      ...['Work', 'jobs', 'bookings', 'Money &amp; &lt;more&gt;', 'invoices', 'files'],
    ]);
    const order = [...reference.matchAll(/<h2 id="group-([\w-]+)"/g)].map(([, id]) => id);
    assert.deepEqual(order, ['jobs', 'bookings', 'invoices', 'files']);
  });

  it('may be anything: what is no group is left out', async () => {
    for (const odd of ['Work', { name: 'Work' }, [null, 'Work', { tags: ['jobs'] }, { name: 'Work', tags: 'jobs' }]]) {
      const { landing } = await landingOf({ 'a.json': documentOf(['jobs'], odd) });
      assert.doesNotMatch(landing, /<h4>/, JSON.stringify(odd));
    }
  });
});

describe('a service beside the contract of the gateway', async () => {
  const operation = { operationId: 'listBooks', responses: { '200': { description: 'Done.' } } };
  const books = {
    openapi: '3.1.0',
    info: { title: 'Bookshelf', version: '1' },
    paths: { '/books': { get: operation } },
  };
  const { url } = await start(
    startGateway({
      contracts: { 'books.json': books },
      prepare: (directory) =>
        cpSync(join(shippedContracts, 'gateway'), join(directory, 'openapi/gateway'), { recursive: true }),
      upstreams: {
        ...OWN_ENTRY,
        books: {
          ...{ contracts: ['books.json'], live: 'http://127.0.0.1:1', test: 'examples:' },
          security: { apiKey: ['books:read'] },
        },
      },
    }),
  );
  const read = async (path: string) => (await fetch(url + path)).text();

  it('gives the documentation its name, once in each title', async () => {
    assert.match(await read('/docs'), /<h1>Bookshelf<\/h1>/);
    const reference = await read('/docs/reference/books');
    assert.match(reference, /<title>Bookshelf<\/title>/);
    assert.match(reference, /<h2 id="group-Operations">/);
  });

  it('comes first, and is what the first request and the guides show', async () => {
    assert.match(await read('/docs/reference.md'), /reference\/books\.md[\s\S]*reference\/gateway\.md/);
    assert.match(await read('/docs'), /id="first-title"[^>]*><a href="\/docs\/reference\/books\/listBooks">/);
    assert.match(await read('/docs/guides/quickstart.md'), /\$API_URL\/books"/);
  });
});
