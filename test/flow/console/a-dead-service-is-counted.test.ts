// The figures of an upstream have the requests that it did not answer, as failed ones: a service that is dead must not look healthy.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { until } from '../../support/connection.ts';
import { startGateway } from '../../support/gateway.ts';
import { startHoldingUpstream } from '../../support/holding-upstream.ts';
import { thingsAt } from '../../support/things.ts';
import { startUpstream } from '../../support/upstream.ts';

it('a service that stops answering fails on its own page, and a refusal of the gateway is not counted there', async () => {
  const upstream = await startUpstream();
  const things = thingsAt(upstream.url);
  const gateway = await startGateway(things);
  const [name = ''] = Object.keys(things.upstreams);
  try {
    const { authorization } = await gateway.authorize();
    const ask = async (path: string) => (await fetch(gateway.url + path, { headers: { authorization } })).arrayBuffer();
    const figures = async () => {
      const feed = await fetch(`${gateway.adminUrl}/console/feed?upstream=${name}`);
      const { total } = ((await feed.json()) as { history: { subject: { total: Record<string, number> } } }).history
        .subject;
      return [total.requests, total.server_errors];
    };
    for (let count = 0; count < 3; count += 1) await ask('/v1/things');
    assert.deepEqual(await figures(), [3, 0]);
    await upstream.close();
    for (let count = 0; count < 2; count += 1) await ask('/v1/things');
    await ask('/v1/things?undeclared=1');
    assert.deepEqual(await figures(), [5, 2]);
  } finally {
    await gateway.stop();
  }
});

it('a request that gets no place is refused, and no failure of the service', async () => {
  const upstream = await startHoldingUpstream();
  const gateway = await startGateway(thingsAt(upstream.url, { maxInFlight: 1, maxQueued: 0 }));
  const organization = 'org_waits';
  try {
    const { authorization } = await gateway.authorize({ organization });
    const ask = () => fetch(`${gateway.url}/v1/things`, { headers: { authorization } });
    const read = async (path: string) => (await fetch(`${gateway.adminUrl}/console/${path}`)).json();
    const first = ask();
    await until(() => upstream.held() === 1);
    assert.equal((await ask()).status, 503);
    upstream.letAllGo();
    assert.equal((await first).status, 200);
    const { history } = (await read('feed?upstream=things')) as { history: Record<string, Record<string, unknown>> };
    assert.deepEqual(history.subject?.total, { ...(history.subject?.total as object), requests: 1, server_errors: 0 });
    const countsOf = async (query: string) => {
      const { history: of } = (await read(`feed?${query}`)) as {
        history: { subject: { total: Record<string, number> } };
      };
      const { requests, server_errors, failed, refused } = of.subject.total;
      return { requests, server_errors, failed, refused };
    };
    const counted = { requests: 2, server_errors: 1, failed: 0, refused: 1 };
    assert.deepEqual(history.all?.minute, { ...(history.all?.minute as object), ...counted });
    assert.deepEqual(await countsOf(`operation=${encodeURIComponent('GET /v1/things')}`), counted);
    assert.deepEqual(await countsOf(`organization=${organization}`), counted);
    const codes = async (status: string) =>
      ((await read(`exchanges?status=${status}`)) as { exchanges: { code: string }[] }).exchanges.map(
        ({ code }) => code,
      );
    assert.deepEqual(await codes('refused'), ['upstream_overloaded']);
    assert.deepEqual(await codes('service_failed'), []);
    const [{ request_id: id }] = ((await read('exchanges?status=refused')) as { exchanges: [{ request_id: string }] })
      .exchanges;
    const { exchanges: stories } = (await read(`exchanges/${id}`)) as {
      exchanges: { verdict: string; refused: boolean; next: { cause?: string } }[];
    };
    assert.match(stories[0]?.verdict ?? '', / was refused by forward with 503 upstream_overloaded/);
    // The cause of the overload is there for as long as it is observed.
    const { cause: _, ...next } = stories[0]?.next ?? {};
    assert.deepEqual(
      [stories[0]?.refused, next],
      [true, { commands: ['bin/gateway upstreams try things --mode live'], runbook: 'GatewayShedding' }],
    );
    const { operations } = (await read('breakdown?upstream=things')) as { operations: Record<string, number>[] };
    assert.deepEqual([operations[0]?.failed, operations[0]?.refused], [0, 1]);
  } finally {
    await gateway.stop();
    await upstream.close();
  }
});
