// The only target of an upstream cannot be ejected. That it is down is reported nevertheless: by its state, its last error, since when, and
// by log lines of its own and of the breaker that name the cause.

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { it } from 'node:test';
import { freePort } from '../../support/free-port.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { startScriptedUpstream } from '../../support/scripted-upstream.ts';
import { thingsAt } from '../../support/things.ts';

interface TargetStatus {
  readonly state: string;
  readonly consecutive_failures: number;
  readonly last_error: string | null;
  readonly failing_since: string | null;
}

const breaker = { failurePercent: 50, requestsMin: 5, windowSeconds: 10, openSeconds: 1 };

async function targetOf({ adminUrl }: TestGateway): Promise<TargetStatus> {
  const status = (await (await fetch(`${adminUrl}/status`)).json()) as {
    upstreams: { things: { targets: [TargetStatus] } };
  };
  return status.upstreams.things.targets[0];
}

const breakerLines = (gateway: TestGateway) =>
  gateway.logLines().filter(({ msg }) => String(msg).startsWith('the circuit breaker'));

it('a sole target that is down is failing, with its last error and since when, until it answers', async (t) => {
  const port = await freePort();
  const gateway = await startGateway(thingsAt(`http://127.0.0.1:${port}`, { breaker }));
  t.after(() => gateway.stop());
  const headers = await gateway.authorize();
  const call = async () => (await fetch(`${gateway.url}/v1/things`, { headers })).status;
  assert.deepEqual(
    await targetOf(gateway).then(({ state, last_error, failing_since }) => [state, last_error, failing_since]),
    ['healthy', null, null],
  );

  const beganAt = Date.now();
  for (let times = 0; times < 5; times += 1) assert.ok([502, 503].includes(await call()));
  const failing = await targetOf(gateway);
  assert.equal(failing.state, 'failing');
  assert.equal(failing.last_error, `ECONNREFUSED 127.0.0.1:${port}`);
  const since = Date.parse(failing.failing_since ?? '');
  assert.ok(since >= beganAt - 1 && since <= Date.now(), `since ${failing.failing_since}`);
  const metrics = await (await fetch(`${gateway.adminUrl}/metrics`)).text();
  assert.ok(
    metrics.includes(`gateway_upstream_target_up{upstream="things",mode="live",target="http://127.0.0.1:${port}"} 0`),
  );

  const upstream = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  });
  await new Promise<void>((resolve) => upstream.listen(port, '127.0.0.1', resolve));
  t.after(() => upstream.close().closeAllConnections());
  while ((await call()) !== 200) await new Promise((resolve) => setTimeout(resolve, 50));
  const { state, consecutive_failures, last_error, failing_since } = await targetOf(gateway);
  assert.deepEqual([state, consecutive_failures, last_error, failing_since], ['healthy', 0, null, null]);
  const target = `target http://127.0.0.1:${port} of the upstream things`;
  assert.deepEqual(
    gateway
      .logLines()
      .filter(({ msg }) => String(msg).startsWith('target '))
      .map(({ level, msg }) => [level, msg]),
    [
      [50, `${target} is failing: ECONNREFUSED 127.0.0.1:${port}`],
      [30, `${target} works again`],
    ],
  );
});

it('the breaker of an upstream that stays down is logged once with the cause, although it opens again and again', async (t) => {
  const upstream = await startScriptedUpstream();
  t.after(() => upstream.close());
  upstream.plays((socket) => socket.write('no HTTP\r\n\r\n'));
  const gateway = await startGateway(thingsAt(upstream.url, { breaker }));
  t.after(() => gateway.stop());
  const headers = await gateway.authorize();
  const opened = async () => (await (await fetch(`${gateway.url}/v1/things`, { headers })).status) === 502;
  let trials = -5;
  while (trials < 2) {
    if (await opened()) trials += 1;
    else await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const lines = breakerLines(gateway);
  assert.deepEqual(
    lines.map(({ level, upstream, mode, state }) => ({ level, upstream, mode, state })),
    [{ level: 50, upstream: 'things', mode: 'live', state: 'open' }],
  );
  assert.match(String(lines[0]?.reason), /^WIRE_MALFORMED/);
});

it('a sole target that refuses connections is tried by every request, and used as soon as it is back', async (t) => {
  const port = await freePort();
  const gateway = await startGateway(thingsAt(`http://127.0.0.1:${port}`, { breaker, retry: { attempts: 0 } }));
  t.after(() => gateway.stop());
  const headers = await gateway.authorize();
  const call = async () => (await fetch(`${gateway.url}/v1/things`, { headers })).status;
  for (let round = 0; round < 3; round += 1) {
    for (let times = 0; times < 10; times += 1) assert.equal(await call(), 502);
    const upstream = createServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json', connection: 'close' }).end('{}');
    });
    await new Promise<void>((resolve) => upstream.listen(port, '127.0.0.1', resolve));
    assert.equal(await call(), 200, 'the first request after it came');
    await new Promise((resolve) => upstream.close(resolve));
  }
  assert.deepEqual(breakerLines(gateway), []);
});
