// A contract may declare members and parameters whose names every JavaScript object has. They are checked as all others, and undeclared
// ones are refused as all others.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { ask } from '../../support/connection.ts';
import { type ForeignGateway, serveForeign } from './foreign-gateway.ts';

const names = ['__proto__', 'constructor', 'hasOwnProperty', 'toString', 'valueOf'];
const each = <Value>(valueFor: (name: string) => Value) =>
  Object.fromEntries(names.map((name) => [name, valueFor(name)]));
const short = { type: 'string', maxLength: 3 };
const closed = { type: 'object', additionalProperties: false, properties: each(() => short) };
const answers = { responses: { 200: { description: 'Done.' } } };
const takes = (schema: object, type = 'application/json', encoding: object = {}) => ({
  post: { requestBody: { content: { [type]: { schema, encoding } } }, ...answers },
});
const parameters = (place: string) => ({
  get: { parameters: names.map((name) => ({ name, in: place, schema: short })), ...answers },
});
const many = Object.fromEntries(Array.from({ length: 12 }, (_, at) => [`member${at}`, {}]));

const document = {
  openapi: '3.1.0',
  info: { title: 'Names', version: '1' },
  paths: {
    '/closed': takes(closed),
    '/many': takes({ ...closed, properties: { ...many, ...closed.properties } }),
    '/none': takes({ ...closed, properties: { a: {} } }),
    '/nested': takes({ type: 'object', properties: { list: { type: 'array', items: closed } } }),
    '/evaluated': takes({
      type: 'object',
      anyOf: [{ properties: { kind: { const: 'a' } }, required: ['kind'] }, { patternProperties: { '^x-': {} } }],
      unevaluatedProperties: false,
    }),
    '/patterns': takes({ type: 'object', patternProperties: each(() => short) }),
    '/required': takes({ type: 'object', required: names }),
    '/form': takes(closed, 'application/x-www-form-urlencoded'),
    '/deep-form': takes({ type: 'object', properties: { a: closed } }, 'application/x-www-form-urlencoded'),
    '/parts': takes(closed, 'multipart/form-data'),
    '/query': parameters('query'),
    '/header': parameters('header'),
    '/cookie': parameters('cookie'),
    '/deep': { get: { parameters: [{ name: 'f', in: 'query', style: 'deepObject', schema: closed }], ...answers } },
    '/spread': {
      get: { parameters: [{ name: 'f', in: 'query', style: 'form', explode: true, schema: closed }], ...answers },
    },
    '/path/{__proto__}': {
      get: { parameters: [{ name: '__proto__', in: 'path', required: true, schema: short }], ...answers },
    },
  },
};

describe('a name that every object has', () => {
  let foreign: ForeignGateway;
  before(async () => {
    foreign = await serveForeign(document);
  });
  after(() => foreign.stop());

  const form = 'application/x-www-form-urlencoded';
  const part = (name: string, text: string) =>
    `--x\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${text}\r\n--x--\r\n`;

  /** What refuses `text` as the value of `name`, at each place; nothing where it passes. */
  const places: Record<string, (name: string, text: string) => ReturnType<ForeignGateway['send']>> = {
    'a body': (name, text) =>
      foreign.send('POST', '/closed', { body: `{"${name}":"${text}"}`, type: 'application/json' }),
    'a body with many members': (name, text) =>
      foreign.send('POST', '/many', { body: `{"${name}":"${text}"}`, type: 'application/json' }),
    'an item': (name, text) =>
      foreign.send('POST', '/nested', { body: `{"list":[{},{"${name}":"${text}"}]}`, type: 'application/json' }),
    'a name in patternProperties': (name, text) =>
      foreign.send('POST', '/patterns', { body: `{"${name}":"${text}"}`, type: 'application/json' }),
    'a form': (name, text) => foreign.send('POST', '/form', { body: `${name}=${text}`, type: form }),
    'a deep form': (name, text) => foreign.send('POST', '/deep-form', { body: `a[${name}]=${text}`, type: form }),
    'a part': (name, text) =>
      foreign.send('POST', '/parts', { body: part(name, text), type: 'multipart/form-data; boundary=x' }),
    'a query': (name, text) => foreign.send('GET', `/query?${name}=${text}`),
    'a deep query': (name, text) => foreign.send('GET', `/deep?f[${name}]=${text}`),
    'a spread query': (name, text) => foreign.send('GET', `/spread?${name}=${text}`),
    'a cookie': (name, text) => foreign.send('GET', '/cookie', { headers: { cookie: `${name}=${text}` } }),
  };
  for (const [place, send] of Object.entries(places))
    it(`is checked in ${place}`, async () => {
      for (const name of names) {
        const good = await send(name, 'abc');
        assert.deepEqual([good.status, good.violations], [200, undefined], name);
        const bad = await send(name, 'abcd');
        assert.deepEqual(
          [bad.status, bad.violations?.map((text) => text.split(' ').at(-1))],
          [400, ['too_long']],
          name,
        );
      }
    });

  it('is checked in a header', async () => {
    const { authorization } = await foreign.gateway.authorize({ scopes: ['foreign:write'] });
    const { port, host } = new URL(foreign.gateway.url);
    for (const name of names) {
      // fetch does not send a header of the name __proto__.
      const head = `GET /header HTTP/1.1\r\nHost: ${host}\r\nAuthorization: ${authorization}\r\nConnection: close\r\n`;
      const statusOf = async (text: string) => (await ask(Number(port), `${head}${name}: ${text}\r\n\r\n`)).status;
      assert.deepEqual([await statusOf('abc'), await statusOf('abcd')], [200, 400], name);
    }
  });

  it('is checked in a path', async () => {
    assert.equal((await foreign.send('GET', '/path/abc')).status, 200);
    assert.deepEqual((await foreign.send('GET', '/path/abcd')).violations, ['path __proto__ too_long']);
  });

  it('is unknown where the contract does not declare it', async () => {
    for (const name of names) {
      const body = `{"${name}":"abc"}`;
      assert.deepEqual((await foreign.send('POST', '/none', { body, type: 'application/json' })).violations, [
        `body /${name} unknown`,
      ]);
      const more = `{"kind":"a","${name}":"abc"}`;
      const sent = await foreign.send('POST', '/evaluated', { body: more, type: 'application/json' });
      assert.deepEqual(sent.violations, [`body /${name} unknown`]);
    }
    const known = { body: '{"kind":"a","x-b":1}', type: 'application/json' };
    assert.equal((await foreign.send('POST', '/evaluated', known)).status, 200);
  });

  it('is missed where the contract requires it', async () => {
    const sent = await foreign.send('POST', '/required', { body: '{}', type: 'application/json' });
    assert.equal(sent.violations?.length, names.length);
  });
});
