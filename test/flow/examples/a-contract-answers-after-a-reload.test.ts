// Answers from the contract follow a reload: changed examples, a new service, and a service that goes away.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { startUpstream } from '../../support/upstream.ts';
import { saveAndReload } from '../reload/files.ts';
import { plannedContract, startPlanned } from './planned.ts';

const entryAt = (live: string) => ({ upstreams: { orders: { contracts: ['orders.yaml'], live } } });

it('a changed contract changes the answers at once', async (test) => {
  const { gateway, call } = await startPlanned();
  test.after(gateway.stop);
  assert.equal(JSON.parse(String((await call('GET /v1/orders')).body)).data.length, 1);
  const changed = JSON.parse(
    JSON.stringify(plannedContract()).replace('"several":', '"more":').replace('"total":5', '"total":6'),
  );
  await saveAndReload(gateway, 'openapi/orders.yaml', changed);
  assert.equal(JSON.parse(String((await call('GET /v1/orders')).body)).data[0].total, 6);
  assert.equal(
    (await call('GET /v1/orders', { Prefer: 'example=more' })).headers['preference-applied'],
    'example=more',
  );
});

it('an upstream moves from its contract to a service, and back', async (test) => {
  const upstream = await startUpstream((_request, response) => {
    response.setHeader('content-type', 'application/json');
    response.end('{"data":[]}');
  });
  const { gateway, call } = await startPlanned();
  test.after(async () => {
    await gateway.stop();
    await upstream.close();
  });
  await saveAndReload(gateway, 'config/upstreams.yaml', entryAt(upstream.url));
  assert.deepEqual(JSON.parse(String((await call('GET /v1/orders')).body)), { data: [] });
  await saveAndReload(gateway, 'config/upstreams.yaml', entryAt('examples:'));
  assert.equal(JSON.parse(String((await call('GET /v1/orders')).body)).data.length, 1);
  assert.equal(upstream.requests.length, 1);
});

it('a gateway without such an upstream gets one by a reload', async (test) => {
  const upstream = await startUpstream();
  const { gateway, call } = await startPlanned({ entry: { live: upstream.url } });
  test.after(async () => {
    await gateway.stop();
    await upstream.close();
  });
  const [first] = await Promise.all([
    saveAndReload(gateway, 'config/upstreams.yaml', entryAt('examples:')).then(() => call('GET /v1/orders')),
    call('GET /v1/orders'),
  ]);
  assert.equal(JSON.parse(String(first.body)).data.length, 1);
});

it('a streamed body is read, and no health check is made', async (test) => {
  const upload = {
    '/v1/files': {
      post: {
        operationId: 'upload',
        'x-gateway-body': 'stream',
        requestBody: { required: true, content: { 'application/octet-stream': {} } },
        responses: { 201: { description: 'stored', content: { 'application/json': { schema: { const: 'stored' } } } } },
      },
    },
  };
  const health = { path: '/healthz', intervalMs: 100, timeoutMs: 50, unhealthyAfter: 1 };
  const { gateway, call } = await startPlanned({ paths: upload, entry: { health } });
  test.after(gateway.stop);
  const answer = await call('POST /v1/files', { 'Content-Type': 'application/octet-stream' }, 'x'.repeat(500_000));
  assert.equal(answer.status, 201);
  assert.equal(String(answer.body), '"stored"');
  const status = (await (await fetch(`${gateway.adminUrl}/status`)).json()) as {
    upstreams: { orders: { targets: object[] } };
  };
  const [target] = status.upstreams.orders.targets as { state: string; last_check?: object }[];
  assert.deepEqual([target?.state, target?.last_check], ['healthy', undefined]);
});
