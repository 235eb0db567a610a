// Scopes for the documents of others: by method, or in the place of the scopes that the documents name.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { type FakeUpstream, startUpstream } from '../../support/upstream.ts';

const responses = { 200: { description: 'fine' } };
const drive = 'https://www.googleapis.example/auth/drive.readonly';
const document = (paths: object) => ({
  openapi: '3.0.3',
  info: { title: 'It', version: '1' },
  paths,
  components: {
    securitySchemes: {
      login: {
        type: 'oauth2',
        flows: { implicit: { authorizationUrl: 'https://x.example', scopes: { [drive]: '' } } },
      },
      header: { type: 'apiKey', in: 'header', name: 'X-Key' },
    },
  },
});
const files = document({
  '/files': {
    get: { operationId: 'listFiles', responses },
    post: { operationId: 'createFile', security: [], responses },
    delete: { operationId: 'deleteFiles', security: [{ header: [] }], responses },
  },
});
const drives = document({
  '/drives': {
    get: { operationId: 'listDrives', security: [{ login: [drive] }, { login: ['admin'], header: [] }], responses },
    put: { operationId: 'putDrives', security: [{ login: ['admin', 'drive:all'] }], responses },
    patch: { operationId: 'patchDrives', security: [{}, { header: [] }], responses },
  },
});

describe('an entry that declares access', () => {
  let upstream: FakeUpstream;
  let gateway: TestGateway;
  before(async () => {
    upstream = await startUpstream((_, response) => response.end());
    gateway = await startGateway({
      contracts: { 'files.json': files, 'drives.json': drives },
      upstreams: {
        files: {
          contracts: ['files.json'],
          live: upstream.url,
          security: { read: ['files:read'], write: ['files:write', 'files:read'] },
        },
        drives: {
          contracts: ['drives.json'],
          live: upstream.url,
          security: {
            scopes: { [drive]: 'drives:read', admin: ['drives:write', 'files:write'], 'drive:all': 'drive.all' },
            read: ['drives:read'],
            write: ['drives:write'],
          },
        },
      },
    });
  });
  after(async () => {
    await gateway.stop();
    await upstream.close();
  });

  const allowed = async (method: string, path: string, ...scopes: string[]) => {
    const headers = await gateway.authorize({ scopes });
    const answer = await fetch(`${gateway.url}${path}`, { method, headers });
    if (answer.status === 200) return true;
    const { error } = (await answer.json()) as { error: { required_scopes: string[] } };
    return error.required_scopes;
  };

  it('has scopes for reading and for writing, independent of its document', async () => {
    assert.equal(await allowed('GET', '/files', 'files:read'), true);
    assert.equal(await allowed('HEAD', '/files', 'files:read'), true);
    for (const method of ['POST', 'DELETE']) {
      assert.deepEqual(await allowed(method, '/files', 'files:read'), ['files:write', 'files:read']);
      assert.equal(await allowed(method, '/files', 'files:read', 'files:write'), true);
    }
    assert.deepEqual(await allowed('GET', '/files', 'files:write'), ['files:read']);
  });

  it('puts scopes into the place of those that its document names', async () => {
    assert.equal(await allowed('GET', '/drives', 'drives:read'), true);
    assert.equal(await allowed('GET', '/drives', 'drives:write', 'files:write'), true);
    assert.deepEqual(await allowed('GET', '/drives', 'files:read'), ['drives:read']);
    assert.deepEqual(await allowed('PUT', '/drives', 'drives:write', 'files:write'), [
      'drives:write',
      'files:write',
      'drive.all',
    ]);
    assert.equal(await allowed('PUT', '/drives', 'drives:write', 'files:write', 'drive.all'), true);
  });

  it('goes by the method where its document names none', async () => {
    assert.deepEqual(await allowed('PATCH', '/drives', 'drives:read'), ['drives:write']);
    assert.equal(await allowed('PATCH', '/drives', 'drives:write'), true);
  });
});
