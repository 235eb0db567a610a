// A request that is given up while it waits for a connection takes nothing from those that follow: neither the connection nor a byte.

import assert from 'node:assert/strict';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { closesAfterEach } from '../../support/closing.ts';
import { type Connection, openConnection, requestOf, until } from '../../support/connection.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { createSkip } from '../../support/skip.ts';
import { thingsAt } from '../../support/things.ts';

const start = closesAfterEach();
const octets = { 'Content-Type': 'application/octet-stream' };

/** Downloads begin and do not end until the test ends them; everything else is taken and answered. */
async function startBusyUpstream() {
  const downloads: ServerResponse[] = [];
  const uploads: string[] = [];
  let connections = 0;
  const server = createServer((request, response) => {
    let body = '';
    request
      .on('error', () => undefined)
      .on('data', (chunk) => {
        body += chunk;
      });
    if (request.method === 'GET' && request.url === '/v1/files') {
      response.writeHead(200, octets).write('x');
      downloads.push(response);
      return;
    }
    request.on('end', () => {
      if (request.method === 'POST') uploads.push(body);
      response.writeHead(request.method === 'POST' ? 201 : 200, { 'content-type': 'application/json' }).end('{}');
    });
  });
  server.on('connection', () => {
    connections += 1;
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return start({
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    downloads,
    uploads,
    connections: () => connections,
    async close() {
      server.closeAllConnections();
      server.close();
    },
  });
}

async function openAndSend({ port }: TestGateway, ...pieces: Buffer[]): Promise<Connection> {
  const connection = await start(openConnection(port));
  connection.send(...pieces);
  return connection;
}

interface Status {
  readonly overload: { readonly in_flight: number };
  readonly upstreams: { readonly things: { readonly targets: readonly { readonly outstanding: number }[] } };
}

async function statusOf({ adminUrl }: TestGateway): Promise<Status> {
  return (await (await fetch(`${adminUrl}/status`)).json()) as Status;
}

/** So many requests have arrived at the gateway and are not over. */
async function areUnderWay(gateway: TestGateway, number: number): Promise<void> {
  for (let inFlight = -1; inFlight !== number; ) inFlight = (await statusOf(gateway)).overload.in_flight;
}

/** The first of these targets on which a second request waits, as soon as one does. */
async function waitedForAmong(gateway: TestGateway, indices: readonly number[]): Promise<number> {
  for (;;) {
    const { targets } = (await statusOf(gateway)).upstreams.things;
    const found = indices.find((index) => targets[index]?.outstanding === 2);
    if (found !== undefined) return found;
  }
}

describe('a request that is given up while it waits for a connection', () => {
  it('leaves the connection to the next one', async () => {
    const upstream = await startBusyUpstream();
    const gateway = await start(startGateway(thingsAt(upstream.url, { connections: 1, maxInFlight: 10 })));
    const { authorization: Authorization } = await gateway.authorize();
    const list = requestOf('GET /v1/things', { Authorization });
    const download = await openAndSend(gateway, requestOf('GET /v1/files', { Authorization }));
    const [first] = await until(() => upstream.downloads.length === 1 && (upstream.downloads as [ServerResponse]));
    const leaving = await openAndSend(gateway, list);
    await areUnderWay(gateway, 2);
    leaving.destroy();
    await areUnderWay(gateway, 1);
    const staying = await openAndSend(gateway, list);
    await areUnderWay(gateway, 2);
    first.end();
    assert.equal((await download.answer())?.status, 200);
    assert.equal((await staying.answer())?.status, 200);
    assert.equal(upstream.connections(), 1);
  });

  for (const freedFirst of ['given up', 'waited for'] as const) {
    it(`takes no byte of a streamed body that another target is sent, when the one ${freedFirst} is free first`, async (context) => {
      const upstreams = [await startBusyUpstream(), await startBusyUpstream()];
      const addresses = upstreams.map(({ url }) => url);
      const times = { firstByteTimeoutMs: 20_000, timeoutMs: 55_000 };
      const gateway = await start(startGateway(thingsAt(addresses, { connections: 1, maxInFlight: 10, ...times })));
      const { authorization: Authorization } = await gateway.authorize();
      for (const _ of upstreams) await openAndSend(gateway, requestOf('GET /v1/files', { Authorization }));
      await until(() => upstreams.every(({ downloads }) => downloads.length === 1));
      const skip = createSkip(context);
      const head = { Authorization, ...octets, 'Transfer-Encoding': 'chunked' };
      const upload = await openAndSend(gateway, requestOf('POST /v1/files', head));
      const givenUp = await waitedForAmong(gateway, [0, 1]);
      skip(21_000);
      // The second target has as long again.
      const waitedFor = await waitedForAmong(gateway, [1 - givenUp]);
      for (const index of freedFirst === 'given up' ? [givenUp, waitedFor] : [waitedFor, givenUp]) {
        upstreams[index]?.downloads[0]?.end();
        await sleep(50);
      }
      for (let index = 0; index < 5; index += 1) upload.send(`3\r\n<${index}>\r\n`);
      upload.send('0\r\n\r\n');
      assert.equal((await upload.answer())?.status, 201);
      const sent = upstreams.flatMap(({ uploads }) => uploads);
      assert.deepEqual(sent, ['<0><1><2><3><4>']);
    });
  }
});
