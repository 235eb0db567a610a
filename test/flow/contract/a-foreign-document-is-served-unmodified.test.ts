// A published OpenAPI document needs only an entry in upstreams.yaml.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { type FakeUpstream, startUpstream } from '../../support/upstream.ts';
import { foreignDocument } from './foreign-document.ts';

describe('a document from another publisher', () => {
  let upstream: FakeUpstream;
  let gateway: TestGateway;
  let authorization: string;
  before(async () => {
    upstream = await startUpstream(({ method, url }, response) => {
      const type = url.endsWith('.csv') ? 'text/csv' : 'application/json';
      response.setHeader('content-type', type);
      response.writeHead(method === 'POST' ? 201 : 200).end(type === 'text/csv' ? 'a,b' : '[]');
    });
    gateway = await startGateway({
      contracts: { 'ledger.json': foreignDocument },
      upstreams: {
        ledger: {
          contracts: ['ledger.json'],
          basePath: '/v1/ledger',
          live: upstream.url,
          security: { apiKey: ['ledger:read'] },
        },
      },
    });
    ({ authorization } = await gateway.authorize({ scopes: ['ledger:read'] }));
  });
  after(async () => {
    await gateway.stop();
    await upstream.close();
  });

  async function send(method: string, path: string, body?: string, headers: Record<string, string> = {}) {
    const answer = await fetch(`${gateway.url}/v1/ledger${path}`, {
      method,
      headers: { authorization, ...headers },
      ...(body === undefined ? {} : { body }),
    });
    const text = await answer.text();
    const error = text.startsWith('{"error"') ? JSON.parse(text).error : undefined;
    const violations = error?.errors?.map((one: Record<string, string>) => `${one.pointer ?? one.param} ${one.code}`);
    return { status: answer.status, text, error, violations, reached: upstream.requests.at(-1) };
  }
  const post = (path: string, value: object) =>
    send('POST', path, JSON.stringify(value), { 'content-type': 'application/json' });

  it('is reached under the base path of its entry, and called under the path of its server', async () => {
    const answer = await send('GET', '/accounts?fields=id%7Cowner&filter[open]=true&min=0.5');
    assert.equal(answer.status, 200);
    assert.equal(answer.reached?.url, '/api/v2/accounts?fields=id%7Cowner&filter[open]=true&min=0.5');
    assert.equal((await fetch(`${gateway.url}/api/v2/accounts`, { headers: { authorization } })).status, 404);
  });

  it('is secured by its entry, even if its own document declares other credentials', async () => {
    for (const path of ['/accounts', '/ping']) {
      assert.equal((await fetch(`${gateway.url}/v1/ledger${path}`)).status, 401, path);
      assert.equal((await send('GET', path)).status, 200, path);
    }
    const { authorization: other } = await gateway.authorize({ scopes: ['jobs:read'] });
    assert.equal((await send('GET', '/accounts', undefined, { authorization: other })).status, 403);
    assert.equal(upstream.requests.at(-1)?.headers.authorization, undefined);
  });

  it('has its parameters checked by their styles', async () => {
    const answer = await send('GET', '/accounts?fields=id%7Cname&filter[open]=yes&min=0');
    assert.deepEqual(answer.violations?.sort(), ['fields[1] not_allowed', 'filter.open wrong_type', 'min too_small']);
  });

  it('has several parameters in one segment', async () => {
    const csv = await send('GET', '/accounts/17.csv');
    assert.deepEqual([csv.status, csv.text], [200, 'a,b']);
    assert.deepEqual((await send('GET', '/accounts/x.doc')).violations, ['id wrong_type', 'format not_allowed']);
    assert.equal((await send('GET', '/diff/a...b')).reached?.url, '/api/v2/diff/a...b');
  });

  it('has its bodies checked by the rules of OpenAPI 3.0', async () => {
    const owner = { type: 'person', surname: 'Lee' };
    const account = { kind: 'asset', owner };
    assert.equal((await post('/accounts', { ...account, note: null, parent: null, children: [account] })).status, 201);
    assert.equal((await post('/accounts', { ...account, parent: { ...account, parent: account } })).status, 201);
    const nested = await post('/accounts', {
      id: 1,
      owner,
      parent: { ...account, children: [{ ...account, note: 'too long' }] },
    });
    assert.deepEqual(nested.violations?.sort(), [
      '/id read_only',
      '/kind required',
      '/parent/children/0/note too_long',
    ]);
  });

  it('has the branch checked that its discriminator names', async () => {
    const account = (owner: object) => ({ kind: 'debt', owner });
    assert.deepEqual((await post('/accounts', account({ type: 'person' }))).violations, ['/owner/surname required']);
    assert.deepEqual((await post('/accounts', account({ type: 'company', vat: 'x' }))).violations, [
      '/owner/vat pattern_mismatch',
    ]);
    assert.deepEqual((await post('/accounts', account({ type: 'club' }))).violations, ['/owner/type not_allowed']);
    assert.equal((await post('/accounts', account({ type: 'company', vat: 'DE12-34' }))).status, 201);
  });

  it('takes other media types as they are, if it declares them', async () => {
    const bytes = 'not { json';
    for (const [path, type] of [
      ['/documents', 'application/octet-stream'],
      ['/documents', 'image/png'],
    ] as const) {
      const answer = await send('POST', path, bytes, { 'content-type': type });
      assert.equal(answer.status, 201, type);
      assert.equal(answer.reached?.body.toString(), bytes);
      assert.equal(answer.reached?.headers['content-type'], type);
    }
    assert.equal((await send('POST', '/documents', bytes, { 'content-type': 'text/plain' })).status, 415);
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    assert.equal((await send('POST', '/token', 'grant=a', form)).status, 201);
    assert.equal((await send('POST', '/token', bytes, form)).status, 400);
  });

  it('has operations without a name called by method and path', async () => {
    await send('GET', '/ping');
    assert.equal(gateway.logLines().at(-1)?.operation, 'GET /v1/ledger/ping');
  });
});
