import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileDocument, documentOf } from './compiled.ts';

const responses = { 200: { description: 'fine' } };
const securitySchemes = {
  key: { type: 'http', scheme: 'Bearer' },
  header: { type: 'apiKey', in: 'header', name: 'X-Key' },
  pair: { type: 'http', scheme: 'Basic' },
  login: { type: 'oauth2', flows: { clientCredentials: { tokenUrl: '/token', scopes: { all: 'x' } } } },
};

/** The alternatives of an operation, or its fault. */
async function securityOf(operation: object, document: object = {}, says: object = {}) {
  const { operations, mistakes } = await compileDocument(
    { ...documentOf({ '/jobs': { get: { responses, ...operation } } }), components: { securitySchemes }, ...document },
    says,
  );
  return mistakes.length > 0 ? mistakes.map(({ reason }) => reason) : operations[0]?.operation.security;
}

const apiKey = (...scopes: string[]) => ({ scheme: 'apiKey', scopes });

test('alternatives are taken from the operation, else from the document', async () => {
  const security = [{ key: ['jobs:read'] }, { key: ['jobs:write'] }];
  assert.deepEqual(await securityOf({ security }), [apiKey('jobs:read'), apiKey('jobs:write')]);
  assert.deepEqual(await securityOf({}, { security }), [apiKey('jobs:read'), apiKey('jobs:write')]);
  assert.deepEqual(await securityOf({ security: [{ key: [] }] }, { security }), [apiKey()]);
});

test('the entry of upstreams.yaml overrides the security of its document', async () => {
  const entry = { security: { apiKey: ['it:read'] } };
  for (const security of [undefined, [], [{}], [{ header: [] }], [{ login: ['all'], header: [] }]])
    assert.deepEqual(await securityOf(security ? { security } : {}, {}, entry), [apiKey('it:read')]);
  assert.deepEqual(await securityOf({ security: [{ header: [] }] }, {}, { public: true }), []);
});

test('an operation is public only where that is declared', async () => {
  const open = { 'x-gateway-public': true };
  assert.deepEqual(await securityOf(open), []);
  assert.deepEqual(await securityOf(open, { security: [{ key: [] }] }), []);
  assert.deepEqual(await securityOf({}, open), []);
  assert.deepEqual(await securityOf({ ...open, security: [] }), []);
  const neither = 'this operation is neither secured nor declared public.';
  assert.deepEqual(await securityOf({}), [neither]);
  assert.deepEqual(await securityOf({ security: [] }, { security: [{ key: [] }] }), [neither]);
});

test('public and secured at once is a mistake, wherever public is declared', async () => {
  const both = 'this operation is declared public and secured at once.';
  const security = [{ key: ['jobs:read'] }];
  assert.deepEqual(await securityOf({ security, 'x-gateway-public': true }), [both]);
  assert.deepEqual(await securityOf({ security }, { 'x-gateway-public': true }), [both]);
});

test('a scheme that the gateway cannot check is a mistake', async () => {
  assert.deepEqual(await securityOf({ security: [{ header: [] }] }), [
    'the gateway does not check credentials of the security scheme "header".',
  ]);
  assert.deepEqual(await securityOf({ security: [{ key: [], header: [] }] }), [
    'key and header are required together, but the gateway checks one credential only.',
  ]);
  assert.deepEqual(await securityOf({ security: [{ kye: [] }] }), ['there is no security scheme "kye".']);
  assert.deepEqual(await securityOf({ security: [{ key: [] }, {}] }), [
    'this allows requests both with a key and without one.',
  ]);
});

test('a scope of a resource that the document does not have is a mistake', async () => {
  assert.deepEqual(await securityOf({ security: [{ key: ['job:read', 'jobs:raed'] }] }), [
    'the scope "job:read" is unknown.',
    'the scope "jobs:raed" is unknown.',
  ]);
  assert.deepEqual(await securityOf({ security: [{ key: ['tag:read'] }] }, { tags: [{ name: 'tag' }] }), [
    apiKey('tag:read'),
  ]);
});

const basic = { scheme: 'basic', scopes: [] };

test('user name and password are accepted where the entry of the upstream has them', async () => {
  const security = [{ key: ['jobs:read'] }, { pair: [] }];
  assert.deepEqual(await securityOf({ security }, {}, { acceptsBasic: true }), [apiKey('jobs:read'), basic]);
  assert.deepEqual(await securityOf({}, { security: [{ pair: [] }] }, { acceptsBasic: true }), [basic]);
  const override = { acceptsBasic: true, security: { apiKey: ['it:read'] } };
  assert.deepEqual(await securityOf({ security }, {}, override), [apiKey('it:read')]);
});

test('elsewhere they are a mistake, and the remedy names the two settings', async () => {
  const document = {
    ...documentOf({ '/jobs': { get: { responses, security: [{ pair: [] }] } } }),
    components: { securitySchemes },
  };
  for (const says of [{}, { acceptsBasic: false }]) {
    const { operations, mistakes } = await compileDocument(document, says);
    assert.deepEqual(operations, []);
    assert.deepEqual(
      mistakes.map(({ reason, remedy }) => [reason, remedy]),
      [
        [
          'the gateway does not check credentials of the security scheme "pair".',
          'Add basicForClients: true and a basic credential to its entry of upstreams.yaml, or use a scheme of type http with scheme bearer, or override it by security in its entry of upstreams.yaml.',
        ],
      ],
    );
  }
});

test('the credential of one upstream opens no operation of another', async () => {
  const security = [{ pair: [] }];
  const elsewhere = { security, 'x-gateway-upstream': 'other' };
  const same = { security, 'x-gateway-upstream': 'it' };
  assert.deepEqual(await securityOf(elsewhere, {}, { acceptsBasic: true }), [
    'the gateway does not check credentials of the security scheme "pair".',
  ]);
  assert.deepEqual(await securityOf(same, {}, { acceptsBasic: true }), [basic]);
});

test('a scope that resembles none has the member of the entry that accepts all scopes of the document', async () => {
  const labels = { post: { responses, security: [{ key: ['labels:print'] }, { login: ['jobs:read'] }] } };
  const more = { get: { responses, security: [{ key: ['jobs:raed', 'report.all'] }] } };
  const document = documentOf({ '/jobs': labels, '/more': more }, { components: { securitySchemes } });
  const { mistakes } = await compileDocument(document, {});
  const remedies = new Map(mistakes.map(({ reason, remedy }) => [reason, remedy]));
  assert.equal(
    remedies.get('the scope "labels:print" is unknown.'),
    'To keep the scopes of the document, write in its entry of upstreams.yaml: security: { scopes: { "jobs:raed": "jobs:raed", "jobs:read": "jobs:read", "labels:print": "labels:print", "report.all": "report.all" } }',
  );
  assert.equal(remedies.get('the scope "jobs:raed" is unknown.'), 'Did you mean "jobs:read"?');
});

test('user name and password have no scopes, and are not required together with a key', async () => {
  const entry = { acceptsBasic: true };
  assert.deepEqual(await securityOf({ security: [{ pair: ['jobs:read'] }] }, {}, entry), [
    'a user name and password have no scopes.',
  ]);
  assert.deepEqual(await securityOf({ security: [{ pair: [], key: [] }] }, {}, entry), [
    'pair and key are required together, but the gateway checks one credential only.',
  ]);
});
