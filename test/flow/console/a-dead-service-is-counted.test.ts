// The figures of an upstream have the requests that it did not answer, as failed ones: a service that is dead must not look healthy.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { startGateway } from '../../support/gateway.ts';
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
