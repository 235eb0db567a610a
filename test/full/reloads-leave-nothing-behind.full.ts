// Fifty reloads under load that change every pool of connections and every health check: afterwards there is as much as before.

import assert from 'node:assert/strict';
import { Agent, createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { roomy, saveAndReload } from '../flow/reload/files.ts';
import { closesAfterEach } from '../support/closing.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { thingsAt } from '../support/things.ts';

const start = closesAfterEach();
const CLIENTS = 8;

/** It keeps no state, so that everything left over is the gateway's. */
async function startForgetfulUpstream() {
  let checks = 0;
  let connections = 0;
  const server = createServer(({ url }, response) => {
    if (url === '/health') checks += 1;
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  });
  server.on('connection', (socket) => {
    connections += 1;
    socket.on('close', () => {
      connections -= 1;
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return start({
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    checks: () => checks,
    connections: () => connections,
    async close() {
      server.closeAllConnections();
      server.close();
    },
  });
}

describe('fifty reloads under load', () => {
  it('leave no connection, no timer, no health check and no memory behind, and lose no request', async () => {
    const upstreams = [await startForgetfulUpstream(), await startForgetfulUpstream()];
    const [one, other] = upstreams.map(({ url }) => url) as [string, string];
    const health = { path: '/health', intervalMs: 100, timeoutMs: 100 };
    const entriesOf = (count: number) =>
      thingsAt([one, [one, other], other][count % 3] ?? one, { connections: 3 + (count % 5), health }).upstreams;
    const gateway = await start(
      startGateway({ ...thingsAt(one), upstreams: entriesOf(0), limits: roomy, gateway: { logLevel: 'error' } }),
    );
    const { authorization } = await gateway.authorize();
    const reload = (upstreamEntries: object) =>
      saveAndReload(gateway, 'config/upstreams.yaml', { upstreams: upstreamEntries });
    const reloads = async (number: number) => {
      for (let count = 1; count <= number; count += 1) {
        await reload(entriesOf(count));
        await sleep(20);
      }
      await reload(entriesOf(0));
    };
    const failed: unknown[] = [];

    failed.push(...(await underLoad(gateway, authorization, () => reloads(15))));
    const before = await whatThereIs();
    failed.push(...(await underLoad(gateway, authorization, () => reloads(50))));
    const after = await whatThereIs();
    assert.deepEqual(failed, []);
    assert.deepEqual(after.handles, before.handles);
    assert.ok(after.heapBytes - before.heapBytes < 2_000_000, `${before.heapBytes} → ${after.heapBytes}`);
    assert.equal(upstreams[1]?.connections(), 0, 'no request is sent there any more');
    assert.ok((upstreams[0]?.connections() as number) <= 3 + 1, 'those of one pool, and of one check');

    await reload(thingsAt(one).upstreams);
    const checks = () => upstreams.map((upstream) => upstream.checks());
    await sleep(50);
    const asked = checks();
    await sleep(500);
    assert.deepEqual(checks(), asked, 'no health check runs any more');
  });
});

/** Failures of clients that sent without a pause during an action. */
async function underLoad({ url }: TestGateway, authorization: string, act: () => Promise<void>): Promise<unknown[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS });
  const wrong: unknown[] = [];
  let isOn = true;
  const call = () =>
    new Promise<unknown>((resolve) => {
      request(`${url}/v1/things`, { agent, headers: { authorization } }, (answer) => {
        answer.resume().on('end', () => resolve(answer.statusCode));
      })
        .on('error', resolve)
        .end();
    });
  const clients = Array.from({ length: CLIENTS }, async () => {
    while (isOn) {
      const got = await call();
      if (got !== 200) wrong.push(got);
    }
  });
  await act();
  isOn = false;
  await Promise.all(clients);
  agent.destroy();
  return wrong;
}

/** In this process, when everything has come to rest. */
async function whatThereIs(): Promise<{ heapBytes: number; handles: object }> {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  await sleep(1000);
  collect();
  await sleep(100);
  collect();
  const handles = await lasting();
  return { heapBytes: process.memoryUsage().heapUsed, handles };
}

/** The least of each kind in several samples: a health check has a timer while it runs. */
async function lasting(): Promise<Record<string, number>> {
  const samples: string[][] = [];
  for (let i = 0; i < 10; i += 1) {
    await sleep(15);
    // How many connections rest in a pool depends on how many were needed at once.
    samples.push(process.getActiveResourcesInfo().filter((kind) => kind !== 'TCPSocketWrap'));
  }
  const leastOf = (kind: string) => Math.min(...samples.map((kinds) => kinds.filter((one) => one === kind).length));
  const counts = [...new Set(samples.flat())].sort().map((kind) => [kind, leastOf(kind)] as const);
  return Object.fromEntries(counts.filter(([, count]) => count > 0));
}
