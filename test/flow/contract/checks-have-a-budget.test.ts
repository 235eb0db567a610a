// All checks of one request share a budget of steps. Each request here has a few hundred bytes, or a long text, and would take minutes
// without it: it is refused, and the process goes on.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { type FakeUpstream, startUpstream } from '../../support/upstream.ts';

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const kinds = ['a', 'b', 'c'];
const branch = (kind: string, child: object) => ({ required: ['kind'], properties: { kind: { const: kind }, child } });

/** A tree whose nodes are of several kinds. */
const tree = { type: 'object', anyOf: kinds.map((kind) => branch(kind, ref('Tree'))) };
/** The same by a dynamic reference: there is a second anchor of this name, so that the way to a value decides where it leads. */
const dynamicTree = {
  $id: 'https://example.com/tree',
  $dynamicAnchor: 'node',
  type: 'object',
  anyOf: kinds.map((kind) => branch(kind, { $dynamicRef: '#node' })),
};
/** Each of thirty schemas refers to the next twice. */
const doubling = Object.fromEntries(
  Array.from({ length: 30 }, (_, at) => [
    `Doubling${at}`,
    at === 29 ? { required: ['x'] } : { anyOf: [ref(`Doubling${at + 1}`), { allOf: [ref(`Doubling${at + 1}`)] }] },
  ]),
);
const nested = (depth: number): object => (depth === 0 ? { kind: 'z' } : { kind: 'c', child: nested(depth - 1) });
const random = (length: number) => {
  let state = 1;
  const next = () => {
    state = (state * 48_271) % 2_147_483_647;
    return state % 2 === 0 ? 'a' : 'b';
  };
  return Array.from({ length }, next).join('');
};

const json = (schema: object) => ({ 'application/json': { schema } });
const answers = { responses: { 200: { description: 'Done.', content: json({}) } } };
const takes = (content: object) => ({ post: { requestBody: { required: true, content }, ...answers } });
const inField = (schema: object) => ({ type: 'object', properties: { f: schema } });
const asJson = { f: { contentType: 'application/json' } };
const parameter = (place: string, schema: object) => ({
  get: { parameters: [{ name: 'f', in: place, content: json(schema) }], ...answers },
});
const answering = (reaction: string) => ({
  get: {
    'x-gateway-response': reaction,
    responses: { 200: { description: 'A tree.', content: json(ref('DynamicTree')) } },
  },
});

const contract = {
  openapi: '3.1.1',
  info: { title: 'Costly', version: '1' },
  'x-gateway-public': true,
  paths: {
    '/tree': takes(json(ref('Tree'))),
    '/dynamic': takes(json(ref('DynamicTree'))),
    '/endless': takes(json(ref('Endless'))),
    '/fixed': takes(json({ type: 'string', pattern: '[A-Za-z0-9]{1000}!' })),
    '/states': takes(json({ type: 'string', pattern: '(a|b)*a(a|b){60}[!c]$' })),
    '/around': takes(json({ type: 'array', items: { type: 'string', pattern: '^(?=.*a)(?=.*b)[ab]+$' } })),
    '/errors': takes(
      json({ type: 'array', items: { required: Array.from({ length: 900 }, (_, at) => `member${at}`) } }),
    ),
    '/members': takes(
      json({ anyOf: Array.from({ length: 200 }, (_, at) => ({ additionalProperties: { const: at } })) }),
    ),
    '/sizes': takes(json({ anyOf: Array.from({ length: 200 }, (_, at) => ({ minProperties: 20_000 + at })) })),
    '/encoded': takes({
      'application/x-www-form-urlencoded': { schema: inField(ref('DynamicTree')), encoding: asJson },
    }),
    '/parts': takes({ 'multipart/form-data': { schema: inField(ref('DynamicTree')), encoding: asJson } }),
    '/part-headers': takes({
      'multipart/form-data': {
        schema: inField({ type: 'string' }),
        encoding: { f: { headers: { 'X-Tree': { content: json(ref('DynamicTree')) } } } },
      },
    }),
    '/streamed': {
      post: {
        'x-gateway-body': 'stream',
        ...takes({ 'multipart/form-data': { schema: inField(ref('DynamicTree')), encoding: asJson } }).post,
      },
    },
    '/names': takes({
      'application/x-www-form-urlencoded': {
        schema: { type: 'object', patternProperties: { '(a|b)*a(a|b){60}[!c]$': {} } },
      },
    }),
    '/query': parameter('query', ref('DynamicTree')),
    '/header': parameter('header', ref('DynamicTree')),
    '/cookie': parameter('cookie', ref('DynamicTree')),
    '/reported': answering('report'),
    '/refused': answering('refuse'),
  },
  components: {
    schemas: {
      Tree: tree,
      DynamicTree: dynamicTree,
      Second: { $id: 'https://example.com/second', $dynamicAnchor: 'node', type: 'string' },
      Endless: { allOf: [ref('Endless')] },
    },
  },
};

