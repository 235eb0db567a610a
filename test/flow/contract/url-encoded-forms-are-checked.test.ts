import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type ForeignGateway, serveForeign } from './foreign-gateway.ts';

const text = { type: 'string', maxLength: 20 };
const address = {
  type: 'object',
  additionalProperties: false,
  properties: { city: text, lines: { type: 'array', items: text, maxItems: 2 } },
  required: ['city'],
};
const schema = {
  type: 'object',
  additionalProperties: false,
  required: ['amount'],
  properties: {
    amount: { type: 'integer', minimum: 1, maximum: 1000 },
    ratio: { type: 'number' },
    live: { type: 'boolean' },
    since: { type: ['integer', 'null'] },
    tags: { type: 'array', items: text, maxItems: 3 },
    ids: { type: 'array', items: { type: 'integer' } },
    colours: { type: 'array', items: text },
    address,
    items: {
      type: 'array',
      items: {
        type: 'object',
        additionalProperties: false,
        properties: { price: text, quantity: { type: 'integer' } },
        required: ['price'],
      },
    },
    metadata: {
      anyOf: [
        { type: 'object', additionalProperties: { type: 'string', maxLength: 5 } },
        { type: 'string', enum: [''] },
      ],
    },
    when: { anyOf: [{ type: 'integer' }, { type: 'string', enum: ['now'] }] },
    owner: {
      oneOf: [
        {
          type: 'object',
          required: ['kind', 'id'],
          properties: { kind: { const: 'number' }, id: { type: 'integer' } },
        },
        { type: 'object', required: ['kind', 'id'], properties: { kind: { const: 'name' }, id: { type: 'string' } } },
      ],
    },
    settings: { type: 'object', properties: { dark: { type: 'boolean' } }, additionalProperties: false },
    size: { type: 'object', properties: { width: { type: 'integer' }, height: { type: 'integer' } } },
  },
};
const open = { type: 'object', properties: { name: text } };
const operation = (operationId: string, of: object, encoding: object = {}) => ({
  post: {
    operationId,
    requestBody: { required: true, content: { 'application/x-www-form-urlencoded': { schema: of, encoding } } },
    responses: { 200: { description: 'Done.' } },
  },
});
const document = {
  openapi: '3.1.0',
  info: { title: 'Forms', version: '1' },
  paths: {
    '/orders': operation('createOrder', schema, {
      colours: { style: 'pipeDelimited', explode: false },
      settings: { contentType: 'application/json' },
      size: { style: 'form', explode: true },
    }),
    '/open': operation('createOpen', open),
    '/any': {
      post: {
        operationId: 'createAny',
        requestBody: { content: { '*/*': { schema } } },
        responses: { 200: { description: 'Done.' } },
      },
    },
  },
};

