// The cause of a failing service names the status and the code that its clients get, and the runbook that `explain` names for such a
// request.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CausesReport } from '../../../gateway/alerts/report.ts';
import { startGateway } from '../../support/gateway.ts';
import { eventually } from '../../support/instances.ts';
import { thingsAt } from '../../support/things.ts';
import { startUpstream } from '../../support/upstream.ts';

for (const status of [500, 502, 503, 504])
  it(`a service that answers ${status}`, async () => {
    const upstream = await startUpstream((_request, response) => response.writeHead(status).end());
    const gateway = await startGateway(thingsAt(upstream.url, { breaker: 'off', retry: { attempts: 0 } }));
    try {
      const { authorization } = await gateway.authorize();
      const ask = () => fetch(`${gateway.url}/v1/things`, { headers: { authorization } });
      const read = async <T>(path: string) => (await (await fetch(`${gateway.adminUrl}/${path}`)).json()) as T;
      const causes = async () => (await read<CausesReport>('causes')).causes.filter(({ id }) => id.includes('things'));
      await eventually(async () => {
        await ask();
        return (await causes()).some(({ id }) => id === 'upstream things live');
      });
      const answer = await ask();
      const { error } = (await answer.json()) as { error: { code: string } };
      const [cause] = await causes();
      assert.ok(
        cause?.consequence.includes(`Its requests fail with ${answer.status} ${error.code}.`),
        cause?.consequence,
      );
      const { exchanges } = await read<{ exchanges: { next: { runbook: string } }[] }>(
        `console/exchanges/${answer.headers.get('x-request-id')}`,
      );
      assert.equal(cause?.runbook, exchanges[0]?.next.runbook);
    } finally {
      await gateway.stop();
      await upstream.close();
    }
  });

it('an operation that fails while the others of its service work', async () => {
  const upstream = await startUpstream(({ url }, response) =>
    response.writeHead(url === '/v1/things' ? 500 : 200, { 'content-type': 'application/json' }).end('{}'),
  );
  const gateway = await startGateway(thingsAt(upstream.url, { breaker: 'off', retry: { attempts: 0 } }));
  try {
    const { authorization } = await gateway.authorize();
    const ask = (path: string) => fetch(gateway.url + path, { headers: { authorization } });
    const report = async () => (await (await fetch(`${gateway.adminUrl}/causes`)).json()) as CausesReport;
    const causes = async () => (await report()).causes.map(({ cause }) => cause);
    await ask('/v1/things');
    await sleep(500);
    const firstEndedMs = Date.now();
    for (let sent = 0; sent < 4; sent += 1) {
      await ask('/v1/things');
      await ask('/v1/things/1');
    }
    await eventually(async () => (await causes()).length > 0);
    assert.match(
      (await causes()).join(),
      /^GET \/v1\/things of things fails: \d of \d in the last minute: upstream_error\.$/,
    );
    const [cause] = (await report()).causes;
    assert.ok(Date.parse(cause?.since ?? '') < firstEndedMs, 'since the first failed request, not since it was found');
  } finally {
    await gateway.stop();
    await upstream.close();
  }
});
