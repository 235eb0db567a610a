// The front page of the gateway: a browser gets to the documentation, another client the error object, and a contract may take `/`.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import supertest from 'supertest';
import { freePort } from '../../support/free-port.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';

const browser = { Accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };

describe('the front page', () => {
  let gateway: TestGateway;
  let port: number;
  before(async () => {
    port = await freePort();
    gateway = await startGateway({ environment: { PORT: String(port) } });
  });
  after(() => gateway?.stop());

  it('leads a browser to the documentation', async () => {
    const answer = await supertest(gateway.url).get('/').set(browser).expect(302);
    assert.deepEqual([answer.headers.location, answer.headers.vary, answer.text], ['/docs', 'Accept', '']);
    await supertest(gateway.url).head('/').set(browser).expect(302);
    await supertest(gateway.url).get('/').set(browser).redirects(1).expect(200);
  });

  for (const [what, method, headers] of [
    ['a client of the API', 'get', { Accept: 'application/json' }],
    ['a client that accepts anything', 'get', {}],
    ['a form', 'post', browser],
  ] as const)
    it(`is no path for ${what}; links of the error have the port of the gateway`, async () => {
      const { body } = await supertest(gateway.url)[method]('/').set(headers).expect(404);
      assert.equal(body.error.doc_url, `http://localhost:${port}/docs/errors/route_not_found`);
    });
});

it('belongs to a contract that has it', async (t) => {
  const operation = { operationId: 'root', 'x-gateway-public': true, responses: { 200: { description: 'OK' } } };
  const contract = { openapi: '3.1.1', info: { title: 'Root', version: '1' }, paths: { '/': { get: operation } } };
  const gateway = await startGateway({
    contracts: { 'root.yaml': contract },
    upstreams: { root: { contracts: ['root.yaml'], live: 'examples:' } },
  });
  t.after(() => gateway.stop());
  await supertest(gateway.url).get('/').set(browser).expect(200);
});
