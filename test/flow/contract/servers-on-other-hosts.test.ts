// Operations that a document has on other hosts go to the addresses that the entry has for these under `servers`.

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { runInProcess } from '../../support/in-process.ts';
import { type FakeUpstream, startUpstream } from '../../support/upstream.ts';

const responses = { 200: { description: 'fine', content: { 'application/json': {} } } };
const at = (url: string) => ({ servers: [{ url }] });
const name = { name: 'name', in: 'path', required: true, schema: { type: 'string' } };
const proof = `Basic ${Buffer.from('shop:a-password').toString('base64')}`;
const document = {
  openapi: '3.1.0',
  info: { title: 'Shop', version: '1' },
  servers: [{ url: 'https://api.example.com/v1' }],
  paths: {
    '/items': { get: { operationId: 'list', responses } },
    '/files/{name}': {
      parameters: [name],
      put: { operationId: 'upload', ...at('https://uploads.example.com/v2'), responses },
      get: { operationId: 'download', ...at('http://{region}.example.com/v2'), responses },
    },
    '/reports': { get: { operationId: 'report', ...at('https://api.example.com/v1/deep'), responses } },
  },
};
Object.assign(document.paths['/files/{name}'].get.servers[0] as object, {
  variables: { region: { default: 'uploads' } },
});

/** Without health checks, which come whenever they are due. */
const requestsTo = ({ requests }: FakeUpstream) => requests.filter(({ url }) => url !== '/health');

