// Webhooks of a document and callbacks of its operations are for clients: they are published and documented.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { after, before, describe, it } from 'node:test';
import { freePort } from '../../support/free-port.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { eventually } from '../../support/instances.ts';

// The script of the pages has no types.
const script = new URL('../../../gateway/portal/assets/search-rank.js', import.meta.url).href;
const { found, toSearched } = (await import(script)) as {
  found(entries: readonly object[], text: string): { readonly kind: string; readonly title: string }[];
  toSearched(entry: readonly string[]): object;
};

const MARKUP = '<img src=x onerror=alert(1)>';
const ok = { 200: { description: 'fine' } };
const body = (name: string) => ({
  required: true,
  description: `What ${name} says.`,
  content: { 'application/json': { schema: { $ref: `#/components/schemas/${name}` } } },
});
const sent = (operationId: string, name: string, members: object = {}) => ({
  post: {
    operationId,
    summary: `Tells of ${name}`,
    description: `Sent for ${name}.`,
    requestBody: body(name),
    responses: ok,
    ...members,
  },
});
const schema = (member: string) => ({ type: 'object', properties: { [member]: { type: 'string', examples: ['it'] } } });
const documentOf = (path: string, schemas: object, members: object, operation: object = {}) => ({
  openapi: '3.1.0',
  info: { title: `Of ${path}`, version: '1' },
  security: [{ apiKey: ['things:read'] }],
  paths: { [path]: { post: { operationId: `add_${path.slice(4)}`, summary: 'Add', responses: ok, ...operation } } },
  components: { securitySchemes: { apiKey: { type: 'http', scheme: 'bearer' } }, schemas },
  ...members,
});

const things = documentOf(
  '/v1/things',
  { Thing: schema('thing_name'), Done: schema('done_at'), Unused: schema('unused') },
  {
    webhooks: {
      thingMade: sent('hook', 'Thing', {
        security: [{ hookKey: [] }],
        parameters: [{ name: 'X-Signature', in: 'header', description: 'Of the body.', schema: { type: 'string' } }],
        servers: [{ url: 'https://internal.example' }],
        'x-gateway-cost': 1,
      }),
      shared: sent('other', 'Thing'),
      [`bad${MARKUP}`]: { get: { summary: MARKUP, description: MARKUP, responses: ok } },
      elsewhere: { $ref: '/etc/hooks.json' },
    },
  },
  {
    callbacks: {
      finished: { '{$request.body#/url}': sent('tell', 'Done') },
      [`evil${MARKUP}`]: { [MARKUP]: { put: { responses: ok } } },
    },
  },
);
const others = documentOf(
  '/v1/others',
  { Thing: schema('other_name') },
  { webhooks: { shared: sent('hook', 'Thing') } },
);