describe('a form in url-encoding', () => {
  let foreign: ForeignGateway;
  before(async () => {
    foreign = await serveForeign(document);
  });
  after(() => foreign.stop());
  const type = 'application/x-www-form-urlencoded';
  const post = (body: string, path = '/orders') => foreign.send('POST', path, { body, type });

  async function violations(body: string, expected: readonly string[], path?: string): Promise<void> {
    const answer = await post(body, path);
    assert.deepEqual([answer.status, answer.violations], [400, [...expected].sort()], body);
    assert.equal(answer.reached, undefined, body);
  }

  async function passes(body: string, path?: string): Promise<void> {
    const answer = await post(body, path);
    assert.deepEqual([answer.status, answer.violations, answer.code], [200, undefined, undefined], body);
    assert.equal(answer.reached?.body.toString(), body);
    assert.equal(answer.reached?.headers['content-type'], type);
  }

  it('passes with its own bytes, in any spelling', async () => {
    for (const body of [
      'amount=5',
      '&amount=5&&',
      'amount=%35&ratio=-1.5e3&live=true&since=',
      'amount=5&tags=a&tags=b+c&ids=1',
      'amount=5&tags[]=a&tags[]=b',
      'amount=5&tags[0]=a&tags[3]=b',
      'amount=5&tags%5B%5D=J%C3%BCrgen',
      'amount=5&colours=red|blue',
      'amount=5&address[city]=Rome&address[lines][]=a&address[lines][]=b',
      'amount=5&address={"city":"Rome"}',
      'amount=5&items[0][price]=p1&items[0][quantity]=2&items[1][price]=p2',
      'amount=5&metadata[a]=1&metadata[__proto__]=2&metadata[b]=%20',
      'amount=5&metadata=',
      'amount=5&when=now',
      'amount=5&when=1700000000',
      'amount=5&owner[kind]=name&owner[id]=12',
      'amount=5&owner[kind]=number&owner[id]=12',
      'amount=5&settings=%7B%22dark%22%3Atrue%7D',
      'amount=5&width=1&height=2',
    ])
      await passes(body);
    await passes('amount=5&tags=a', '/any');
  });

  it('is refused with all violations at once, at their places', async () => {
    await violations('amount=5.5&live=yes&since=x&tags=1&tags=2&tags=3&tags=4&ids=1&ids=x&none=1', [
      'body /amount wrong_type',
      'body /live wrong_type',
      'body /since wrong_type',
      'body /tags too_many_items',
      'body /ids/1 wrong_type',
      'body /none unknown',
    ]);
    await violations('ratio=1', ['body /amount required']);
    await violations('amount=0&address[lines][]=a&address[zip]=1', [
      'body /amount too_small',
      'body /address/city required',
      'body /address/zip unknown',
    ]);
    await violations('amount=5&items[0][quantity]=x&items[1][price]=p', [
      'body /items/0/price required',
      'body /items/0/quantity wrong_type',
    ]);
    await violations('amount=5&metadata[a]=123456&metadata[b][c]=1', [
      'body /metadata/a too_long',
      'body /metadata/b wrong_type',
    ]);
    await violations('amount=5&owner[kind]=number&owner[id]=x', ['body /owner no_match']);
    await violations('amount=5&settings=dark', ['body /settings wrong_type']);
    await violations('amount=5&settings={"dark":1,"light":2}', [
      'body /settings/dark wrong_type',
      'body /settings/light unknown',
    ]);
    await violations('amount=x', ['body /amount wrong_type'], '/any');
  });

  it('has each value once where the contract has no list', async () => {
    await violations('amount=5&amount=6', ['body /amount duplicate']);
    await violations('amount=5&%61mount=6', ['body /amount duplicate']);
    await violations('amount=5&address[city]=a&address[city]=b', ['body /address/city duplicate']);
    await violations('amount=5&address[city]=a&address={"city":"b"}', ['body /address duplicate']);
    await violations('amount=5&items[0][price]=p&items[0][price]=q', ['body /items/0/price duplicate']);
    await violations('name=a&name=b', ['body /name duplicate'], '/open');
    await passes('name=a&box=1&box=2', '/open');
  });

  it('is refused where services would read different values', async () => {
    await violations('amount=5&tags=a&tags[]=b', ['body /tags invalid']);
    await violations('amount=5&items[][price]=a&items[][quantity]=1', ['body /items invalid']);
    for (const body of [
      'tags[1]=a&tags[0]=b',
      'tags[01]=a',
      'tags[0]=a&tags[]=b',
      'address[city=a',
      'address[city]x=a',
      'address]=a',
      'address[a[b]]=c',
      ' name=a',
      'a%00b=a',
    ]) {
      const path = body.includes('name') || body.includes('%00') ? '/open' : '/orders';
      const answer = await post(`${path === '/open' ? '' : 'amount=5&'}${body}`, path);
      assert.equal(answer.code, 'validation_failed', body);
      assert.ok(
        answer.violations?.every((one) => /invalid|unknown|required/.test(one)),
        `${body}: ${answer.violations}`,
      );
    }
    for (const body of [
      'amount=%',
      'amount=%4',
      'amount=%zz',
      'amount=5&x=%ff',
      'amount=5&x=%ED%A0%80',
      'amount=5;x=a',
    ])
      assert.equal((await post(body)).code, 'malformed_form', body);
    const bytes = Buffer.concat([Buffer.from('amount=5&tags='), Buffer.from([0xc3])]);
    assert.equal((await foreign.send('POST', '/orders', { body: bytes, type })).code, 'malformed_form');
  });

  it('cannot name another method where the contract has no such field', async () => {
    await violations('name=a&_method=DELETE', ['body /_method unknown'], '/open');
  });

  it('has bounds for depth and members', async () => {
    assert.equal((await post(`amount=5&metadata${'[a]'.repeat(100)}=1`)).code, 'json_too_complex');
    assert.equal((await post(`amount=5${'&t=1'.repeat(60_000)}`)).code, 'json_too_complex');
  });

  it('is sent as a browser and fetch send it', async () => {
    const sent = await foreign.send('POST', '/orders', {
      body: new URLSearchParams([
        ['amount', '5'],
        ['tags', 'a;b & c'],
        ['tags', 'ü'],
        ['metadata[x]', '='],
      ]),
    });
    assert.equal(sent.status, 200);
    assert.equal(sent.reached?.body.toString(), 'amount=5&tags=a%3Bb+%26+c&tags=%C3%BC&metadata%5Bx%5D=%3D');
  });
});
