// Numbers are held to the contract as they are written, wherever they stand: a price of 19.99 is a multiple of 0.01, 1e-400 is not zero,
// and integers beyond 2^53 differ.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { type FakeUpstream, startUpstream } from '../../support/upstream.ts';

const price = { type: 'number', multipleOf: 0.01, minimum: 0 };
const amount = { type: 'integer', format: 'int64', maximum: 9_007_199_254_740_992 };
const schema = { type: 'object', properties: { price, amount, nested: { type: 'object', properties: { price } } } };
const json = { 'application/json': { schema } };
const answers = { responses: { 200: { description: 'Done.', content: json } } };
const parameters = (place: string) =>
  Object.entries(schema.properties)
    .filter(([name]) => name !== 'nested')
    .map(([name, of]) => ({ name, in: place, schema: of }));
const contract = {
  openapi: '3.1.1',
  info: { title: 'Prices', version: '1' },
  'x-gateway-public': true,
  paths: {
    '/body': {
      post: {
        requestBody: {
          content: { ...json, 'application/x-www-form-urlencoded': { schema }, 'multipart/form-data': { schema } },
        },
        ...answers,
      },
    },
    '/query': { get: { parameters: parameters('query'), ...answers } },
    '/header': { get: { parameters: parameters('header'), ...answers } },
    '/answer': { get: { 'x-gateway-response': 'refuse', ...answers } },
  },
};

describe('a number', () => {
  let upstream: FakeUpstream;
  let gateway: TestGateway;
  let answered = '{}';
  before(async () => {
    upstream = await startUpstream((_request, response) => {
      response.setHeader('content-type', 'application/json');
      response.end(answered);
    });
    gateway = await startGateway({
      contracts: { 'prices.json': contract },
      upstreams: { prices: { contracts: ['prices.json'], live: upstream.url } },
    });
  });
  after(async () => {
    await gateway.stop();
    await upstream.close();
  });

  const multipart = (name: string, text: string) =>
    `--x\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${text}\r\n--x--\r\n`;
  const post = (type: string, body: string) =>
    ['/body', { method: 'POST', headers: { 'content-type': type }, body }] as const;
  const places: Record<string, (name: string, text: string) => readonly [path: string, init: RequestInit]> = {
    body: (name, text) => post('application/json', `{"${name}":${text}}`),
    'deep body': (name, text) => post('application/json', `{"nested":{"x":["1"],"${name}":${text}},"${name}":${text}}`),
    form: (name, text) => post('application/x-www-form-urlencoded', `${name}=${encodeURIComponent(text)}`),
    part: (name, text) => post('multipart/form-data; boundary=x', multipart(name, text)),
    query: (name, text) => [`/query?${name}=${encodeURIComponent(text)}`, {}],
    header: (name, text) => ['/header', { headers: { [name]: text } }],
  };

  async function codesOf(place: string, name: string, text: string): Promise<readonly string[]> {
    const [path, init] = (places[place] as (typeof places)[string])(name, text);
    const answer = await fetch(`${gateway.url}${path}`, init);
    const { error } = (await answer.json()) as { error?: { code: string; errors?: { code: string }[] } };
    if (answer.status === 200) assert.equal(upstream.requests.at(-1)?.url.includes(path), true);
    return error === undefined ? [] : [...new Set(error.errors?.map(({ code }) => code) ?? [error.code])];
  }

  for (const place of Object.keys(places)) {
    it(`in a ${place} is checked by its digits`, async () => {
      for (const text of ['19.99', '0.01', '0.29', '1.1', '4.35', '999999999999.99', '0', '20.00', '90071992547409.91'])
        assert.deepEqual(await codesOf(place, 'price', text), [], text);
      for (const text of ['19.995', '0.001', '1.5000000000000000001', '0.30000000000000001'])
        assert.deepEqual(await codesOf(place, 'price', text), ['not_multiple_of'], text);
      assert.deepEqual(await codesOf(place, 'amount', '9007199254740992'), []);
      assert.deepEqual(await codesOf(place, 'amount', '9007199254740993'), ['too_large']);
      assert.notDeepEqual(await codesOf(place, 'price', '1e-400'), []);
    });
  }

  it('in an answer is checked by its digits', async () => {
    const statusFor = async (text: string) => {
      answered = text;
      const { status } = await fetch(`${gateway.url}/answer`);
      answered = '{}';
      return status;
    };
    for (const value of ['19.99', '0.29', '9.95', '20'])
      assert.equal(await statusFor(`{"price":${value}}`), 200, value);
    assert.equal(await statusFor('{"price":19.995}'), 502);
    assert.equal(await statusFor('{"price":0.30000000000000001}'), 502);
    assert.equal(await statusFor('{"amount":9007199254740992}'), 200);
    assert.equal(await statusFor('{"amount":9007199254740993}'), 502);
  });
});
