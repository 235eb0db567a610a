// What the gateway does not serve of a document is named by `check`, and stops nothing else.

import assert from 'node:assert/strict';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { environmentOf, writeConfiguration } from '../../support/configuration.ts';
import { ask, requestOf } from '../../support/connection.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { startGateway } from '../../support/gateway.ts';
import { runInProcess } from '../../support/in-process.ts';
import { startScriptedUpstream } from '../../support/scripted-upstream.ts';

const root = temporaryDirectory();

const responses = { 200: { description: 'fine', content: { 'application/json': { schema: {} } } } };
const operation = (operationId: string, members: object = {}) => ({ operationId, responses, ...members });
const documentOf = (paths: object, members: object = {}) => ({
  openapi: '3.2.0',
  info: { title: 'Things', version: '1' },
  security: [{ apiKey: ['things:read'] }],
  components: { securitySchemes: { apiKey: { type: 'http', scheme: 'bearer' } } },
  paths,
  ...members,
});

/** The warnings of `check`, without the name of the file. */
async function warningsOf(document: object): Promise<string[]> {
  const directory = mkdtempSync(join(root, 'checked-'));
  const upstreams = { things: { contracts: ['things.json'], live: 'http://127.0.0.1:9' } };
  writeConfiguration(directory, { contracts: { 'things.json': document }, upstreams });
  const environment = {
    ...environmentOf(directory),
    GATEWAY_DATA: join(directory, 'data'),
  };
  const { code, stdout, stderr } = await runInProcess(['check', '--json'], { environment });
  assert.equal(code, 0, stdout + stderr);
  const { warnings } = JSON.parse(stdout) as { warnings: string[] };
  return warnings
    .filter((one) => one.includes('things.json'))
    .map((one) => one.replace(/^.*things\.json:\d+:\d+: /, ''));
}

describe('a warning names', () => {
  it('operations by further methods', async () => {
    const item = { get: operation('list'), additionalOperations: { COPY: operation('copy'), LINK: operation('link') } };
    assert.deepEqual(await warningsOf(documentOf({ '/things': item })), [
      'paths./things.additionalOperations.COPY: the gateway does not serve the method "COPY", so this operation is left out. No action is needed, unless clients need it.',
      'paths./things.additionalOperations.LINK: the gateway does not serve the method "LINK", so this operation is left out. No action is needed, unless clients need it.',
    ]);
  });

  it('other servers, and other values of the variables of one, if paths begin elsewhere there', async () => {
    const server = (url: string, variables: object = {}) => ({ url, variables });
    const versions = { version: { default: 'v1', enum: ['v1', 'v2'] }, region: { default: 'eu', enum: ['eu', 'us'] } };
    const servers = [server('https://{region}.example.com/{version}', versions), server('https://example.org/api')];
    assert.deepEqual(await warningsOf(documentOf({ '/things': { get: operation('list') } }, { servers })), [
      'servers: paths begin with /v1, where the first server does; those of other servers are not served: /v2, /api. List the server of the service first, or set basePath of the entry.',
    ]);
    const alike = [server('https://example.com/v1'), server('https://test.example.com/v1/'), server('/v1')];
    assert.deepEqual(await warningsOf(documentOf({ '/things': { get: operation('list') } }, { servers: alike })), []);
  });

  it('paths that no request has, and those that need an escape', async () => {
    const paths = {
      '/things': { get: operation('list') },
      '/rest?method=a&q={q}': { get: operation('a') },
      '/#Target=b': { post: operation('b') },
    };
    const remedy = 'Declare parts of the query as parameters with in: query, and leave out a fragment.';
    assert.deepEqual(await warningsOf(documentOf(paths)), [
      `paths./rest?method=a&q={q}: no request has this path, because it ends before the question mark, so its operations are not served. Write /rest, and declare "method", "q" among its parameters, with in: query.`,
      `paths./#Target=b: clients reach this path only if they write # as %23, and the upstream gets it as %23, too. ${remedy}`,
    ]);
  });

  it('a header without a name', async () => {
    const parameters = [{ name: '', in: 'header', required: true, schema: { type: 'string' } }];
    assert.deepEqual(await warningsOf(documentOf({ '/things': { get: operation('list', { parameters }) } })), [
      'paths./things.get.parameters.0.name: no client can send a header without a name, so this parameter is left out. Write it with letters, digits and hyphens only.',
    ]);
  });
});

it('the rest is served, and nothing else is forwarded', async (t) => {
  const upstream = await startScriptedUpstream();
  t.after(() => upstream.close());
  const parameters = [{ name: '', in: 'header', required: true, schema: { type: 'string' } }];
  const paths = {
    '/things': { get: operation('list', { parameters }), additionalOperations: { COPY: operation('copy') } },
    '/rest?method=a': { get: operation('a') },
    '/x#b': { get: operation('b') },
  };
  const gateway = await startGateway({
    contracts: { 'things.json': documentOf(paths) },
    upstreams: { things: { contracts: ['things.json'], live: upstream.url } },
  });
  t.after(() => gateway.stop());
  const { authorization } = await gateway.authorize();
  const statusOf = async (line: string) =>
    (await ask(gateway.port, requestOf(line, { Authorization: authorization }))).status;
  assert.equal(await statusOf('GET /things'), 200);
  assert.equal(await statusOf('GET /x%23b'), 200);
  const refused = ['GET /rest?method=a', 'GET /rest', 'GET /rest%3Fmethod=a', 'GET /x', 'GET /x#b', 'COPY /things'];
  for (const line of refused) assert.ok([400, 404, 405, 501].includes(await statusOf(line)), line);
  assert.deepEqual(
    upstream.received.map((request) => request.split(' HTTP/')[0]),
    ['GET /things', 'GET /x%23b'],
  );
});