describe('what services send to clients', () => {
  let gateway: TestGateway;
  before(async () => {
    gateway = await startGateway({
      contracts: { 'things.json': things, 'others.json': others },
      upstreams: { things: { contracts: ['things.json', 'others.json'], live: 'http://127.0.0.1:9' } },
    });
  });
  after(() => gateway.stop());
  const textAt = async (path: string) => {
    const answer = await fetch(gateway.url + path);
    assert.equal(answer.status, 200, path);
    return answer.text();
  };

  it('is published with its schemas, under names of its own, without the credentials of the service', async () => {
    const { webhooks, components, paths } = JSON.parse(await textAt('/openapi/v1.json'));
    assert.deepEqual(Object.keys(webhooks), ['thingMade', 'shared', `bad${MARKUP}`, 'others_shared']);
    const { post } = webhooks.thingMade;
    assert.deepEqual(Object.keys(post), [
      ...['operationId', 'summary', 'description', 'requestBody', 'responses', 'parameters'],
    ]);
    const schemaOf = (name: string) => {
      const { $ref } = webhooks[name].post.requestBody.content['application/json'].schema;
      return Object.keys(components.schemas[$ref.split('/').at(-1)].properties)[0];
    };
    assert.deepEqual(['thingMade', 'shared', 'others_shared'].map(schemaOf), [
      'thing_name',
      'thing_name',
      'other_name',
    ]);
    assert.equal(components.schemas.Unused, undefined);
    const items = [...Object.values(paths), ...Object.values(webhooks)] as Record<string, { operationId?: string }>[];
    const ids = items.flatMap((item) => Object.values(item).flatMap(({ operationId }) => operationId ?? []));
    assert.equal(new Set(ids).size, ids.length, 'each name of an operation is there once');
    assert.ok(paths['/v1/things'].post.callbacks.finished);
  });

  it('has its place in the documentation: webhooks at the contract, callbacks at the operation', async () => {
    const overview = await textAt('/docs/reference/v1');
    for (const text of ['Webhooks', 'thingMade', 'Tells of Thing']) assert.ok(overview.includes(text), text);
    const webhook = '/docs/reference/v1/webhook-thingMade';
    const sentPage = await textAt(webhook);
    for (const text of ['thingMade', 'Tells of Thing', 'thing_name', 'Payload', 'Your answer'])
      assert.ok(sentPage.includes(text), text);
    assert.match(sentPage, /<pre[^>]*>[\s\S]*thing_name[\s\S]*<\/pre>/, 'an example of the payload');
    for (const html of [overview, sentPage])
      assert.match(
        html,
        new RegExp(`<summary><span class="group-name">Webhooks</span></summary><ul><li><a href="${webhook}"`),
      );
    const [, page = ''] = /href="(\/docs\/reference\/v1\/[^"]*add[^"]*thing[^"]*)"/.exec(overview) ?? [];
    const operation = await textAt(page);
    for (const text of ['Callbacks', 'finished', '{$request.body#/url}', 'Sent for Done.', 'done_at'])
      assert.ok(operation.includes(text), text);
    for (const html of [overview, operation, sentPage]) assert.ok(!html.includes('<img src=x'), 'markup is text');
    const markdown = [await textAt('/docs/reference/v1.md'), await textAt(`${page}.md`)];
    assert.match(markdown[0] ?? '', /## Webhooks[\s\S]*\[thingMade\]\(\/docs\/reference\/v1\/webhook-thingMade\.md\)/);
    assert.match(await textAt(`${webhook}.md`), /^# thingMade\n\nTells of Thing[\s\S]*## Payload[\s\S]*thing_name/);
    assert.match(markdown[1] ?? '', /## Callbacks[\s\S]*`POST {\$request.body#\/url}` finished[\s\S]*done_at/);
  });

  it('is received by the samples of its page', async () => {
    const markdown = await textAt('/docs/reference/v1/webhook-thingMade.md');
    for (const [command, fence] of [
      [[process.execPath, '--input-type=module', '-e'], 'js'],
      [['python3', '-u', '-c'], 'python'],
    ] as const) {
      const [, sample = ''] = new RegExp(`\`\`\`${fence}\n([^]*?)\n\`\`\``).exec(markdown) ?? [];
      assert.match(sample, /(?:#|\/\/) Check that X-Signature fits the body\./);
      const port = await freePort();
      const [program, ...options] = command;
      const child = spawn(program, [...options, sample.replace('3000', String(port))], { stdio: 'pipe' });
      try {
        let printed = '';
        child.stdout.on('data', (chunk: Buffer) => {
          printed += chunk;
        });
        const post = async (text: string) =>
          (await fetch(`http://127.0.0.1:${port}`, { method: 'POST', body: text })).status;
        await eventually(() =>
          post('{').then(
            (status) => status === 400,
            () => false,
          ),
        );
        assert.equal(await post('{"thing_name":"it"}'), 200);
        await eventually(async () => /thing_name.*it/.test(printed));
      } finally {
        child.kill('SIGKILL');
      }
    }
  });

  it('is linked on the first page, and near its address', async () => {
    assert.match(await textAt('/docs'), /<a href="\/docs\/reference\/v1#webhooks">Webhooks<\/a>/);
    const missed = await fetch(`${gateway.url}/docs/reference/v1/thingMade`, { headers: { accept: 'text/html' } });
    assert.equal(missed.status, 404);
    assert.match(await missed.text(), /href="\/docs\/reference\/v1\/webhook-thingMade"/);
  });

  it('is found by its kind, and by its kind and name', async () => {
    const { entries } = JSON.parse(await textAt('/docs/search.json')) as { entries: string[][] };
    const titles = (text: string) => found(entries.map(toSearched), text).map(({ kind, title }) => `${kind} ${title}`);
    for (const text of ['webhook', 'webhooks', 'events']) assert.ok(titles(text).includes('Webhook thingMade'), text);
    assert.equal(titles('webhook')[0]?.split(' ')[0], 'Webhook');
    assert.equal(titles('thingMade webhook')[0], 'Webhook thingMade');
    assert.ok(titles('thng made').includes('Webhook thingMade'), 'a slip, in words');
  });
});
