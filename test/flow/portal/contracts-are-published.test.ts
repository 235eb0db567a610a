// The contracts as clients fetch them: by any page of any origin, with conditions, and anew after a reload.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { parse } from 'yaml';
import { startGateway, type TestGateway } from '../../support/gateway.ts';

const documentOf = (...ids: string[]) => ({
  openapi: '3.1.0',
  info: { title: 'Things', version: '1' },
  paths: Object.fromEntries(
    ids.map((id) => [`/${id}`, { get: { operationId: id, responses: { '200': { description: 'Done.' } } } }]),
  ),
});

describe('published contracts', () => {
  let gateway: TestGateway;
  before(async () => {
    gateway = await startGateway({
      gateway: {
        cors: { '*': { origins: ['https://app.example.com'], credentials: true } },
        operations: { old: { deprecated: '2026-01-01' } },
      },
      contracts: { 'things.json': documentOf('old'), 'later.json': documentOf('later') },
      upstreams: {
        things: {
          contracts: ['things.json'],
          basePath: '/v1',
          live: 'http://127.0.0.1:1',
          security: { apiKey: ['things:read'] },
        },
        others: { contracts: ['later.json'], live: 'http://127.0.0.1:1', public: true },
      },
    });
  });
  after(() => gateway?.stop());

  it('may be read by pages of any origin, without credentials', async () => {
    for (const origin of ['https://app.example.com', 'https://elsewhere.example.net']) {
      const answer = await fetch(`${gateway.url}/openapi/v1.json`, { headers: { origin } });
      assert.equal(answer.status, 200);
      assert.equal(answer.headers.get('access-control-allow-origin'), '*');
      assert.equal(answer.headers.get('access-control-allow-credentials'), null);
      assert.equal(answer.headers.get('cross-origin-resource-policy'), 'cross-origin');
      assert.match(answer.headers.get('content-security-policy') ?? '', /^default-src 'none'/);
      await answer.arrayBuffer();
    }
  });

  it('are the same as JSON and as YAML, each with its media type, and answer HEAD', async () => {
    const json = await fetch(`${gateway.url}/openapi/v1.json`);
    const yaml = await fetch(`${gateway.url}/openapi/v1.yaml`);
    assert.equal(json.headers.get('content-type'), 'application/json');
    assert.equal(yaml.headers.get('content-type'), 'application/yaml');
    const document = (await json.json()) as {
      paths: Record<string, { get: { deprecated?: boolean; security: unknown } }>;
    };
    assert.deepEqual(parse(await yaml.text()), document);
    assert.equal(document.paths['/v1/old']?.get.deprecated, true);
    assert.deepEqual(document.paths['/v1/old']?.get.security, [{ apiKey: ['things:read'] }]);
    const head = await fetch(`${gateway.url}/openapi/v1.yaml`, { method: 'HEAD' });
    assert.equal(head.status, 200);
    assert.equal(await head.text(), '');
  });

  it('of upstreams without a version are called by their upstream', async () => {
    const document = (await (await fetch(`${gateway.url}/openapi/others.json`)).json()) as {
      paths: Record<string, { get: { security: unknown } }>;
    };
    assert.deepEqual(Object.keys(document.paths), ['/later']);
    assert.deepEqual(document.paths['/later']?.get.security, []);
  });

  it('change with the configuration, and their ETag does too', async () => {
    const before = await fetch(`${gateway.url}/openapi/v1.json`);
    await before.arrayBuffer();
    writeFileSync(join(gateway.directory, 'openapi/things.json'), JSON.stringify(documentOf('old', 'added')));
    await gateway.app.reload();
    const condition = { 'if-none-match': before.headers.get('etag') ?? '' };
    const now = await fetch(`${gateway.url}/openapi/v1.json`, { headers: condition });
    assert.equal(now.status, 200);
    assert.deepEqual(Object.keys(((await now.json()) as { paths: object }).paths), ['/v1/old', '/v1/added']);
    const reference = await fetch(`${gateway.url}/docs/reference/v1`);
    assert.match(await reference.text(), /\/v1\/added/);
  });
});
