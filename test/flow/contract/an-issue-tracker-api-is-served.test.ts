import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type ForeignGateway, serveForeign } from './foreign-gateway.ts';
import { trackerDocument } from './tracker-document.ts';

describe('an API with open objects, circles and several parameters in a segment', () => {
  let foreign: ForeignGateway;
  before(async () => {
    foreign = await serveForeign(trackerDocument, {
      basePath: '/tracker',
      answers: ['application/json', 'image/png'],
    });
  });
  after(() => foreign.stop());
  const get = (path: string, headers?: Record<string, string>) =>
    foreign.send('GET', `/tracker/rest/api/3${path}`, headers ? { headers } : {});
  const post = (path: string, body: unknown) => foreign.send('POST', `/tracker/rest/api/3${path}`, { body });

  it('reads several parameters from one segment, each by its own schema', async () => {
    const compared = await get('/project/WEB-17/compare/v1.0...feature-a');
    assert.equal(compared.reached?.url, '/rest/api/3/project/WEB-17/compare/v1.0...feature-a');
    assert.deepEqual((await get('/project/web-x/compare/a...b')).violations, [
      'path key pattern_mismatch',
      'path number wrong_type',
    ]);
    assert.deepEqual((await get('/project/ADMINS-1/compare/a...b')).violations, ['path key pattern_mismatch']);
    for (const path of ['/project/WEB17/compare/a...b', '/project/WEB-17/compare/a..b'])
      assert.equal((await get(path)).code, 'route_not_found', path);
    assert.equal((await get('/avatar/10.png', { accept: 'image/png' })).status, 200);
    assert.deepEqual((await get('/avatar/ten.gif')).violations, ['path id wrong_type', 'path kind not_allowed']);
  });

  it('reads lists in both forms of the query', async () => {
    const path = '/issue/WEB-1?fields=summary&fields=-comment&properties=a,b';
    assert.equal((await get(path)).reached?.url, `/rest/api/3${path}`);
    assert.deepEqual((await get('/issue/WEB-1?properties=a,b,c')).violations, ['query properties too_many_items']);
    assert.deepEqual((await get('/issue/WEB-1?properties=a&properties=b')).violations, ['query properties duplicate']);
  });

  it('has objects that are open, and those that are not', async () => {
    const fields = { summary: 'It fails', customfield_10000: { any: [1, null] }, __proto: {} };
    const update = { labels: [{ add: 'triaged' }, { set: ['a'] }] };
    const issue = {
      fields,
      update,
      transition: null,
      historyMetadata: { to: { to: { id: '5', more: 1 } } },
      other: [],
    };
    const created = await post('/issue', issue);
    assert.deepEqual([created.status, created.reached?.url], [200, '/rest/api/3/issue?updateHistory=false']);
    const wrong = {
      fields: {},
      update: { labels: [{ ad: 1 }, {}], fixVersions: {} },
      historyMetadata: { to: { id: 5 } },
    };
    assert.deepEqual((await post('/issue?updateHistory=maybe', wrong)).violations, [
      'body /fields/summary required',
      'body /historyMetadata/to/id wrong_type',
      'body /update/fixVersions wrong_type',
      'body /update/labels/0/ad unknown',
      'body /update/labels/1 too_few_items',
      'query updateHistory wrong_type',
    ]);
  });

  it('keeps read-only members of nested objects from being written', async () => {
    const issues = [{ parent: { parent: {} } }, { id: '1', parent: { names: {} } }, { extra: 1 }];
    assert.deepEqual((await post('/issue', { fields: { summary: 'x' }, transition: { issues } })).violations, [
      'body /transition/issues/1/id read_only',
      'body /transition/issues/1/parent/names read_only',
      'body /transition/issues/2/extra unknown',
    ]);
  });

  it('takes any JSON where any is declared', async () => {
    const put = (body: unknown) => foreign.send('PUT', '/tracker/rest/api/3/issue/WEB-1/properties/a.b', { body });
    for (const body of ['null', '17', '"text"', '[]', '{"a":{"b":[]}}'])
      assert.equal((await put(body)).status, 200, body);
    assert.equal((await put('{"a":')).code, 'malformed_json');
    assert.equal((await foreign.send('PUT', '/tracker/rest/api/3/issue/W/properties/p')).code, 'body_missing');
  });

  it('requires declared headers', async () => {
    const attach = (headers: Record<string, string>) =>
      foreign.send('POST', '/tracker/rest/api/3/issue/WEB-1/attachments', {
        ...{ body: '--b--', type: 'multipart/form-data; boundary=b' },
        headers,
      });
    const attached = await attach({ 'x-tracker-token': 'no-check' });
    assert.deepEqual([attached.status, attached.reached?.headers['x-tracker-token']], [200, 'no-check']);
    assert.deepEqual((await attach({})).violations, ['header x-tracker-token required']);
    assert.deepEqual((await attach({ 'x-tracker-token': 'check' })).violations, ['header x-tracker-token not_allowed']);
  });

  it('follows discriminators through circles', async () => {
    const simple = { nodeType: 'simple', type: 'PermissionCondition', configuration: { key: 1 } };
    const nested = {
      nodeType: 'compound',
      operator: 'AND',
      conditions: [simple, { nodeType: 'compound', operator: 'OR', conditions: [] }],
    };
    assert.equal((await post('/workflow/rule', nested)).status, 200);
    const wrong = {
      ...nested,
      conditions: [{ nodeType: 'simple' }, { ...nested, operator: 'XOR', conditions: [{ nodeType: 'x' }] }],
    };
    assert.deepEqual((await post('/workflow/rule', wrong)).violations, [
      'body /conditions/0/type required',
      'body /conditions/1/conditions/0/nodeType not_allowed',
      'body /conditions/1/operator not_allowed',
    ]);
    assert.deepEqual((await post('/workflow/rule', {})).violations, ['body /nodeType required']);
  });

  it('has bounds as OpenAPI 3.0 writes them, and schemas inside of themselves', async () => {
    const inner = { expression: 'issue.key' };
    assert.equal(
      (await post('/expression/eval', { ...inner, timeout: 0.5, context: { a: inner, issue: {} } })).code,
      'validation_failed',
    );
    assert.equal(
      (await post('/expression/eval', { ...inner, timeout: 0.5, context: { a: { ...inner, context: {} } } })).status,
      200,
    );
    assert.deepEqual(
      (await post('/expression/eval', { timeout: 0, context: { a: { context: { b: {} } } } })).violations,
      [
        'body /context/a/context/b/expression required',
        'body /context/a/expression required',
        'body /expression required',
        'body /timeout too_small',
      ],
    );
  });
});
