// Changes around schemas: operations, parameters, bodies, answers, credentials.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { documentOf, findingsOf, rulesOf } from './differences.ts';

const text = { type: 'string' };
const query = (name: string, rest: object = {}) => ({ name, in: 'query', schema: text, ...rest });
const header = (name: string, rest: object = {}) => ({ name, in: 'header', schema: text, ...rest });
const path = (name: string) => ({ name, in: 'path', required: true, schema: text });
const body = (content: object, rest: object = {}) => ({ requestBody: { content, ...rest } });
const json = { 'application/json': { schema: text } };
const answers = (responses: object) => ({ responses });
const answer = (rest: object = {}) => ({ description: 'x', ...rest });
const security = (...alternatives: object[]) => ({ security: alternatives });
const schemes = {
  components: {
    securitySchemes: {
      key: { type: 'http', scheme: 'bearer' },
      token: { type: 'http', scheme: 'Bearer' },
      password: { type: 'http', scheme: 'basic' },
    },
  },
};
const secured = (...alternatives: object[]) => documentOf(security(...alternatives), schemes);
const withParameters = (...parameters: object[]) => documentOf({ parameters });

const cases: readonly (readonly [name: string, old: object, fresh: object, ...expected: string[]])[] = [
  // Operations
  [
    'an operation less',
    documentOf({}),
    documentOf({}, {}, '/v1/others'),
    'additive operation-added',
    'breaking operation-removed',
  ],
  ['another name', documentOf({ operationId: 'a' }), documentOf({ operationId: 'b' }), 'additive operation-id-changed'],
  ['deprecation', documentOf({}), documentOf({ deprecated: true }), 'additive operation-deprecated'],
  [
    'a path parameter that is called otherwise',
    documentOf({ parameters: [path('id')] }, {}, '/v1/things/{id}'),
    documentOf({ parameters: [path('thing')] }, {}, '/v1/things/{thing}'),
  ],
  [
    'a path below another prefix that comes to the same',
    documentOf({}, { servers: [{ url: 'https://a.example.com/v1' }] }, '/things'),
    documentOf({}),
  ],
  [
    'parameters moved from the path to its operations',
    documentOf({}, {}, '/v1/things', { parameters: [query('q')] }),
    documentOf({ parameters: [query('q')] }),
  ],

  // Parameters
  ['an optional parameter', withParameters(), withParameters(query('q')), 'additive request-parameter-added'],
  [
    'a required parameter',
    withParameters(),
    withParameters(query('q', { required: true })),
    'breaking request-parameter-required',
  ],
  [
    'a required header',
    withParameters(),
    withParameters(header('X-A', { required: true })),
    'breaking request-parameter-required',
  ],
  ['a parameter less', withParameters(query('q')), withParameters(), 'breaking request-parameter-removed'],
  [
    'a parameter becomes required',
    withParameters(query('q')),
    withParameters(query('q', { required: true })),
    'breaking request-parameter-required',
  ],
  [
    'a parameter becomes optional',
    withParameters(query('q', { required: true })),
    withParameters(query('q')),
    'additive request-parameter-optional',
  ],
  [
    'a parameter in another place',
    withParameters(query('q')),
    withParameters(header('q')),
    'additive request-parameter-added',
    'breaking request-parameter-removed',
  ],
  ['a header in another spelling', withParameters(header('X-One')), withParameters(header('x-one'))],
  [
    'a parameter in another style',
    withParameters(query('q', { schema: { type: 'array' } })),
    withParameters(query('q', { schema: { type: 'array' }, explode: false })),
    'breaking request-parameter-style-changed',
  ],
  ['a style that makes no difference', withParameters(query('q')), withParameters(query('q', { explode: false }))],
  [
    'a first default',
    withParameters(query('q')),
    withParameters(query('q', { schema: { ...text, default: 'a' } })),
    'breaking request-default-changed',
  ],
  [
    'another default',
    withParameters(query('q', { schema: { ...text, default: 'b' } })),
    withParameters(query('q', { schema: { ...text, default: 'a' } })),
    'breaking request-default-changed',
  ],
  [
    'a lower maximum',
    withParameters(query('q', { schema: { type: 'integer', maximum: 100 } })),
    withParameters(query('q', { schema: { type: 'integer', maximum: 50 } })),
    'breaking request-bound-narrowed',
  ],

  // Bodies
  ['a required body', documentOf({}), documentOf(body(json, { required: true })), 'breaking request-body-required'],
  ['an optional body', documentOf({}), documentOf(body(json)), 'additive request-body-added'],
  ['no body any more', documentOf(body(json)), documentOf({}), 'breaking request-body-removed'],
  [
    'a body becomes required',
    documentOf(body(json)),
    documentOf(body(json, { required: true })),
    'breaking request-body-required',
  ],
  [
    'a body becomes optional',
    documentOf(body(json, { required: true })),
    documentOf(body(json)),
    'additive request-body-optional',
  ],
  [
    'a media type more',
    documentOf(body(json)),
    documentOf(body({ ...json, 'text/plain': {} })),
    'additive request-media-type-added',
  ],
  [
    'a media type less',
    documentOf(body({ ...json, 'text/plain': {} })),
    documentOf(body(json)),
    'breaking request-media-type-removed',
  ],
  [
    'a media type inside a range',
    documentOf(body({ 'text/plain': {} })),
    documentOf(body({ 'text/*': {} })),
    'additive request-media-type-added',
  ],
  ['a charset', documentOf(body(json)), documentOf(body({ 'application/json; charset=utf-8': { schema: text } }))],

  // Answers
  [
    'a success less',
    documentOf(answers({ 200: answer(), 201: answer() })),
    documentOf(answers({ 200: answer() })),
    'breaking response-success-status-removed',
  ],
  [
    'a success that only anything else covers',
    documentOf(answers({ 200: answer() })),
    documentOf(answers({ default: answer() })),
    'additive response-status-added',
    'breaking response-success-status-removed',
  ],
  [
    'a status inside a range',
    documentOf(answers({ 200: answer() })),
    documentOf(answers({ '2XX': answer() })),
    'additive response-status-added',
  ],
  [
    'a failure less',
    documentOf(answers({ 200: answer(), 409: answer() })),
    documentOf(answers({ 200: answer() })),
    'additive response-status-removed',
  ],
  [
    'a status more',
    documentOf(answers({ 200: answer() })),
    documentOf(answers({ 200: answer(), 202: answer() })),
    'additive response-status-added',
  ],
  [
    'an answer in another media type',
    documentOf(answers({ 200: answer({ content: json }) })),
    documentOf(answers({ 200: answer({ content: { 'text/plain': {} } }) })),
    'additive response-media-type-added',
    'breaking response-media-type-removed',
  ],
  [
    'a header more',
    documentOf(answers({ 200: answer() })),
    documentOf(answers({ 200: answer({ headers: { A: { schema: text } } }) })),
    'additive response-header-added',
  ],
  [
    'a header less',
    documentOf(answers({ 200: answer({ headers: { A: { schema: text } } }) })),
    documentOf(answers({ 200: answer() })),
    'breaking response-header-removed',
  ],
  [
    'a header that may be missing',
    documentOf(answers({ 200: answer({ headers: { A: { required: true, schema: text } } }) })),
    documentOf(answers({ 200: answer({ headers: { a: { schema: text } } }) })),
    'breaking response-header-optional',
  ],

  // Credentials
  [
    'a scope more',
    secured({ key: ['things:read'] }),
    secured({ key: ['things:read', 'things:write'] }),
    'breaking security-scope-added',
  ],
  [
    'a scope less',
    secured({ key: ['things:read', 'things:write'] }),
    secured({ key: ['things:read'] }),
    'additive security-loosened',
  ],
  ['credentials at all', documentOf({}), secured({ key: [] }), 'breaking security-added'],
  ['no credentials any more', secured({ key: [] }), documentOf({}), 'additive security-removed'],
  ['a further way in', secured({ key: [] }), secured({ key: [] }, { password: [] }), 'additive security-loosened'],
  [
    'a way in less',
    secured({ key: [] }, { password: [] }),
    secured({ key: [] }),
    'breaking security-alternative-removed',
  ],
  [
    'two credentials at once',
    secured({ key: [] }),
    secured({ key: [], password: [] }),
    'breaking security-alternative-removed',
  ],
  ['a scheme that is called otherwise', secured({ key: [] }), secured({ token: [] })],
];

