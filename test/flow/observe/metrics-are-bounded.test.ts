// `/metrics` stays small with many operations: beyond `metrics.operationsMax` it is kept by entry and class of status. An upstream that
// invents statuses makes no series without end.

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { manyOperations } from '../../support/many-operations.ts';
import { type FakeUpstream, startUpstream } from '../../support/upstream.ts';

const OPERATIONS = 300;
const CALLED = 30;
const DURATION = 'http_server_request_duration_seconds_count';

describe('metrics of 300 operations', () => {
  let upstream: FakeUpstream;
  let gateway: TestGateway;
  let authorization: string;
  before(async () => {
    upstream = await startUpstream(({ url }, response) => {
      response.setHeader('content-type', 'application/json');
      const [, status] = /status=(\d+)/.exec(url) ?? [];
      response.writeHead(Number(status ?? 200));
      response.end('{"id":"1"}');
    });
    gateway = await startGateway({
      contracts: { 'many.json': manyOperations(OPERATIONS) },
      upstreams: {
        many: {
          contracts: ['many.json'],
          live: upstream.url,
          security: { apiKey: ['many:read'] },
          undeclaredQuery: 'pass',
        },
      },
    });
    authorization = (await gateway.authorize()).authorization;
  });
  after(async () => {
    await upstream?.close();
    await gateway?.stop();
  });

  const call = async (path: string) => (await fetch(gateway.url + path, { headers: { authorization } })).text();
  const metrics = async () => (await fetch(`${gateway.adminUrl}/metrics`)).text();
  const countsIn = (text: string) =>
    Object.fromEntries(
      [
        ...text.matchAll(
          new RegExp(`^${DURATION}\\{.*?http_route="([^"]+)",http_response_status_code="(\\w+)".*\\} (\\d+)$`, 'gm'),
        ),
      ]
        .filter(([, route]) => route !== 'unmatched')
        .map(([, route, status, count]) => [`${route} ${status}`, Number(count)]),
    );
  async function callAll(): Promise<void> {
    for (let index = 0; index < CALLED; index += 1) await call(`/resource${index}/1`);
  }
  async function setOperationsMax(operationsMax: number): Promise<void> {
    const path = join(gateway.directory, 'config/gateway.yaml');
    const file = JSON.parse(readFileSync(path, 'utf8'));
    writeFileSync(path, JSON.stringify({ ...file, metrics: { operationsMax } }));
    await gateway.app.reload();
  }

  it('are kept by entry and class of status, and count every request', async () => {
    const empty = (await metrics()).length;
    await callAll();
    await call('/resource1/1?status=404');
    await call('/resource2/1?status=410');
    const text = await metrics();
    assert.deepEqual(countsIn(text), { 'upstream:many 2xx': CALLED, 'upstream:many 4xx': 2 });
    assert.ok(text.length - empty < 20_000, `${text.length - empty} bytes more`);
    assert.ok(!text.includes('/resource'), 'no label is a path');
  });

  it('leave the console its figures by operation', async () => {
    const { operations } = await gateway.app.operators
      .sample()
      .then((sample) => sample as never as { operations: { name: string; classes: number[] }[] });
    const of = (name: string) => operations.find((one) => one.name === name)?.classes;
    assert.deepEqual(of('GET /resource1/{id}'), [1, 0, 1, 0, 0, 0, 0]);
    assert.deepEqual(of('GET /resource3/{id}'), [1, 0, 0, 0, 0, 0, 0]);
  });

  it('are kept by operation where the setting allows it, until it does not', async () => {
    await setOperationsMax(OPERATIONS);
    await callAll();
    const counts = countsIn(await metrics());
    assert.equal(Object.keys(counts).length, CALLED);
    assert.equal(counts['/resource7/{id} 200'], 1);
    await setOperationsMax(OPERATIONS - 1);
    await call('/resource7/1');
    assert.deepEqual(countsIn(await metrics()), { 'upstream:many 2xx': 1 });
  });

  it('of an upstream that invents statuses have a few of them only', async () => {
    await setOperationsMax(OPERATIONS);
    for (let status = 430; status < 480; status += 1) await call(`/resource9/1?status=${status}`);
    const counts = Object.entries(countsIn(await metrics())).filter(([name]) => name.startsWith('/resource9/'));
    assert.equal(counts.length, 17);
    assert.deepEqual(counts.at(-1), ['/resource9/{id} 4xx', 34]);
  });
});
