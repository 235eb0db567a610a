// The document of a service is found from the page that shows it.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { fetchDocument } from '../../../../gateway/commands/init/fetch-document.ts';

const document = { openapi: '3.1.0', info: { title: 'A "{" title', version: '1' }, paths: {} };
const text = JSON.stringify(document, null, 2);
let files: Readonly<Record<string, string>> = {};

const server = createServer(({ url = '' }, response) => {
  const found = files[url];
  if (found === '->') response.writeHead(301, { location: `${url}/` }).end();
  else response.writeHead(found === undefined ? 404 : 200, { 'content-type': 'text/html' }).end(found);
}).listen(0, '127.0.0.1');
await once(server, 'listening');
const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
after(() => server.close());

/** The pages of tools, each with the files that it loads. The first file is the page. */
const PAGES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'swagger-ui-express': {
    '/docs': '->',
    '/docs/': '<script src="./swagger-ui-bundle.js"> </script><script src="./swagger-ui-init.js"> </script>',
    '/docs/swagger-ui-init.js': `window.onload = function() {\n var options = {\n  "swaggerDoc": ${text},\n  "customOptions": {}\n};`,
  },
  'swagger-ui with an initializer': {
    '/ui/': '<script src="./swagger-initializer.js" charset="UTF-8"></script>',
    '/ui/swagger-initializer.js':
      'SwaggerUIBundle({ url: "https://petstore.swagger.io/v2/swagger.json", configUrl: "/spec/config" })',
    '/spec/config': '{"urls":[{"url":"/spec/a.json","name":"a"}]}',
    '/spec/a.json': text,
  },
  FastAPI: {
    '/help': "const ui = SwaggerUIBundle({ url: '/inner/openapi.json', dom_id: '#ui' })",
    '/inner/openapi.json': text,
  },
  Redoc: { '/redoc/': '<redoc spec-url="../inner.yaml"></redoc>', '/inner.yaml': 'openapi: 3.1.0\npaths: {}\n' },
  'a page of Redoc': { '/page': `<script>const __redoc_state = {"menu":{"a":1},"spec":{"data":${text}}};</script>` },
  Scalar: { '/reference': '<script id="api-reference" data-url="/inner.json"></script>', '/inner.json': text },
  'Scalar with its document': { '/reference': `<script id="api-reference" type="application/json">${text}</script>` },
  'Scalar with a configuration': {
    '/reference': '<script data-configuration="{&quot;url&quot;:&quot;/inner.json&quot;}"></script>',
    '/inner.json': text,
  },
  'Stoplight Elements': { '/el': '<elements-api apiDescriptionUrl="/inner.json" router="hash"/>', '/inner.json': text },
};

for (const [name, page] of Object.entries(PAGES)) {
  test(`${name}: from the page, and from the address of the service if the page is at a usual path`, async () => {
    files = page;
    const [first = ''] = Object.keys(page);
    const { root, url } = await fetchDocument(origin + first);
    assert.equal(root.openapi, '3.1.0');
    assert.equal(url?.origin, origin);
    if (first === '/docs') assert.deepEqual((await fetchDocument(origin)).root, document);
  });
}

test('a page that leads nowhere, and one that leads to itself, are no document', async () => {
  files = { '/loop': '<redoc spec-url="/other"></redoc>', '/other': '<redoc spec-url="/loop"></redoc>' };
  await assert.rejects(fetchDocument(`${origin}/loop`), /has no OpenAPI document \(status 200, .*, "<redoc /);
});

test('a document with a mistake in its form gets the message of check, from a URL and from a file', async () => {
  const broken = 'openapi: 3.1.0\ninfo:\n  title: A: B\npaths: {}\n';
  files = { '/openapi.yaml': broken, '/openapi.json': '{\n  "openapi": "3.1.0",\n  "info": { "title" }}\n  ]' };
  const remedy = /:3:\d+: the text has a colon with a space after it.* Write it in quotes/;
  await assert.rejects(fetchDocument(`${origin}/openapi.yaml`), remedy);
  await assert.rejects(fetchDocument(`${origin}/openapi.json`), /openapi\.json:\d+:\d+: /);
  const file = join(mkdtempSync(join(tmpdir(), 'document-')), 'openapi.yaml');
  writeFileSync(file, broken);
  await assert.rejects(fetchDocument(file), remedy);
  rmSync(dirname(file), { recursive: true });
});
