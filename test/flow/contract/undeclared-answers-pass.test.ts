// A service answers through the gateway as it does directly, even against its contract, unless the contract refuses undeclared answers.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { until } from '../../support/connection.ts';
import { answerAsFileService, ETAG, FILE, fileDocument, MODIFIED } from '../../support/file-service.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { runInProcess } from '../../support/in-process.ts';
import { type Answer, type FakeUpstream, startUpstream } from '../../support/upstream.ts';

const json = { 'application/json': { schema: {} } };
const answered = (says: object, responses: object = { 200: { description: 'x', content: json } }) => ({
  get: { ...says, responses },
});
const settings = {
  openapi: '3.1.0',
  info: { title: 'Settings', version: '1' },
  paths: {
    '/report': answered({ operationId: 'report' }),
    '/refuse': answered({ operationId: 'refuse', 'x-gateway-response': 'refuse' }),
    '/off': answered({ operationId: 'off', 'x-gateway-response': 'off' }),
    '/types': answered({ operationId: 'types', 'x-gateway-undeclared-media-types': 'refuse' }),
  },
};

describe('an answer that its contract does not declare', () => {
  let upstream: FakeUpstream;
  let gateway: TestGateway;
  let answer: Answer = answerAsFileService;
  before(async () => {
    upstream = await startUpstream((request, response, raw) => answer(request, response, raw));
    gateway = await startGateway({
      contracts: { 'files.json': fileDocument, 'settings.json': settings },
      upstreams: {
        files: { contracts: ['files.json'], live: upstream.url, public: true },
        settings: { contracts: ['settings.json'], live: upstream.url, public: true },
      },
    });
  });
  after(async () => {
    await gateway.stop();
    await upstream.close();
  });

  async function get(path: string, headers: Record<string, string> = {}) {
    const received = await fetch(`${gateway.url}${path}`, { headers, redirect: 'manual' });
    const body = Buffer.from(await received.arrayBuffer());
    const id = received.headers.get('x-request-id');
    const line = await until(() => gateway.logLines().find(({ request_id }) => request_id === id));
    return { status: received.status, headers: received.headers, body, line };
  }

  function answersWith(status: number, type: string | undefined, body = '{}'): void {
    answer = (_request, response) => {
      response.writeHead(status, type === undefined ? {} : { 'content-type': type });
      response.end(body);
    };
  }

  it('is the same as when the service is called directly: a file that is declared as JSON', async () => {
    answer = answerAsFileService;
    const direct = await fetch(`${upstream.url}/file`);
    const { status, headers, body } = await get('/file');
    assert.equal(status, 200);
    assert.ok(body.equals(FILE));
    for (const name of [
      'content-type',
      'content-length',
      'content-disposition',
      'accept-ranges',
      'etag',
      'last-modified',
    ])
      assert.equal(headers.get(name), direct.headers.get(name), name);
    assert.deepEqual([headers.get('etag'), headers.get('last-modified')], [ETAG, MODIFIED]);
  });

  it('is the same: chunks without a media type', async () => {
    const { status, headers, body } = await get('/stream');
    assert.deepEqual([status, headers.get('content-type'), body.toString()], [200, null, 'one\ntwo\n']);
  });

  it('is the same: a redirect to the address of the service, which becomes one of the gateway', async () => {
    const { status, headers } = await get('/old');
    assert.deepEqual([status, headers.get('location')], [307, '/file']);
  });

  it('is the same for every Accept header, because the service decides that', async () => {
    assert.equal((await get('/file', { accept: 'application/zip' })).status, 200);
    assert.equal((await get('/stream', { accept: 'text/event-stream' })).status, 200);
  });

  it('runs no scripts in browsers: HTML, SVG and XML', async () => {
    for (const path of ['/page', '/picture']) {
      const { status, headers } = await get(path);
      assert.equal(status, 200);
      assert.equal(headers.get('x-content-type-options'), 'nosniff');
      assert.match(headers.get('content-security-policy') ?? '', /(^|, )sandbox$/);
    }
    for (const type of ['application/xml', 'application/xhtml+xml', 'TEXT/XML; charset=utf-8']) {
      answersWith(200, type, '<x/>');
      for (const path of ['/report', '/off'])
        assert.match((await get(path)).headers.get('content-security-policy') ?? '', /sandbox/, `${path} ${type}`);
    }
    answersWith(200, 'application/json');
    assert.doesNotMatch((await get('/report')).headers.get('content-security-policy') ?? '', /sandbox/);
  });

  it('obeys the setting of its operation: its media type', async () => {
    for (const type of ['text/csv', undefined]) {
      answersWith(200, type);
      const statuses = { '/report': 200, '/refuse': 502, '/off': 200, '/types': 502 };
      for (const [path, status] of Object.entries(statuses)) {
        const { body, line, ...received } = await get(path);
        assert.equal(received.status, status, `${path} ${type}`);
        if (status === 502) assert.equal(JSON.parse(body.toString()).error.code, 'upstream_bad_response');
        assert.equal(line.answer_violations === undefined, path === '/off', path);
      }
    }
  });

  it('obeys the setting of its operation: its status', async () => {
    answersWith(203, 'application/json');
    for (const [path, status] of Object.entries({ '/report': 203, '/refuse': 502, '/off': 203, '/types': 203 })) {
      const { body, ...received } = await get(path);
      assert.equal(received.status, status, path);
      if (status === 502) assert.equal(JSON.parse(body.toString()).error.code, 'upstream_contract_violation');
    }
  });

  it('becomes the error object from status 400 on, declared or not', async () => {
    answersWith(409, 'text/html', '<p>');
    for (const path of ['/report', '/refuse', '/off']) {
      const { status, headers, body } = await get(path);
      assert.deepEqual([status, headers.get('content-type')], [409, 'application/json']);
      assert.equal(JSON.parse(body.toString()).error.status, 409);
    }
  });

  it('is reported in the log, by explain and in the metrics: the declaration, the answer, and the line to add', async () => {
    answersWith(200, 'text/csv; header=present');
    const { line } = await get('/report');
    const told =
      'status 200 with text/csv; the contract declares application/json; to declare it, add text/csv: {} under paths./report.get.responses.200.content (report, ';
    const [violation] = line.answer_violations as string[];
    assert.ok(violation?.startsWith(told), violation);
    assert.equal(line.level, 40);
    const port = new URL(gateway.adminUrl).port;
    const explained = await runInProcess(['explain', String(line.request_id)], {
      environment: { ADMIN_PORT: port, GATEWAY_DATA: gateway.dataDirectory },
    });
    assert.ok(explained.stdout.includes(`not as the contract says: ${told}`), explained.stdout + explained.stderr);
    const metrics = await (await fetch(`${gateway.adminUrl}/metrics`)).text();
    assert.match(metrics, /^gateway_validation_failures_total\{direction="response",http_route="\/report"\} [1-9]/m);
  });
});

describe('the shipped contracts', () => {
  it('refuse media types that they do not declare, because clients are promised JSON', async () => {
    const upstream = await startUpstream((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/html' }).end('<p>');
    });
    const gateway = await startGateway({ upstreams: { platform: { contracts: ['v1/*.yaml'], live: upstream.url } } });
    const headers = await gateway.authorize();
    const refused = await fetch(`${gateway.url}/v1/customers`, { headers });
    const { error } = (await refused.json()) as { error: { code: string } };
    assert.deepEqual([refused.status, error.code], [502, 'upstream_bad_response']);
    const unacceptable = await fetch(`${gateway.url}/v1/customers`, { headers: { ...headers, accept: 'text/html' } });
    assert.equal(unacceptable.status, 406);
    await gateway.stop();
    await upstream.close();
  });
});
