// An upstream that comes and goes in a rhythm: of the requests that were sent while it was up, how many were served. The breaker and
// ejection must not take more than the fault does. Prints the table of docs/reliability.md.

import assert from 'node:assert/strict';
import { createServer, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { after, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { ask, requestOf } from '../support/connection.ts';
import { freePort } from '../support/free-port.ts';
import { startGateway } from '../support/gateway.ts';
import { thingsAt } from '../support/things.ts';

const RUN_MS = Number(process.env.FLAP_MS ?? 12_000);
/** Each client sends its next request so long after the answer to the last one. */
const PAUSE_MS = 10;
const CLIENTS = 8;
/** Of the gateway, for hanging services. */
const TIMEOUT_MS = 500;

type Fault = 'refuses' | 'hangs' | 'answers 503';

/** A service that the test switches on and off. */
async function createService(fault: Fault) {
  const port = await freePort();
  const sockets = new Set<Socket>();
  const held = new Set<ServerResponse>();
  let isUp = true;
  const server = createServer((_request, response) => {
    if (isUp) finish(response);
    else if (fault === 'hangs') held.add(response);
    else response.writeHead(503).end();
  });
  const finish = (response: ServerResponse) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
  });
  const listen = () => new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  await listen();
  return {
    url: `http://127.0.0.1:${port}`,
    async goDown() {
      isUp = false;
      if (fault !== 'refuses') return;
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
    async goUp() {
      if (fault === 'refuses') await listen();
      isUp = true;
      for (const response of held) finish(response);
      held.clear();
    },
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

interface Rhythm {
  readonly fault: Fault;
  readonly targets: number;
  readonly downMs: number;
  readonly upMs: number;
  /** The least share of the requests sent while it was up that are served. */
  readonly least: number;
}

const table: string[] = [];
after(() => {
  for (const line of table) process.stdout.write(`${line}\n`);
});

async function measure({ fault, targets, downMs, upMs }: Rhythm) {
  const services = await Promise.all(Array.from({ length: targets }, () => createService(fault)));
  const gateway = await startGateway(
    thingsAt(
      services.map(({ url }) => url),
      fault === 'hangs' ? { timeoutMs: TIMEOUT_MS } : {},
    ),
  );
  const { authorization } = await gateway.authorize();
  let isUp = true;
  let isOver = false;
  const counts = { sentUp: 0, servedUp: 0, sent: 0, mostAtOnce: 0 };
  let atOnce = 0;

  async function beClient(): Promise<void> {
    while (!isOver) {
      const wasUp = isUp;
      atOnce += 1;
      counts.mostAtOnce = Math.max(counts.mostAtOnce, atOnce);
      const answer = await ask(gateway.port, requestOf('GET /v1/things', { Authorization: authorization }));
      atOnce -= 1;
      counts.sent += 1;
      // What is in progress when it goes down is the fault's.
      if (wasUp && isUp) {
        counts.sentUp += 1;
        if (answer.status === 200) counts.servedUp += 1;
      }
      await sleep(PAUSE_MS);
    }
  }

  const clients = Array.from({ length: CLIENTS }, beClient);
  const endsAt = performance.now() + RUN_MS;
  while (performance.now() < endsAt) {
    isUp = false;
    await Promise.all(services.map((one) => one.goDown()));
    await sleep(downMs);
    await Promise.all(services.map((one) => one.goUp()));
    isUp = true;
    await sleep(upMs);
  }
  isOver = true;
  await Promise.all(clients);
  await gateway.stop();
  for (const service of services) service.close();
  return counts;
}

for (const [fault, targets, downMs, upMs, least] of [
  ['refuses', 1, 400, 600, 0.95],
  ['refuses', 1, 400, 870, 0.95],
  ['refuses', 1, 600, 400, 0.95],
  ['refuses', 1, 2000, 3000, 0.95],
  ['refuses', 3, 400, 600, 0.95],
  ['refuses', 3, 2000, 3000, 0.95],
  ['answers 503', 1, 400, 600, 0.5],
  ['answers 503', 1, 600, 400, 0.25],
  ['answers 503', 1, 2000, 3000, 0.8],
  ['hangs', 1, 400, 600, 0.95],
  ['hangs', 1, 2000, 3000, 0.5],
  ['hangs', 3, 2000, 3000, 0.5],
] as const) {
  const name = `${targets === 1 ? 'one target' : `${targets} targets together`}, ${fault} for ${downMs} ms of ${downMs + upMs}`;
  it(name, async () => {
    const { sentUp, servedUp, sent } = await measure({ fault, targets, downMs, upMs, least });
    const share = servedUp / sentUp;
    table.push(`| ${name} | ${sent} | ${sentUp} | ${(share * 100).toFixed(1)} % |`);
    assert.ok(share >= least, `${servedUp} of ${sentUp} sent while it was up`);
  });
}
