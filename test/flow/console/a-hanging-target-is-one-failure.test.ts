// One of two targets takes requests and does not answer. The gateway ejects it, and tells one failure, which names the target.

import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { until } from '../../support/connection.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { thingsAt } from '../../support/things.ts';
import { type FakeUpstream, startRawUpstream, startUpstream } from '../../support/upstream.ts';

interface Cause {
  readonly id: string;
  readonly kind: string;
  readonly cause: string;
  readonly consequence: string;
  readonly runbook?: string;
}

let service: FakeUpstream;
let hanging: Awaited<ReturnType<typeof startRawUpstream>>;
let gateway: TestGateway;
before(async () => {
  service = await startUpstream();
  hanging = await startRawUpstream(() => undefined);
  const { things } = thingsAt(service.url).upstreams;
  const targets = { ...things, live: [hanging.url, service.url], timeoutMs: 1000, ejection: { failures: 3 } };
  gateway = await startGateway({ ...thingsAt(service.url), upstreams: { things: targets } });
});
after(async () => {
  await gateway.stop();
  await hanging.close();
  await service.close();
});

it('names the target first, and nothing else', async () => {
  const headers = await gateway.authorize();
  const causes = await until(async () => {
    await Promise.all(
      Array.from({ length: 6 }, async () => (await fetch(`${gateway.url}/v1/things`, { headers })).text()),
    );
    const feed = (await (await fetch(`${gateway.adminUrl}/console/feed`)).json()) as { readonly attention: Cause[] };
    return feed.attention.some(({ cause }) => cause.includes('ejected')) && feed.attention;
  });
  assert.deepEqual(
    causes.map(({ kind, id, runbook }) => [kind, id, runbook]),
    [['bad', 'upstream things live', 'GatewayTargetDown']],
    JSON.stringify(causes),
  );
  assert.ok(causes[0]?.cause.includes(`target ${hanging.url} is ejected`), causes[0]?.cause);
  assert.match(causes[0]?.consequence ?? '', /at this target: upstream_timeout\. The other targets get its share/);
});
