// Each resource has a page: its operations, and the object that they return, with an example. It is led to from everywhere.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startGateway, type TestGateway } from '../../support/gateway.ts';

const record = { type: 'object', properties: { id: { type: 'string' }, size: { type: 'integer' } } };
const json = (schema: object, more: object = {}) => ({
  '200': { description: 'Done.', content: { 'application/json': { schema, ...more } } },
});
const ref = { $ref: '#/components/schemas/Box<b>' };
const listed = { type: 'object', properties: { boxes: { type: 'array', items: ref }, next: { type: 'string' } } };
const envelope = { type: 'object', properties: { data: ref } };

/** Lists and envelopes of one object; a tag that is called like an operation; a resource that returns nothing. */
const boxes = {
  openapi: '3.1.0',
  info: { title: 'Boxes', version: '1' },
  tags: [{ name: 'boxes', description: 'Things to put things in.' }],
  components: { schemas: { 'Box<b>': record } },
  paths: {
    '/v1/boxes': {
      get: { operationId: 'boxes', summary: 'List boxes', tags: ['boxes'], responses: json(listed) },
      post: { operationId: 'makeBox', tags: ['boxes'], responses: json(envelope) },
    },
    '/v1/boxes/{id}': {
      get: {
        ...{ operationId: 'getBox', tags: ['boxes'], responses: json(ref, { example: { id: 'b_1', size: 7 } }) },
        parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }],
      },
    },
    '/v1/pings': { post: { operationId: 'ping', tags: ['pings'], responses: { '204': { description: 'Done.' } } } },
  },
};

describe('the page of a resource', () => {
  let gateway: TestGateway;
  const read = async (path: string) => (await fetch(gateway.url + path)).text();
  before(async () => {
    const upstreams = { boxes: { contracts: ['boxes.json'], live: 'http://127.0.0.1:9', public: true } };
    gateway = await startGateway({ contracts: { 'boxes.json': boxes }, upstreams });
  });
  after(() => gateway?.stop());

  it('has the object of lists, envelopes and single responses, with its example', async () => {
    const html = await read('/docs/reference/v1/boxes-2');
    assert.match(html, /<h1><span class="group-name">boxes<\/span><\/h1>/);
    assert.match(html, /Things to put things in\./);
    assert.match(html, /<h2 id="object">The Box&lt;b&gt; object<\/h2>/);
    assert.match(html, /<code>size<\/code><\/a>\s*<span class="type">integer/);
    assert.match(html, /b_1/);
    assert.doesNotMatch(html, /<code>(boxes|data|next)<\/code><\/a>/);
    for (const id of ['boxes', 'makeBox', 'getBox']) assert.ok(html.includes(`href="/docs/reference/v1/${id}"`), id);
  });

  it('has operations alone where they return no object', async () => {
    const html = await read('/docs/reference/v1/pings');
    assert.match(html, /href="\/docs\/reference\/v1\/ping"/);
    assert.doesNotMatch(html, /id="object"/);
  });

  it('leaves an operation of the same name its address', async () => {
    assert.match(await read('/docs/reference/v1/boxes'), /<h1>List boxes<\/h1>/);
  });

  it('is led to from its operations, their links, the contract, the first page, the search and llms.txt', async () => {
    for (const path of ['/docs/reference/v1/getBox', '/docs/reference/v1', '/docs', '/docs/reference/v1/pings'])
      assert.ok((await read(path)).includes('href="/docs/reference/v1/boxes-2"'), path);
    assert.match(await read('/docs/reference/v1/getBox'), /class="crumbs">.*href="\/docs\/reference\/v1\/boxes-2"/);
    assert.match(await read('/docs/search.json'), /\["Resource","Boxes","\/docs\/reference\/v1\/boxes-2"/);
    assert.match(await read('/llms.txt'), /\/docs\/reference\/v1\/boxes-2\.md/);
    assert.match(await read('/docs/reference/v1.md'), /\/docs\/reference\/v1\/boxes-2\.md/);
  });

  it('is there as Markdown', async () => {
    const text = await read('/docs/reference/v1/boxes-2.md');
    assert.match(text, /^# Boxes\n\nThings to put things in\.\n\n- \[List boxes\]/);
    assert.match(text, /## The Box<b> object\n/);
    assert.match(text, /- `size` \(integer\)/);
    assert.match(text, /"id": "b_1"/);
  });
});
