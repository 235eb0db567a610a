// Traces of exchanges arrive at a real OTLP receiver, with parents and links; a receiver that is away holds nothing up.

import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { exchangeReport } from '../../../gateway/explain/report.ts';
import { TIMED_STAGES } from '../../../gateway/stages.ts';
import { startCollector } from '../../support/collector.ts';
import { type GatewayOptions, startGateway, type TestGateway } from '../../support/gateway.ts';
import { thingsAt } from '../../support/things.ts';
import { startUpstream, unusedPort } from '../../support/upstream.ts';

const theirs = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7' };
const theirTraceparent = `00-${theirs.traceId}-${theirs.spanId}-01`;
const SECRET = 'marker-of-a-query-value';

async function start(test: TestContext, tracing: object | undefined, more: GatewayOptions = {}) {
  const upstream = await startUpstream(({ url }, response) => {
    if (url.includes('broken')) response.statusCode = 500;
    response.setHeader('content-type', 'application/json');
    response.end('{"id":"1"}');
  });
  test.after(upstream.close);
  const gateway = await startGateway({ ...thingsAt(upstream.url), gateway: { ...(tracing && { tracing }) }, ...more });
  const headers = { ...(await gateway.authorize()), traceparent: theirTraceparent, tracestate: 'a=b', baggage: 'c=d' };
  let stopped: Promise<void> | undefined;
  const stop = () => (stopped ??= gateway.stop());
  test.after(stop);
  const call = async (path: string) => {
    const answer = await fetch(gateway.url + path, { headers });
    await answer.arrayBuffer();
    return answer;
  };
  return { gateway, upstream, call, stop };
}

async function metric(gateway: TestGateway, outcome: string): Promise<number> {
  const text = await gateway.app.operators.metrics.text();
  return Number(new RegExp(`^gateway_trace_spans_total\\{outcome="${outcome}"\\} (\\d+)$`, 'm').exec(text)?.[1] ?? 0);
}

async function collector(test: TestContext, answer?: Parameters<typeof startCollector>[0]) {
  const started = await startCollector(answer);
  test.after(started.close);
  return started;
}

