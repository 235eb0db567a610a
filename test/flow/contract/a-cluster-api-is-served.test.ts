import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { clusterDocument } from './cluster-document.ts';
import { type ForeignGateway, serveForeign } from './foreign-gateway.ts';

describe('an API of several hundred paths made by one pattern', () => {
  let foreign: ForeignGateway;
  before(async () => {
    foreign = await serveForeign(clusterDocument, {
      answers: ['application/json', 'application/vnd.cluster.protobuf', 'text/plain'],
    });
  });
  after(() => foreign.stop());
  const list = '/apis/apps/v1/namespaces/default/kind7s';
  const one = `${list}/web-1`;

  it('is served whole', async () => {
    assert.ok(Object.keys(clusterDocument.paths).length > 300);
    for (const kind of [0, 31, 59]) {
      const path = `/apis/apps/v1/namespaces/default/kind${kind}s`;
      for (const suffix of ['?limit=5&watch=true&labelSelector=a%3Db', '/web-1', '/web-1/status', '/web-1/log']) {
        const { status, reached } = await foreign.send('GET', `${path}${suffix}`);
        assert.deepEqual([status, reached?.url], [200, `${path}${suffix}`]);
      }
      assert.equal((await foreign.send('GET', `/apis/apps/v1/watch/kind${kind}s`)).status, 200);
    }
    assert.equal((await foreign.send('GET', '/apis/apps/')).status, 200);
    assert.equal((await foreign.send('GET', '/apis/apps')).code, 'route_not_found');
    assert.equal((await foreign.send('GET', '/apis/apps/v1/namespaces/default/kind60s')).code, 'route_not_found');
    assert.equal((await foreign.send('PUT', list)).code, 'method_not_allowed');
  });

  it('has its parameters checked, those of the path item too', async () => {
    assert.deepEqual((await foreign.send('GET', `${list}/Web_1?pretty=true&prety=1`)).violations, [
      'path name pattern_mismatch',
      'query prety unknown',
    ]);
    assert.deepEqual((await foreign.send('GET', `${list}?limit=many&watch=1`)).violations, [
      'query limit wrong_type',
      'query watch wrong_type',
    ]);
  });

  it('takes a body of any media type, and looks into it if it is JSON', async () => {
    const thing = { metadata: { name: 'web-1', creationTimestamp: null }, spec: { replicas: 3, tolerations: null } };
    assert.equal((await foreign.send('POST', list, { body: thing })).status, 200);
    const wrong = { metadata: { labels: { a: 1 } }, spec: { replicas: 'three', data: { a: '***' } } };
    for (const [method, path] of [
      ['POST', list],
      ['PUT', one],
    ] as const) {
      assert.deepEqual((await foreign.send(method, path, { body: wrong })).violations, [
        'body /metadata/labels/a wrong_type',
        'body /spec/data/a wrong_format',
        'body /spec/replicas wrong_type',
      ]);
      assert.equal((await foreign.send(method, path, { body: '{"spec":{},"spec":{}}' })).code, 'duplicate_json_member');
      for (const type of ['application/yaml', 'application/vnd.cluster.protobuf']) {
        const opaque = await foreign.send(method, path, { body: 'spec: {', type });
        assert.deepEqual([opaque.status, opaque.reached?.body.toString()], [200, 'spec: {'], type);
      }
    }
    assert.equal((await foreign.send('POST', list)).code, 'body_missing');
  });

  it('deletes with options and without', async () => {
    assert.equal((await foreign.send('DELETE', one)).status, 200);
    assert.equal((await foreign.send('DELETE', one, { body: { gracePeriodSeconds: 0 } })).status, 200);
    assert.deepEqual((await foreign.send('DELETE', one, { body: { gracePeriodSeconds: '0' } })).violations, [
      'body /gracePeriodSeconds wrong_type',
    ]);
  });

  it('is patched in every declared way', async () => {
    const patch = (type: string, body: unknown) => foreign.send('PATCH', `${one}?force=true`, { type, body });
    const steps = [{ op: 'replace', path: '/spec/replicas', value: 4 }];
    assert.equal((await patch('application/json-patch+json', steps)).status, 200);
    assert.equal((await patch('application/merge-patch+json', { spec: { replicas: null } })).status, 200);
    assert.equal((await patch('application/strategic-merge-patch+json', { spec: {} })).status, 200);
    assert.equal((await patch('application/apply-patch+yaml', 'spec: {')).status, 200);
    assert.deepEqual((await patch('application/merge-patch+json', [])).violations, ['body  wrong_type']);
    assert.deepEqual((await patch('application/json-patch+json', { spec: {} })).violations, ['body  wrong_type']);
    const json = await patch('application/json', {});
    assert.equal(json.code, 'unsupported_media_type');
  });

  it('has values that are a number or a text', async () => {
    const sent = async (spec: object) => (await foreign.send('POST', list, { body: { spec } })).violations;
    for (const spec of [{ port: 80, maxUnavailable: 1 }, { port: 'http', maxUnavailable: '25%' }, { memory: '1Gi' }])
      assert.equal(await sent(spec), undefined, JSON.stringify(spec));
    assert.deepEqual(await sent({ port: 1.5, maxUnavailable: true, memory: [] }), [
      'body /spec/maxUnavailable wrong_type',
      'body /spec/memory no_match',
      'body /spec/port no_match',
    ]);
  });

  it('has schemas that contain themselves', async () => {
    const send = (body: object) => foreign.send('POST', '/apis/extensions/v1/definitions', { body });
    const deep = {
      type: 'object',
      properties: { a: { items: [{ $ref: '#/x', not: { allOf: [{}] } }], default: null } },
    };
    assert.equal((await send({ ...deep, readOnly: true, enum: [1, 'a', null] })).status, 200);
    assert.deepEqual(
      (await send({ properties: { a: { not: { allOf: [{ nullable: 'no', required: 'a' }] } } } })).violations,
      ['body /properties/a/not/allOf/0/nullable wrong_type', 'body /properties/a/not/allOf/0/required wrong_type'],
    );
    assert.deepEqual((await send({ items: { not: { $ref: 1 } } })).violations, ['body /items/not/$ref wrong_type']);
    assert.equal((await send({ items: [{ items: {} }] })).status, 200);
  });

  it('answers in the requested media type', async () => {
    for (const accept of ['application/json;stream=watch', 'application/vnd.cluster.protobuf, application/json;q=0.5'])
      assert.equal((await foreign.send('GET', list, { headers: { accept } })).status, 200, accept);
    assert.equal((await foreign.send('GET', `${one}/log`, { headers: { accept: 'text/plain' } })).status, 200);
    assert.equal((await foreign.send('GET', list, { headers: { accept: 'image/png' } })).status, 200);
  });
});
