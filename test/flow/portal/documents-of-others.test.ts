// The documentation of a third-party document alone: every line is about that document, whatever the document says is text, and its size
// does not matter.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import supertest from 'supertest';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { manyOperations } from '../../support/many-operations.ts';

const MARKUP = `<script>alert(1)</script><img src=x onerror=alert(1)>"'\`</textarea></code>`;
const MARKDOWN = `[a](javascript:alert(1)) [b](data:text/html,x) ![c](https://elsewhere.example/x.png) ${MARKUP}
<style>*{}</style>

- [ ] task

\`\`\`js" onclick="x
code
\`\`\`
`;

/** Schemas that refer to each other in every way: without bounds, each level would multiply them. */
function tangle(): Record<string, object> {
  const names = Array.from({ length: 30 }, (_, index) => `T${index}`);
  const refs = names.map((name) => ({ $ref: `#/components/schemas/${name}` }));
  return Object.fromEntries(
    names.map((name, index) => [
      name,
      index % 3 === 0
        ? { allOf: refs.filter((_, other) => other !== index && other % 3 !== 0), type: 'object' }
        : {
            type: 'object',
            properties: Object.fromEntries(names.map((other, number) => [`to ${other}`, refs[number]])),
            additionalProperties: { type: 'array', items: refs[0] },
          },
    ]),
  );
}

const hostile = {
  openapi: '3.1.0',
  info: { title: `Shop ${MARKUP}`, version: '1', description: MARKDOWN },
  tags: [{ name: `goods ${MARKUP}`, description: MARKDOWN }],
  paths: {
    '/goods': {
      get: {
        operationId: 'constructor',
        summary: `Summary ${MARKUP}`,
        description: MARKDOWN + '*a **b '.repeat(20_000),
        tags: [`goods ${MARKUP}`],
        parameters: [
          {
            name: `q${MARKUP}`,
            in: 'query',
            description: MARKDOWN,
            schema: { type: 'string', enum: [MARKUP, ...Array.from({ length: 500 }, (_, index) => `v${index}`)] },
          },
          { name: 'X-Shop', in: 'header', required: true, schema: { type: 'string' }, example: `h${MARKUP}` },
        ],
        responses: {
          '200': {
            description: MARKUP,
            headers: { 'X-Any': { description: MARKUP, schema: {} } },
            content: {
              'application/json': { schema: { $ref: '#/components/schemas/T1' }, example: { a: MARKUP, b: '\uE000' } },
            },
          },
        },
      },
      post: {
        operationId: 'make" onclick="x',
        requestBody: {
          content: {
            'application/json': {
              schema: { $ref: '#/components/schemas/T0' },
              example: { text: `'; rm -rf ${MARKUP}` },
            },
          },
        },
        responses: { default: { description: '' } },
      },
    },
    '/$(whoami)/{id}': {
      delete: {
        operationId: '../../portal.ts',
        parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' }, example: '$(rm -rf ~)`"' }],
        responses: { '204': { description: 'Gone.' } },
      },
    },
  },
  components: { schemas: tangle() },
};

describe('the documentation of a third-party document alone', () => {
  let gateway: TestGateway;
  const pages = new Map<string, supertest.Response>();
  const get = (path: string) => supertest(gateway.url).get(path);
  before(async () => {
    gateway = await startGateway({
      contracts: { 'shop.json': hostile },
      upstreams: {
        shop: { contracts: ['shop.json'], live: 'http://127.0.0.1:1', security: { apiKey: ['shop:read'] } },
      },
    });
    await visit('/docs');
  });
  after(() => gateway?.stop());

  async function visit(path: string): Promise<void> {
    if (pages.has(path)) return;
    const answer = await get(path);
    pages.set(path, answer);
    if (answer.type !== 'text/html') return;
    for (const [, link = ''] of answer.text.matchAll(/(?:href|src)="(\/[^"#]*)/g)) await visit(link);
  }

  const html = () => [...pages].filter(([, { type }]) => type === 'text/html');

  it('has a page for each operation and resource, and no link that leads nowhere', () => {
    for (const [path, { status }] of pages) assert.equal(status, 200, path);
    const own = [...pages.keys()].filter((path) => /^\/docs\/reference\/shop\/[\w-]+$/.test(path));
    assert.deepEqual(own.sort(), [
      '/docs/reference/shop/Other-operations',
      '/docs/reference/shop/constructor',
      '/docs/reference/shop/goods-script-alert-1-script-img-src-x-onerror-alert-1-textarea-code',
      '/docs/reference/shop/make-onclick-x',
      '/docs/reference/shop/portal-ts',
    ]);
  });

  it('shows markup as text, and links to no script', () => {
    for (const [path, { text }] of html()) {
      assert.doesNotMatch(
        text,
        /<script(?! src="\/docs)|<img|<style|\sstyle=|href="(?!\/|#)|<\/textarea>(?!<\/div>)/,
        path,
      );
      assert.doesNotMatch(text.replace(/"[^"]*"/g, ''), /<[^>]*\son[a-z]+\s*=/, path);
      assert.doesNotMatch(text, /undefined|\[object/, path);
    }
    assert.match(pages.get('/docs/reference/shop/constructor')?.text ?? '', /&lt;script&gt;/);
  });

  it('says nothing about another API', () => {
    for (const [path, { text }] of pages) {
      if (path.startsWith('/docs/errors') || path.startsWith('/docs/assets')) continue;
      assert.doesNotMatch(text, /customers|Platform API|\/v1\/|cursor/i, path);
    }
    assert.ok(!pages.has('/docs/guides/pagination') && !pages.has('/docs/guides/versioning'));
    assert.ok(pages.has('/docs/guides/authentication') && pages.has('/docs/guides/rate-limits'));
  });

  it('has samples that a shell, and every other language, reads as written', () => {
    const { text } = pages.get('/docs/reference/shop/portal-ts.md') as supertest.Response;
    assert.ok(text.includes('/%24%28whoami%29/%24%28rm%20-rf%20~%29%60%22'), text);
    const post = pages.get('/docs/reference/shop/make-onclick-x.md')?.text ?? '';
    assert.ok(post.includes(`'{\n  "text": "'\\''; rm -rf <script>`), post);
  });

  it('has pages of bounded size', () => {
    for (const [path, { text = '' }] of pages) assert.ok(text.length < 1_500_000, `${path}: ${text.length}`);
  });
});

describe('the documentation of 1,200 operations', () => {
  it('lists the operations of one group beside a page, and has one index', async () => {
    const gateway = await startGateway({
      contracts: { 'many.json': manyOperations(1200) },
      upstreams: { many: { contracts: ['many.json'], live: 'http://127.0.0.1:1', public: true } },
    });
    try {
      const page = await supertest(gateway.url).get('/docs/reference/many/operation777').expect(200);
      assert.ok(page.text.length < 60_000, String(page.text.length));
      assert.equal(page.text.match(/href="\/docs\/reference\/many\/operation\d+"/g)?.length, 10 + 2);
      const { body } = await supertest(gateway.url).get('/docs/search.json').expect(200);
      assert.equal(body.entries.filter(([kind]: string[]) => kind === 'Operation').length, 1200);
      const again = await supertest(gateway.url).get('/docs/reference/many/operation777').expect(200, page.text);
      assert.equal(again.headers.etag, page.headers.etag);
    } finally {
      await gateway.stop();
    }
  });
});
