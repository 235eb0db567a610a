// Servers of documents, paths and operations: the base of their paths at the service, and the part that the address adds.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { loadSettings } from '../../../gateway/config/settings.ts';
import { startGateway } from '../../support/gateway.ts';
import { runInProcess } from '../../support/in-process.ts';
import { startUpstream } from '../../support/upstream.ts';

const responses = { 200: { description: 'fine' }, 201: { description: 'made' } };
const document = {
  openapi: '3.1.0',
  info: { title: 'Files', version: '1' },
  servers: [{ url: 'https://api.example.com/v1' }],
  paths: {
    '/files': {
      get: { operationId: 'list', responses },
      post: { operationId: 'upload', servers: [{ url: 'https://uploads.example.com/upload/v1' }], responses },
      put: { operationId: 'replace', servers: [{ url: '/v1/big' }], responses },
    },
    '/beta': {
      servers: [{ url: 'https://other.example.com/v9' }, { url: 'https://api.example.com/v2' }],
      get: { operationId: 'beta', responses },
    },
  },
};

async function withGateway(
  address: string,
  says: object,
  run: (
    reached: (method: string, path: string) => Promise<unknown>,
    warnings: () => Promise<string[]>,
  ) => Promise<void>,
) {
  const upstream = await startUpstream(({ method, url }, response) => {
    if (method === 'PUT') response.setHeader('location', `${url}/7`);
    response.writeHead(method === 'PUT' ? 201 : 200).end();
  });
  const gateway = await startGateway({
    contracts: { 'files.json': document },
    upstreams: { files: { contracts: ['files.json'], live: `${upstream.url}${address}`, public: true, ...says } },
  });
  try {
    await run(
      async (method, path) => {
        const before = upstream.requests.length;
        const answer = await fetch(`${gateway.url}${path}`, { method });
        await answer.arrayBuffer();
        if (upstream.requests.length === before) return answer.status;
        return [upstream.requests.at(-1)?.url, answer.headers.get('location')]
          .filter((one) => one !== null)
          .join(' → ');
      },
      async () => {
        const environment = {
          GATEWAY_CONFIG: `${gateway.directory}/config`,
          GATEWAY_CONTRACTS: `${gateway.directory}/openapi`,
          GATEWAY_DATA: gateway.dataDirectory,
        };
        assert.ok(loadSettings(environment));
        const { stdout, stderr } = await runInProcess(['check'], { environment });
        return `${stdout}${stderr}`.split('\n').filter((line) => line.includes('.example.com'));
      },
    );
  } finally {
    await gateway.stop();
    await upstream.close();
  }
}

describe('the servers of a document', () => {
  it('say where the paths of each operation begin', async () => {
    await withGateway('', {}, async (reached) => {
      assert.equal(await reached('GET', '/v1/files'), '/v1/files');
      assert.equal(await reached('PUT', '/v1/big/files'), '/v1/big/files → /v1/big/files/7');
      assert.equal(await reached('GET', '/v2/beta'), '/v2/beta');
      assert.equal(await reached('POST', '/upload/v1/files'), '/upload/v1/files');
      assert.equal(await reached('POST', '/v1/files'), 405);
    });
  });

  it('stay behind a base path', async () => {
    await withGateway('', { basePath: '/docs-api' }, async (reached) => {
      assert.equal(await reached('GET', '/docs-api/files'), '/v1/files');
      assert.equal(await reached('PUT', '/docs-api/files'), '/v1/big/files → /docs-api/files/7');
      assert.equal(await reached('GET', '/docs-api/beta'), '/v2/beta');
    });
  });

  it('give way to the path of the address', async () => {
    await withGateway('/api/files/', {}, async (reached) => {
      assert.equal(await reached('GET', '/v1/files'), '/api/files/files');
      assert.equal(await reached('PUT', '/v1/big/files'), '/api/files/big/files → /v1/big/files/7');
      assert.equal(await reached('GET', '/v2/beta'), '/v2/beta');
    });
  });

  it('are named by check where they are on another host', async () => {
    await withGateway('', {}, async (_, warnings) => {
      const found = await warnings();
      assert.equal(found.length, 1);
      assert.match(
        found[0] ?? '',
        /upstreams\.files\.live: its contract has upload at https:\/\/uploads\.example\.com, and requests go to the addresses of "files"\./,
      );
    });
  });
});