describe('changes of operations', () => {
  for (const [name, old, fresh, ...expected] of cases) {
    it(`${name}: ${expected.join(', ') || 'no difference'}`, () => {
      assert.deepEqual(rulesOf(old, fresh), [...expected].sort());
    });
  }

  it('are reported with operation, place and reason', () => {
    const schema = (maximum: number) => ({ type: 'object', properties: { n: { type: 'integer', maximum } } });
    const content = (maximum: number) => ({ 'application/json': { schema: schema(maximum) } });
    const [old, fresh] = [documentOf(body(content(9))), documentOf(body(content(5)))];
    const [found] = findingsOf(old, fresh);
    assert.equal(found?.operation, 'POST /v1/things');
    assert.equal(found?.reason, 'request body application/json/n: maximum goes from 9 to 5');
    const place = ['paths', '/v1/things', 'post', 'requestBody', 'content', 'application/json', 'schema'];
    assert.deepEqual(found?.place, [...place, 'properties', 'n', 'maximum']);
  });

  it('none: a body of any bytes that is described otherwise; a body of some bytes is not any', () => {
    const bytes = (type: string, ...schema: object[]) =>
      documentOf({ ...body({ [type]: schema[0] ? { schema: schema[0] } : {} }) });
    const forms = [[], [{}], [{ type: 'string', format: 'binary' }], [{ type: 'string', description: 'A file.' }]];
    for (const type of ['application/octet-stream', 'image/png', 'text/event-stream'])
      for (const old of forms)
        for (const fresh of forms) assert.deepEqual(rulesOf(bytes(type, ...old), bytes(type, ...fresh)), []);
    const bounded = bytes('image/png', { type: 'string', maxLength: 9 });
    assert.deepEqual(rulesOf(bytes('image/png', text), bounded), ['breaking request-bound-narrowed']);
    const plain = [bytes('text/plain', {}), bytes('text/plain', text)] as const;
    assert.deepEqual(rulesOf(...plain), ['breaking request-type-narrowed']);
  });

  it('in a schema that several operations share are reported for each', () => {
    const shared = (maxLength: number) => ({
      openapi: '3.1.1',
      info: { title: 'Things', version: '1' },
      components: { schemas: { Name: { type: 'string', maxLength } } },
      paths: Object.fromEntries(
        ['/a', '/b'].map((at) => [
          at,
          {
            post: {
              ...body({ 'application/json': { schema: { $ref: '#/components/schemas/Name' } } }),
              ...answers({ 200: answer() }),
            },
          },
        ]),
      ),
    });
    const found = findingsOf(shared(9), shared(8));
    assert.deepEqual(
      found.map(({ operation, rule }) => `${operation} ${rule}`),
      ['POST /a request-bound-narrowed', 'POST /b request-bound-narrowed'],
    );
  });
});
