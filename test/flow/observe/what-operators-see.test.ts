// The log line, the metrics and the admin listener: enough to find out what happened, and no secret.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import supertest from 'supertest';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { sendRaw } from '../../support/raw.ts';
import { type FakeUpstream, startUpstream } from '../../support/upstream.ts';

const SECRET_QUERY = 'marker-of-a-query-value';
const SECRET_BODY = 'marker-of-a-body-value';
const SECRET_COOKIE = 'marker-of-a-cookie';

describe('the view of operators', () => {
  let upstream: FakeUpstream;
  let gateway: TestGateway;
  let key: { id: string; key: string };
  before(async () => {
    upstream = await startUpstream((received, response) => {
      response.setHeader('content-type', 'application/json');
      if (received.method === 'POST') response.writeHead(500).end('{"message":"marker-of-an-upstream"}');
      else response.end('{"data":[],"cursor":null,"has_more":false}');
    });
    gateway = await startGateway({ upstreams: { platform: { contracts: ['v1/*.yaml'], live: upstream.url } } });
    key = await gateway.issueKey();
  });
  after(async () => {
    await gateway.stop();
    await upstream.close();
  });

  const call = (path: string, init: RequestInit = {}) =>
    fetch(gateway.url + path, {
      ...init,
      headers: { authorization: `Bearer ${key.key}`, cookie: `session=${SECRET_COOKIE}`, ...init.headers },
    });
  const lineOf = (id: string | null) => gateway.logLines().find((line) => line.request_id === id);

  it('one line describes a successful exchange: caller, operation, place, durations', async () => {
    const answer = await call(`/v1/customers?email=${SECRET_QUERY}@example.com`, {
      headers: { 'x-request-id': 'mine-1' },
    });
    await answer.text();
    const line = lineOf(answer.headers.get('x-request-id'));
    assert.ok(line);
    // A slow exchange has stages_ms as well.
    const { time, duration_ms, upstream_ms, decided_at, trace_id, stages_ms, ...rest } = line;
    assert.deepEqual(rest, {
      level: 30,
      request_id: answer.headers.get('x-request-id'),
      method: 'GET',
      stage: 'forward',
      status: 200,
      operation: 'listCustomers',
      route: '/v1/customers',
      upstream: 'platform',
      organization: 'org_test',
      tier: 'standard',
      key_id: key.id,
      mode: 'live',
      client: '127.0.0.1',
      bytes_in: 0,
      bytes_out: 42,
      limit: 'organization',
      limit_remaining: 99_999,
      limit_quota: 100_000,
      limit_source: 'process',
      target: upstream.url,
      upstream_status: 200,
      client_request_id: 'mine-1',
      msg: 'exchange',
    });
    for (const number of [time, duration_ms, upstream_ms, decided_at]) assert.equal(typeof number, 'number');
    assert.match(String(trace_id), /^[0-9a-f]{32}$/);
  });

  it('a refusal has its stage and its code; a failing upstream is a warning', async () => {
    const refused = await call('/v1/customers?limit=0');
    const line = lineOf(refused.headers.get('x-request-id'));
    assert.deepEqual([line?.stage, line?.code, line?.level, line?.status], ['validate', 'validation_failed', 30, 400]);
    const failed = await call('/v1/customers', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ name: SECRET_BODY }),
    });
    const warning = lineOf(failed.headers.get('x-request-id'));
    assert.deepEqual(
      [warning?.stage, warning?.code, warning?.level, warning?.upstream_status],
      ['forward', 'upstream_error', 40, 500],
    );
  });

  it('a request that the parser refused has a line too', async () => {
    const answer = await sendRaw(gateway.port, 'GARBAGE\r\n\r\n');
    const line = lineOf(answer.headers['x-request-id'] ?? null);
    assert.deepEqual([line?.stage, line?.code, line?.status], ['admit', 'malformed_http', 400]);
  });

  it('no key, cookie, query value or body is in any line, metric or status', async () => {
    const metrics = await (await fetch(`${gateway.adminUrl}/metrics`)).text();
    const status = await (await fetch(`${gateway.adminUrl}/status`)).text();
    const everything = JSON.stringify(gateway.logLines()) + metrics + status;
    for (const secret of [
      key.key,
      key.key.slice(8, 30),
      SECRET_QUERY,
      SECRET_BODY,
      SECRET_COOKIE,
      'marker-of-an-upstream',
    ]) {
      assert.ok(!everything.includes(secret), secret);
    }
  });

  it('metrics count exchanges by operation and refusals by stage and code, with bounded labels', async () => {
    await call('/v1/nothing-here');
    await call('/v1/nothing-there');
    await call('/v1/nothing-there', { method: 'LOCK' });
    const answer = await fetch(`${gateway.adminUrl}/metrics`);
    const text = await answer.text();
    assert.match(answer.headers.get('content-type') ?? '', /^text\/plain; version=0\.0\.4/);
    assert.match(
      text,
      /http_server_request_duration_seconds_count\{http_request_method="GET",http_route="\/v1\/customers",http_response_status_code="200",api_version="v1"\} 1/,
    );
    assert.match(
      text,
      /http_server_request_duration_seconds_count\{http_request_method="GET",http_route="unmatched",http_response_status_code="404",api_version=""\} 2/,
    );
    assert.match(
      text,
      /http_server_request_duration_seconds_count\{http_request_method="_OTHER",http_route="unmatched",http_response_status_code="501",api_version=""\} 1/,
    );
    assert.match(text, /gateway_requests_rejected_total\{stage="validate",code="validation_failed"\} 1/);
    assert.match(text, /gateway_rate_limit_decisions_total\{policy="organization",decision="admitted"\} 3/);
    assert.match(
      text,
      /http_client_request_duration_seconds_count\{upstream="platform",http_request_method="POST",http_response_status_code="500"\} 1/,
    );
    assert.ok(!text.includes('nothing-here'));
  });

  it("probes answer, readiness with the state of the gateway's dependencies", async () => {
    const admin = supertest(gateway.adminUrl);
    await admin.get('/livez').expect(200, { status: 'ok' });
    const checks = { lifecycle: 'serving', keys: 'reachable', limits: 'up' };
    await admin.get('/readyz').expect(200, { status: 'ok', checks });
    const { body: status } = await admin.get('/status').expect(200);
    assert.deepEqual([status.operations, status.version], [45, 'test']);
  });
});
