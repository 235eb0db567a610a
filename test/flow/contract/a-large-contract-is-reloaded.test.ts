import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { inForce, reloadsCounted, saveAndReload } from '../reload/files.ts';
import { clusterDocumentOf } from './cluster-document.ts';
import { type ForeignGateway, serveForeign } from './foreign-gateway.ts';

const file = 'openapi/foreign.json';
const clusterDocument = clusterDocumentOf(10);
const { paths, ...rest } = clusterDocument;
const name = { name: 'name', in: 'path', required: true, schema: { type: 'string', pattern: '^[a-z\\d.]+$' } };
const added = {
  '/apis/added/{name}': {
    parameters: [name],
    put: {
      operationId: 'putAdded',
      requestBody: {
        content: { 'application/json': { schema: { properties: { 'a\\d"': { type: 'integer' } } } } },
      },
      responses: { 200: { description: 'OK', content: { 'application/json': {} } } },
    },
  },
};

describe('a large contract under a gateway that serves', () => {
  let foreign: ForeignGateway;
  before(async () => {
    foreign = await serveForeign(clusterDocument);
  });
  after(() => foreign.stop());
  const one = '/apis/apps/v1/namespaces/default/kind7s/web-1';

  it('is served as in its file, before and after it has changed', async () => {
    assert.equal((await foreign.send('GET', '/apis/added/a')).code, 'route_not_found');
    await saveAndReload(foreign.gateway, file, { ...rest, paths: { ...paths, ...added } });
    assert.equal((await inForce(foreign.gateway)).last_failure, null);
    assert.equal((await foreign.send('PUT', '/apis/added/a.1', { body: { 'a\\d"': 1, seventeen: 'x' } })).status, 200);
    assert.deepEqual((await foreign.send('PUT', '/apis/added/A', { body: { 'a\\d"': 'x' } })).violations, [
      'body /a\\d" wrong_type',
      'path name pattern_mismatch',
    ]);
    assert.equal((await foreign.send('GET', one)).status, 200);
    const wrong = await foreign.send('PUT', one, { body: { spec: { port: [], replicas: 1.5 } } });
    assert.deepEqual(wrong.violations, ['body /spec/port no_match', 'body /spec/replicas wrong_type']);
  });

  it('has its mistakes reported with their lines, those that only the gateway finds too', async () => {
    const { applied } = await reloadsCounted(foreign.gateway);
    const text = (document: object) => JSON.stringify(document, null, 1);
    const twice = { ...paths, '/apis/added/{name}': { ...added['/apis/added/{name}'], 'x-gateway-cost': 0 } };
    const document = text({ ...rest, paths: twice });
    await saveAndReload(foreign.gateway, file, document);
    const line = document.split('\n').findIndex((one) => one.includes('x-gateway-cost')) + 1;
    assert.deepEqual(
      (await inForce(foreign.gateway)).last_failure?.mistakes.map((mistake) => mistake.replace(/^.*foreign\.json/, '')),
      [
        `:${line}:22: paths./apis/added/{name}.x-gateway-cost: 0 is not possible here. A cost is a whole number from 1 to 1000000.`,
      ],
    );
    await saveAndReload(foreign.gateway, file, '{"openapi":"3.0.0",');
    assert.match((await inForce(foreign.gateway)).last_failure?.mistakes[0] ?? '', /foreign\.json:1:/);
    await saveAndReload(foreign.gateway, file, '{"openapi":"3.0.0","openapi":"3.0.0","info":{},"paths":{}}');
    assert.match((await inForce(foreign.gateway)).last_failure?.mistakes[0] ?? '', /"openapi" is there twice/);
    assert.equal((await reloadsCounted(foreign.gateway)).applied, applied);
    assert.equal((await foreign.send('GET', one)).status, 200);
  });
});
