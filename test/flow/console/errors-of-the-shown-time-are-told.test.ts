// The page of an upstream, an operation or an organization tells the errors of the time that its charts show, however many requests there
// were since then, and the failures of a service before what was refused since.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { startGateway } from '../../support/gateway.ts';
import { thingsAt } from '../../support/things.ts';
import { startUpstream } from '../../support/upstream.ts';

interface Breakdown {
  readonly codes: readonly { name: string; requests: number }[];
  readonly organizations: readonly { name: string; failed: number; refused: number }[];
  readonly failures: readonly { code: string }[];
  readonly refusals: readonly { code: string }[];
}

it('failures that 500 later requests follow are told, after 12 later refusals', async () => {
  let nowMs = Date.now();
  const upstream = await startUpstream(({ url }, response) => {
    const status = url.startsWith('/v1/strict') ? 500 : 200;
    response.writeHead(status, { 'content-type': 'application/json' }).end('{}');
  });
  const gateway = await startGateway({
    ...thingsAt(upstream.url, { breaker: 'off' }),
    limits: { tiers: { standard: { requests: 10_000 } } },
    now: () => nowMs,
  });
  try {
    const { authorization } = await gateway.authorize({ organization: 'org_acme' });
    const ask = async (path: string, times: number) => {
      for (let count = 0; count < times; count += 1)
        await (await fetch(gateway.url + path, { headers: { authorization } })).arrayBuffer();
    };
    const breakdown = async (range: string) =>
      (await (await fetch(`${gateway.adminUrl}/console/breakdown?upstream=things&range=${range}`)).json()) as Breakdown;
    await ask('/v1/strict', 3);
    nowMs += 60_000;
    await ask('/v1/things?undeclared=1', 12);
    await ask('/v1/things', 510);
    const { codes, organizations, failures, refusals } = await breakdown('15m');
    const counted = codes.map(({ name, requests }) => [name, requests]);
    assert.deepEqual(Object.fromEntries(counted), { validation_failed: 12, upstream_error: 3 });
    assert.deepEqual([organizations[0]?.failed, organizations[0]?.refused], [3, 12]);
    assert.deepEqual(
      [failures, refusals].map((list) => list.map(({ code }) => code)),
      [Array(3).fill('upstream_error'), Array(10).fill('validation_failed')],
    );
    nowMs += 20 * 60_000;
    assert.deepEqual((await breakdown('15m')).codes, []);
    assert.equal((await breakdown('1h')).codes.length, 2);
  } finally {
    await gateway.stop();
    await upstream.close();
  }
});
