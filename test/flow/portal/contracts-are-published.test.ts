// The contracts as clients fetch them: by any page of any origin, with conditions, and anew after a reload.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import supertest from 'supertest';
import { parse } from 'yaml';
import { startGateway, type TestGateway } from '../../support/gateway.ts';

const documentOf = (...ids: string[]) => ({
  openapi: '3.1.0',
  info: { title: 'Things', version: '1' },
  paths: Object.fromEntries(
    ids.map((id) => [`/${id}`, { get: { operationId: id, responses: { '200': { description: 'Done.' } } } }]),
  ),
});

interface PublishedGet {
  readonly deprecated?: boolean;
  readonly security: unknown;
  readonly 'x-security-scopes'?: unknown;
}

interface Published {
  readonly paths: Record<string, { readonly get: PublishedGet }>;
}

describe('published contracts', () => {
  let gateway: TestGateway;
  const get = (path: string) => supertest(gateway.url).get(path);
  before(async () => {
    gateway = await startGateway({
      gateway: {
        cors: { '*': { origins: ['https://app.example.com'], credentials: true } },
        operations: { old: { deprecated: '2026-01-01' } },
        portal: {
          title: 'Acme API',
          logo: 'logo.svg',
          colours: { light: '#7a1fa2' },
          guides: 'guides',
          builtInGuides: ['rate-limits'],
        },
      },
      files: {
        'logo.svg': '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>',
        'guides/welcome.md':
          '---\nsummary: How to begin.\nupdated: 2026-02-03\n---\n# Welcome to Acme\n\nSee [errors](errors.md).\n',
        'guides/errors.md': '# Our errors\n\nAsk Acme.\n',
      },
      contracts: { 'things.json': documentOf('old'), 'later.json': documentOf('later') },
      upstreams: {
        things: {
          contracts: ['things.json'],
          basePath: '/v1',
          live: 'http://127.0.0.1:1',
          security: { apiKey: ['things:read'] },
        },
        others: { contracts: ['later.json'], live: 'http://127.0.0.1:1', public: true },
      },
    });
  });
  after(() => gateway?.stop());

  it('may be read by pages of any origin, without credentials', async () => {
    for (const origin of ['https://app.example.com', 'https://elsewhere.example.net']) {
      const { headers } = await get('/openapi/v1.json')
        .set('Origin', origin)
        .expect(200)
        .expect('access-control-allow-origin', '*')
        .expect('cross-origin-resource-policy', 'cross-origin')
        .expect('content-security-policy', /^default-src 'none'/);
      assert.equal(headers['access-control-allow-credentials'], undefined);
    }
  });

  it('are the same as JSON and as YAML, each with its media type, and answer HEAD', async () => {
    const json = await get('/openapi/v1.json').expect('content-type', 'application/json');
    const yaml = await get('/openapi/v1.yaml').expect('content-type', 'application/yaml').buffer();
    const document = json.body as Published;
    assert.deepEqual(parse(yaml.text), document);
    assert.equal(document.paths['/v1/old']?.get.deprecated, true);
    assert.deepEqual(document.paths['/v1/old']?.get.security, [{ apiKey: [] }]);
    assert.deepEqual(document.paths['/v1/old']?.get['x-security-scopes'], [{ apiKey: ['things:read'] }]);
    const head = await supertest(gateway.url).head('/openapi/v1.yaml').expect(200);
    assert.equal(head.text, undefined);
  });

  it('of upstreams without a version are called by their upstream', async () => {
    const document: Published = (await get('/openapi/others.json')).body;
    assert.deepEqual(Object.keys(document.paths), ['/later']);
    assert.deepEqual(document.paths['/later']?.get.security, []);
  });

  it('change with the configuration, and their ETag does too', async () => {
    const { headers } = await get('/openapi/v1.json');
    writeFileSync(join(gateway.directory, 'openapi/things.json'), JSON.stringify(documentOf('old', 'added')));
    await gateway.app.reload();
    const now = await get('/openapi/v1.json').set('If-None-Match', String(headers.etag)).expect(200);
    assert.deepEqual(Object.keys(now.body.paths), ['/v1/old', '/v1/added']);
    await get('/docs/reference/v1').expect(/\/v1\/added/);
  });

  it('have the title, the colours, the logo and the guides of the configuration around them', async () => {
    const { text } = await get('/docs')
      .expect(/<title>Acme API<\/title>/)
      .expect(/<img class="logo" src="\/docs\/assets\/[\w-]{16}\/logo"/);
    assert.deepEqual(
      [...new Set([...text.matchAll(/href="\/docs\/guides\/([\w-]+)"/g)].map(([, name]) => name))],
      ['rate-limits', 'errors', 'welcome'],
    );
    await get('/docs/guides/welcome')
      .expect(/<h1>Welcome to Acme<\/h1>/)
      .expect(/href="\/docs\/guides\/errors"/)
      .expect(/Last updated <time datetime="2026-02-03T00:00:00.000Z">3 February 2026</);
    await get('/docs/guides/authentication').expect(404);
    await get('/docs/assets/theme.css').expect(/--accent: light-dark\(#7a1fa2, /);
    // A logo that is opened by itself runs nothing.
    await get('/docs/assets/logo')
      .expect('content-type', 'image/svg+xml')
      .expect('content-security-policy', /default-src 'none'/);
    await get('/openapi/v1.json').expect(({ body }) => assert.equal(body.info.title, 'Things'));
  });

  it('have new guides after a reload', async () => {
    writeFileSync(join(gateway.directory, 'config/guides/added.md'), '# Added\n');
    writeFileSync(join(gateway.directory, 'config/guides/errors.md'), '# Our errors\n\nAsk Acme again.\n');
    await gateway.app.reload();
    await get('/docs/guides/added').expect(200, /<h1>Added<\/h1>/);
    await get('/docs/guides/errors.md').expect(200, /Ask Acme again/);
  });
});