describe('operations on other hosts', () => {
  const upstreams: FakeUpstream[] = [];
  let gateway: TestGateway;
  let headers: Record<string, string>;
  let testHeaders: Record<string, string>;
  before(async () => {
    for (const which of ['main', 'uploads', 'moved', 'deep']) {
      const one = await startUpstream(({ url }, response) => {
        response.setHeader('content-type', 'application/json').setHeader('x-which', which);
        if (url.endsWith('/gone')) response.setHeader('location', `${one.url}/big/v2/files/here`).writeHead(201);
        response.end('{}');
      });
      upstreams.push(one);
    }
    const [main, uploads, , deep] = upstreams.map(({ url }) => url) as [string, string, string, string];
    const upstream = {
      contracts: ['shop.json'],
      basePath: '/shop',
      live: main,
      test: main,
      security: { apiKey: ['shop:read'] },
      responseHeaders: ['x-which'],
      requests: [{ operations: ['upload'], path: { lowerCase: ['name'] } }],
      health: { path: '/health', intervalMs: 60_000 },
      servers: {
        'https://uploads.example.com': `${uploads}/big`,
        'https://api.example.com/v1/deep': { live: `${deep}`, test: deep },
      },
    };
    const { security, ...plain } = upstream;
    gateway = await startGateway({
      contracts: { 'shop.json': document, 'bank.json': document },
      upstreams: {
        shop: upstream,
        bank: {
          ...plain,
          contracts: ['bank.json'],
          basePath: '/bank',
          operationNames: 'qualified',
          security,
          credential: { basic: { user: 'shop', secret: 'bank_token' } },
          basicForClients: false,
        },
      },
      environment: { BANK_TOKEN: 'a-password' },
    });
    headers = await gateway.authorize({ scopes: ['shop:read'] });
    testHeaders = await gateway.authorize({ scopes: ['shop:read'], mode: 'test' });
  });
  after(async () => {
    await gateway.stop();
    for (const one of upstreams) await one.close();
  });

  async function reached(method: string, path: string, key = headers): Promise<string> {
    const before = upstreams.map((one) => requestsTo(one).length);
    const answer = await fetch(gateway.url + path, { method, headers: key });
    const text = await answer.text();
    if (answer.status >= 400) return JSON.parse(text).error.code;
    const index = upstreams.findIndex((one, at) => requestsTo(one).length > (before[at] ?? 0));
    const { url } = upstreams[index] ? (requestsTo(upstreams[index]).at(-1) ?? {}) : {};
    return [answer.headers.get('x-which'), url, answer.headers.get('location')].filter(Boolean).join(' ');
  }
  const environment = () => ({
    GATEWAY_CONFIG: `${gateway.directory}/config`,
    GATEWAY_CONTRACTS: `${gateway.directory}/openapi`,
    GATEWAY_DATA: gateway.dataDirectory,
    BANK_TOKEN: 'a-password',
    ADMIN_PORT: new URL(gateway.adminUrl).port,
  });
  const command = (...words: string[]) => runInProcess(words, { environment: environment() });
  const assertionOf = (upstream: FakeUpstream) => {
    const [, payload = ''] = String(requestsTo(upstream).at(-1)?.headers['x-gateway-assertion']).split('.');
    return JSON.parse(Buffer.from(payload, 'base64url').toString());
  };

  it('go to the mapped address, with its path in the place of the server', async () => {
    assert.equal(await reached('GET', '/shop/items'), 'main /v1/items');
    assert.equal(await reached('GET', '/shop/files/A'), 'uploads /big/v2/files/A');
    assert.equal(await reached('GET', '/shop/reports'), 'deep /reports');
    assert.equal(await reached('GET', '/shop/files/gone'), 'uploads /big/v2/files/gone /shop/files/here');
  });

  it('keep the rules and the assertion of the entry', async () => {
    assert.equal(await reached('PUT', '/shop/files/ABC'), 'uploads /big/v2/files/abc');
    const ofUpload = assertionOf(upstreams[1] as FakeUpstream);
    await reached('GET', '/shop/items');
    assert.deepEqual(ofUpload.aud, assertionOf(upstreams[0] as FakeUpstream).aud);
  });

  it('get the credential of the entry', async () => {
    assert.equal(await reached('PUT', '/bank/files/ABC'), 'uploads /big/v2/files/abc');
    assert.equal(requestsTo(upstreams[1] as FakeUpstream).at(-1)?.headers.authorization, proof);
  });

  it('take test keys only where they have an address for them', async () => {
    assert.equal(await reached('GET', '/shop/items', testHeaders), 'main /v1/items');
    assert.equal(await reached('GET', '/shop/reports', testHeaders), 'deep /reports');
    assert.equal(await reached('GET', '/shop/files/a', testHeaders), 'key_mode_mismatch');
  });

  it('are separate upstreams for operators', async () => {
    const status = (await (await fetch(`${gateway.adminUrl}/status`)).json()) as {
      upstreams: Record<string, { live: string[] } | undefined>;
    };
    assert.deepEqual(status.upstreams['shop@uploads.example.com']?.live, [upstreams[1]?.url]);
    assert.ok(status.upstreams['shop@api.example.com/v1/deep']);
    assert.equal(gateway.logLines().findLast(({ msg }) => msg === 'exchange')?.upstream, 'shop@uploads.example.com');
    const explained = await command('explain', '--request', 'GET /shop/files/a', '--org', 'org_test');
    assert.match(explained.stdout + explained.stderr, new RegExp(`would be sent to ${upstreams[1]?.url}`));
    const doctor = await command('doctor');
    assert.match(doctor.stdout, new RegExp(`upstream shop@uploads\\.example\\.com ${upstreams[1]?.url}`));
    const tried = await command('upstreams', 'try', 'bank@uploads.example.com', '--writes');
    assert.match(tried.stdout, new RegExp(`^bank@uploads\\.example\\.com at ${upstreams[1]?.url}, live, `));
    assert.equal(requestsTo(upstreams[1] as FakeUpstream).at(-1)?.headers.authorization, proof);
    const { stdout, code } = await command('check');
    assert.equal(code, 0, stdout);
    assert.doesNotMatch(stdout, /uploads\.example\.com, and requests go to/);
  });

  it('follow a reload', async () => {
    const file = join(gateway.directory, 'config/upstreams.yaml');
    const [, uploads, moved] = upstreams.map(({ url }) => url) as [string, string, string];
    writeFileSync(file, readFileSync(file, 'utf8').replaceAll(`${uploads}/big`, `${moved}/small`));
    await gateway.app.reload();
    assert.equal(await reached('GET', '/shop/files/a'), 'moved /small/v2/files/a');
    assert.equal(await reached('GET', '/shop/items'), 'main /v1/items');
  });

  it('fail without the others', async () => {
    await (upstreams[2] as FakeUpstream).close();
    assert.equal(await reached('GET', '/shop/files/a'), 'upstream_unreachable');
    assert.equal(await reached('GET', '/shop/items'), 'main /v1/items');
  });
});