/** A document without names of schemas, in which Ajv itself follows references that lead to no circle. */
const plain = {
  openapi: '3.1.1',
  info: { title: 'Plain', version: '1' },
  'x-gateway-public': true,
  paths: { '/doubling': takes(json(ref('Doubling0'))) },
  components: { schemas: doubling },
};

const deep = JSON.stringify(nested(22));
const form = (body: string) => ({ 'content-type': 'application/x-www-form-urlencoded', body });
function part(content: string, headers = '') {
  const body = `--x\r\nContent-Disposition: form-data; name="f"${headers}\r\n\r\n${content}\r\n--x--\r\n`;
  return { 'content-type': 'multipart/form-data; boundary=x', body };
}
const quoted = (text: string) => ({ 'content-type': 'application/json', body: JSON.stringify(text) });
const body = (value: unknown) => ({ 'content-type': 'application/json', body: JSON.stringify(value) });

const wide = Object.fromEntries(Array.from({ length: 9999 }, (_, at) => [`member${at}`, 'x']));

describe('a request that would take too many steps to check', () => {
  let upstream: FakeUpstream;
  let gateway: TestGateway;
  before(async () => {
    upstream = await startUpstream((_request, response) => {
      response.setHeader('content-type', 'application/json');
      response.end(deep);
    });
    gateway = await startGateway({
      contracts: { 'costly.json': contract, 'plain.json': plain },
      upstreams: { costly: { contracts: ['costly.json', 'plain.json'], live: upstream.url } },
    });
  });
  after(async () => {
    await gateway.stop();
    await upstream.close();
  });

  async function ask(path: string, sent: Record<string, string> = {}): Promise<{ status: number; code: string }> {
    const { body: content, ...headers } = sent;
    const init = content === undefined ? { headers } : { method: 'POST', headers, body: content };
    const answer = await fetch(`${gateway.url}${path}`, init);
    const { error } = (await answer.json()) as { error?: { code: string } };
    return { status: answer.status, code: error?.code ?? '' };
  }

  const refused: readonly [name: string, path: string, sent: Record<string, string>][] = [
    ['a union below a dynamic reference', '/dynamic', body(nested(22))],
    ['schemas that refer to the next twice', '/doubling', body({})],
    ['a schema that refers to itself for the same value', '/endless', body({})],
    ['a pattern for which RE2 needs many states', '/states', quoted(`!${random(400_000)}`)],
    ['many texts with look-around', '/around', body(Array.from({ length: 9000 }, () => random(40)))],
    ['many errors', '/errors', body(Array.from({ length: 1900 }, () => ({})))],
    ['many members in many branches', '/members', body(wide)],
    ['counting many members in many branches', '/sizes', body(wide)],
    ['a field of a URL-encoded form', '/encoded', form(`f=${encodeURIComponent(deep)}`)],
    ['names of a form', '/names', form(`!${random(400_000)}=1`)],
    ['a part of a form', '/parts', part(deep)],
    ['a header of a part', '/part-headers', part('x', `\r\nX-Tree: ${deep}`)],
    ['a streamed form', '/streamed', part(deep)],
    ['a query parameter', `/query?f=${encodeURIComponent(deep)}`, {}],
    ['a header', '/header', { f: deep }],
    ['a cookie', '/cookie', { cookie: `f=${deep}` }],
  ];
  for (const [name, path, sent] of refused) {
    it(`${name} is refused`, async () => {
      const before = upstream.requests.length;
      assert.deepEqual(await ask(path, sent), { status: 400, code: 'request_too_complex' });
      assert.equal(upstream.requests.length, before);
    });
  }

  it('a union of a document in which two dynamic anchors are equal is checked in linear time', async () => {
    assert.deepEqual(await ask('/tree', body(nested(30))), { status: 400, code: 'validation_failed' });
    const fitting = JSON.parse(JSON.stringify(nested(30)).replace('"z"', '"a"'));
    assert.deepEqual(await ask('/tree', body(fitting)), { status: 200, code: '' });
    assert.deepEqual(await ask('/dynamic', body({ kind: 'a', child: { kind: 'b' } })), { status: 200, code: '' });
    assert.deepEqual(await ask('/dynamic', body({ kind: 'd' })), { status: 400, code: 'validation_failed' });
  });

  it('a pattern with a large fixed count runs in linear time', async () => {
    assert.deepEqual(await ask('/fixed', quoted('a'.repeat(1_000_000))), { status: 400, code: 'validation_failed' });
    assert.deepEqual(await ask('/fixed', quoted(`${'a'.repeat(1000)}!`)), { status: 200, code: '' });
  });

  it('an answer that takes too many steps is reported as not checked, or refused', async () => {
    assert.deepEqual(await ask('/reported'), { status: 200, code: '' });
    assert.deepEqual(gateway.logLines().at(-1)?.answer_violations, [
      'the body is not checked, because that takes too many steps',
    ]);
    assert.deepEqual(await ask('/refused'), { status: 502, code: 'upstream_contract_violation' });
  });
});