describe('traces', () => {
  it('have a span of the exchange and one of each attempt, which the upstream finds as its parent', async (test) => {
    const { endpoint, spans, resources, headers } = await collector(test);
    const { call, upstream, gateway, stop } = await start(
      test,
      { endpoint, sampleRatio: 1, serviceName: 'edge', headersSecret: 'otlp_headers' },
      { environment: { OTLP_HEADERS: 'X-Tenant: platform\nAuthorization: Basic dGVzdA==' } },
    );
    const answer = await call(`/v1/things/1?q=${SECRET}`);
    await call(`/v1/things?q=${SECRET}`);
    await stop();
    const server = spans.find(({ kind, name }) => kind === 2 && name === 'GET /v1/things');
    const client = spans.find(({ kind }) => kind === 3);
    assert.ok(server && client);
    assert.deepEqual([client.traceId, client.parentSpanId], [server.traceId, server.spanId]);
    assert.deepEqual([server.parentSpanId, server.links], [undefined, [theirs]]);
    assert.notEqual(server.traceId, theirs.traceId, 'a trace begins at the gateway');
    const received = upstream.requests[0]?.headers;
    assert.equal(received?.traceparent, `00-${client.traceId}-${client.spanId}-03`);
    assert.deepEqual([received?.tracestate, received?.baggage], [undefined, undefined]);
    assert.deepEqual(server.events, [...Object.values(TIMED_STAGES), 'forwarded']);
    assert.deepEqual(
      { ...server.attributes, 'gateway.request_id': undefined },
      {
        'http.request.method': 'GET',
        'http.route': '/v1/things',
        'http.response.status_code': '200',
        'client.address': '127.0.0.1',
        'gateway.request_id': undefined,
        'gateway.operation': 'listThings',
        'gateway.organization': 'org_test',
        'gateway.stage': 'forward',
      },
    );
    const { port } = new URL(upstream.url);
    assert.deepEqual(client.attributes, {
      'http.request.method': 'GET',
      'http.response.status_code': '200',
      'server.address': '127.0.0.1',
      'server.port': port,
      'gateway.upstream': 'things',
    });
    assert.equal(resources[0]?.['service.name'], 'edge');
    assert.equal(resources[0]?.['service.version'], 'test');
    assert.deepEqual([headers[0]?.['x-tenant'], headers[0]?.authorization], ['platform', 'Basic dGVzdA==']);
    assert.ok(!JSON.stringify(spans).includes(SECRET));
    // A query parameter that getThing does not know was refused before anything was sent.
    assert.equal(answer.status, 400);
    const line = gateway.logLines().find(({ trace_id }) => trace_id === server.traceId);
    assert.equal(line?.request_id, server.attributes['gateway.request_id']);
  });

  it('mark failures: 5xx is an error, a refusal that is the fault of the client is not', async (test) => {
    const { endpoint, spans } = await collector(test);
    const { call, gateway, stop } = await start(test, { endpoint, sampleRatio: 1 });
    await call('/v1/things/broken');
    await call('/v1/nothing');
    await stop();
    const [failed, client, refused] = spans;
    assert.deepEqual([failed?.status, failed?.attributes['error.type']], [2, 'upstream_error']);
    assert.deepEqual([client?.status, client?.attributes['error.type']], [2, '500']);
    assert.deepEqual([refused?.name, refused?.status, refused?.events], ['GET', undefined, []]);
    assert.deepEqual([refused?.attributes['gateway.code'], refused?.links], ['route_not_found', [theirs]]);
    const line = gateway.logLines().find(({ code }) => code === 'route_not_found');
    assert.equal(line?.trace_id, refused?.traceId);
  });

  it('have a span for each attempt, each found by the target that it went to', async (test) => {
    const { endpoint, spans } = await collector(test);
    const upstream = await startUpstream();
    test.after(upstream.close);
    const dead = `http://127.0.0.1:${await unusedPort()}`;
    const { call, stop, gateway } = await start(test, { endpoint, sampleRatio: 1 }, thingsAt([dead, upstream.url]));
    // In either order of the targets, one of two requests meets the dead one.
    for (let sent = 0; sent < 2; sent += 1) assert.equal((await call('/v1/things')).status, 200);
    await stop();
    const again = spans.find(({ attributes }) => attributes['http.request.resend_count'] === '1');
    const first = spans.find(
      ({ kind, traceId, spanId }) => kind === 3 && traceId === again?.traceId && spanId !== again.spanId,
    );
    assert.ok(again && first);
    assert.equal(again.parentSpanId, first.parentSpanId);
    assert.deepEqual([first.status, first.attributes['server.port']], [2, new URL(dead).port]);
    assert.deepEqual([again.status, again.attributes['server.port']], [undefined, new URL(upstream.url).port]);
    const traceparents = upstream.requests.map(({ headers }) => headers.traceparent);
    assert.ok(traceparents.includes(`00-${again.traceId}-${again.spanId}-03`));
    const line = gateway.logLines().find(({ trace_id }) => trace_id === again.traceId);
    const told = exchangeReport(line ?? {}).stages.at(-1)?.told ?? [];
    assert.deepEqual(told.slice(0, 2), [`sent to ${upstream.url}`, 'it took 2 attempts: no connection was made']);
  });

  it('that are not kept carry the flag to upstreams, and send nothing', async (test) => {
    const { endpoint, spans } = await collector(test);
    const { call, upstream, stop, gateway } = await start(test, { endpoint, sampleRatio: 0 });
    await call('/v1/things');
    assert.match(String(upstream.requests[0]?.headers.traceparent), /^00-[0-9a-f]{32}-[0-9a-f]{16}-02$/);
    assert.match(String(gateway.logLines().find(({ msg }) => msg === 'exchange')?.trace_id), /^[0-9a-f]{32}$/);
    await stop();
    assert.deepEqual(spans, []);
  });

  it('without `tracing` leave the decision to upstreams', async (test) => {
    const { call, upstream } = await start(test, undefined);
    await call('/v1/things');
    assert.match(String(upstream.requests[0]?.headers.traceparent), /^00-(?!4bf92f)[0-9a-f]{32}-[0-9a-f]{16}-03$/);
  });

  it('that wait when the gateway ends are delivered', async (test) => {
    const { endpoint, spans } = await collector(test);
    const { call, stop } = await start(test, { endpoint, sampleRatio: 1 });
    await call('/v1/things');
    await stop();
    assert.deepEqual(spans.map(({ kind }) => kind).sort(), [2, 3]);
  });
});

describe('a collector', () => {
  it('that is away costs spans, which are counted and reported, and no request', async (test) => {
    const { call, gateway, stop } = await start(test, {
      endpoint: `http://127.0.0.1:${await unusedPort()}/v1/traces`,
      sampleRatio: 1,
    });
    for (let sent = 0; sent < 5; sent += 1) assert.equal((await call('/v1/things')).status, 200);
    await stop();
    assert.equal(await metric(gateway, 'dropped'), 10);
    const told = gateway.logLines().filter(({ msg }) => String(msg).startsWith('the collector of traces'));
    assert.deepEqual(
      told.map(({ level, reason }) => [level, reason]),
      [[40, 'ECONNREFUSED']],
    );
  });

  it('that refuses its input costs the same', async (test) => {
    const { endpoint } = await collector(test, (response) => response.writeHead(503).end());
    const { call, gateway, stop } = await start(test, { endpoint, sampleRatio: 1 });
    await call('/v1/things');
    await stop();
    const told = gateway.logLines().filter(({ msg }) => String(msg).startsWith('the collector of traces'));
    assert.deepEqual(
      told.map(({ reason }) => reason),
      ['it answered 503'],
    );
  });
});
