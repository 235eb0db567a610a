// The clients, on real sockets: they count answers, in pieces of any size.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { runLoad } from '../load.ts';
import { runPaced } from '../paced.ts';
import { ask, LIST, requestsOf, verify } from '../scenarios.ts';

const servers: ReturnType<typeof createServer>[] = [];
after(() => {
  for (const server of servers) server.close();
});

/** A server that answers each request by the given function; requests come one at a time on a connection. */
async function serve(answer: (socket: Socket, request: string) => void): Promise<number> {
  const server = createServer({ noDelay: true }, (socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => answer(socket, chunk.toString('latin1')));
  }).listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

const request = Buffer.from('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello';

test('a closed loop counts statuses and lengths, and takes the requests in turn', async () => {
  const lines = new Map<string, number>();
  const port = await serve((socket, text) => {
    const line = text.slice(0, text.indexOf('\r\n'));
    lines.set(line, (lines.get(line) ?? 0) + 1);
    socket.write(line.includes('/b') ? 'HTTP/1.1 404 No\r\ncontent-length: 0\r\n\r\n' : OK);
  });
  const requests = requestsOf(LIST, port, ['a']).concat(Buffer.from('GET /b HTTP/1.1\r\n\r\n'));
  const result = await runLoad({ port, connections: 4, durationMs: 200, requests });
  assert.equal(result.statuses[200], lines.get('GET /v1/customers?limit=20 HTTP/1.1'));
  assert.equal(result.statuses[404], lines.get('GET /b HTTP/1.1'));
  assert.ok(Math.abs((result.statuses[200] ?? 0) - (result.statuses[404] ?? 0)) <= 1);
  assert.deepEqual([...result.bodyBytes].sort(), [0, 5]);
  assert.equal(result.answers, result.latencies.length);
});

test('an answer that comes in pieces is one answer', async () => {
  const port = await serve(async (socket) => {
    for (const piece of [OK.slice(0, 20), OK.slice(20, 38), OK.slice(38, 42), OK.slice(42)]) {
      socket.write(piece);
      await sleep(2);
    }
  });
  const result = await runLoad({ port, connections: 2, durationMs: 100, requests: [request] });
  assert.deepEqual(result.statuses, { 200: result.answers });
  assert.deepEqual([...result.bodyBytes], [5]);
});

test('an open loop keeps its rate, and a caller waits for answers that are slow', async () => {
  const port = await serve(async (socket) => {
    await sleep(20);
    socket.write(OK);
  });
  const result = await runPaced({ port, connections: 4, durationMs: 500, perSecond: 400, requests: [request] });
  // Four connections carry 200 a second: the rest waits, is answered nevertheless, and its waiting counts.
  assert.ok(result.answers > 120, `${result.answers} answers`);
  assert.ok((result.latencies.at(-1) ?? 0) > 100, `at most ${result.latencies.at(-1)} ms`);
});

test('an answer that is not the expected one fails the measurement', () => {
  const result = { answers: 2, seconds: 1, bodyBytes: new Set([5]), latencies: [1, 1] };
  const good = { ...result, statuses: { 200: 2 } };
  assert.doesNotThrow(() => verify('someone', LIST, good, 5));
  assert.throws(
    () => verify('someone', LIST, { ...result, statuses: { 200: 1, 502: 1 } }, 5),
    /someone, GET list.*502/,
  );
  assert.throws(() => verify('someone', LIST, good, 6), /bodies of 5 bytes/);
  assert.throws(() => verify('someone', LIST, { ...good, statuses: {}, answers: 0 }, 5), /answered/);
});

test('one request is sent on a connection of its own', async () => {
  const port = await serve((socket) => socket.write(OK));
  assert.deepEqual(await ask(port, request), { status: 200, bodyBytes: 5 });
});
