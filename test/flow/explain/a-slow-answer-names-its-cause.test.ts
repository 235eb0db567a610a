// A request that was answered late has a next step, too, while a cause explains the delay; one that was answered in time has none.

import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { askWith, eventually } from '../../support/instances.ts';
import { thingsAt } from '../../support/things.ts';
import { type FakeUpstream, startUpstream } from '../../support/upstream.ts';
import { explainer } from './explained.ts';

const LATE_MS = 1200;

let isLate = false;
let upstream: FakeUpstream;
/** Moves the clock past the last minute, which is compared with the hour before it. */
let skewMs = 0;
let gateway: TestGateway;
before(async () => {
  upstream = await startUpstream((_request, response) => {
    const answer = () => response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    if (isLate) setTimeout(answer, LATE_MS);
    else answer();
  });
  gateway = await startGateway({ ...thingsAt(upstream.url), now: () => Date.now() + skewMs });
});
after(async () => {
  await gateway.stop();
  await upstream.close();
});

it('names the slow operation after a slow 200, and nothing after a fast one', async () => {
  const { key } = await gateway.issueKey();
  const ask = async () => String((await askWith(key, gateway)).headers['x-request-id']);
  const fast = [];
  for (let sent = 0; sent < 100; sent += 1) fast.push(await ask());
  const causes = async () =>
    ((await (await fetch(`${gateway.adminUrl}/causes`)).json()) as { causes: { id: string }[] }).causes;
  // Reading the causes counts the requests.
  assert.deepEqual(await causes(), []);
  skewMs = 90_000;
  isLate = true;
  const slowIds: string[] = [];
  await eventually(async () => {
    slowIds.push(...(await Promise.all(Array.from({ length: 10 }, ask))));
    return (await causes()).some(({ id }) => id.startsWith('slow GET'));
  });
  const { run } = explainer(gateway);
  const { out } = await run(String(slowIds.at(-1)));
  assert.match(
    out,
    /^Now: {2}GET \/v1\/\S+ of things is slow: .*\nNext: bin\/gateway upstreams try things --mode live\n {6}runbook GatewaySlow/m,
  );
  assert.doesNotMatch((await run(String(fast[0]))).out, /^(Now|Next):/m);
});
