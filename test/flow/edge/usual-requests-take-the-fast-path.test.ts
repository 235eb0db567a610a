// The fast path takes usual requests, and gives everything else to Node's HTTP server, with the bytes that were read and behind the answers
// that were given. It keeps the same times, and ends in the same ways.

import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { GatewayError } from '../../../gateway/catalogue/errors.ts';
import { listen } from '../../../gateway/edge/connections/listen.ts';
import type { EdgeResponse } from '../../../gateway/edge/edge-exchange.ts';
import { createRefusals } from '../../../gateway/edge/refusal/refusals.ts';
import { PublicServer } from '../../../gateway/edge/server.ts';
import type { Arrived } from '../../../gateway/exchange/exchange.ts';
import { type Connection, openConnection, requestOf, until } from '../../support/connection.ts';

const KEEP_ALIVE_MS = 300;
const HEADERS_MS = 300;

let edge: PublicServer;
let port: number;
/** Targets in order, with the reader of each. */
let read: string[];
let held: (() => void)[];
let active: Arrived | undefined;

async function bodyOf({ request }: Arrived): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request.iterator({ destroyOnReturn: false })) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

const LETTERS = 15_000;

function answerWith(response: Arrived['response'], letter: string): void {
  response.writeHead(200, ['Content-Length', String(LETTERS)]);
  response.end(Buffer.alloc(LETTERS, letter));
}

const answers: Readonly<Record<string, (arrived: Arrived) => Promise<void>>> = {
  '/echo': async (arrived) => {
    const body = await bodyOf(arrived);
    arrived.response.writeHead(200, ['Content-Length', String(body.length)]);
    arrived.response.end(body);
  },
  '/listened': async ({ request, response }) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks);
      response.writeHead(200, ['Content-Length', String(body.length)]);
      response.end(body);
    });
  },
  '/chunks': async ({ response }) => {
    response.writeHead(200, []);
    response.write(Buffer.from('a'));
    response.write(Buffer.from('bc'));
    await sleep(5);
    response.end(Buffer.from('def'));
  },
  '/as': async ({ response }) => answerWith(response, 'a'),
  '/bs': async ({ response }) => answerWith(response, 'b'),
  '/held': async ({ response }) => {
    await new Promise<void>((resolve) => held.push(resolve));
    response.writeHead(204, []);
    response.end();
  },
  '/unread': async () => {
    throw new GatewayError('route_not_found');
  },
};

async function startEdge(times: { readonly headersMs: number; readonly keepAliveMs: number }): Promise<void> {
  edge = new PublicServer({
    headerBytesMax: 16_384,
    urlBytesMax: 8192,
    ...times,
    requestMs: 60_000,
    writeIdleMs: 5000,
    constantHeaders: [],
    refusals: createRefusals({ publicUrl: 'http://api.test', countRefusal: () => undefined }),
    requestId: () => 'req_1',
    usesFastPath: true,
    servingInForce: () => ({
      needsNode: ({ url }) => url?.startsWith('/node') === true,
      handleRequest: async (arrived) => {
        const { request, response } = arrived;
        read.push(`${request.fields === undefined ? 'node' : 'fast'} ${request.url}`);
        active = arrived;
        const answer = answers[request.url as string];
        if (answer !== undefined) return answer(arrived);
        response.writeHead(200, ['Content-Length', '2']);
        response.end(Buffer.from('ok'));
      },
      isUpgradable: () => false,
      upgrade: () => Promise.reject(new Error('never asked')),
    }),
    recordExchange: () => undefined,
  });
  port = await listen(edge.server, '127.0.0.1', 0);
}

beforeEach(() => {
  read = [];
  held = [];
});

async function open(): Promise<Connection> {
  const client = await openConnection(port);
  return client;
}

const get = (target = '/') => requestOf(`GET ${target}`);
const bodyIn = async (client: Connection) => (await client.answer())?.body.toString();

describe('the fast path', () => {
  // A busy machine may take long to read a request.
  before(() => startEdge({ headersMs: 60_000, keepAliveMs: 60_000 }));
  after(() => edge.drain(0));

  it('answers one request after the other on a connection', async () => {
    const client = await open();
    for (const target of ['/1', '/2', '/3']) {
      client.send(get(target));
      assert.equal(await bodyIn(client), 'ok');
    }
    assert.deepEqual(read, ['fast /1', 'fast /2', 'fast /3']);
    client.destroy();
  });

  it('keeps the bytes of an answer that waits for its client while others are answered', async () => {
    const [slow, other] = [await open(), await open()];
    slow.socket.pause();
    const asked = async () => {
      const count = read.length;
      slow.send(get('/as'));
      await until(() => read.length > count);
      await sleep(1);
      return active?.response as EdgeResponse;
    };
    // Until the kernel takes no more.
    let requests = 1;
    while ((await asked()).writableFinished) requests += 1;
    for (let count = 0; count < 5; count += 1) {
      other.send(get('/bs'));
      assert.equal(await bodyIn(other), 'b'.repeat(LETTERS));
    }
    slow.socket.resume();
    for (let count = 0; count < requests; count += 1) assert.equal(await bodyIn(slow), 'a'.repeat(LETTERS));
    slow.destroy();
    other.destroy();
  });

  it('leaves a connection to Node for good, behind its answers', async () => {
    const client = await open();
    client.send(get('/1'));
    assert.equal(await bodyIn(client), 'ok');
    client.send(get('/node'));
    assert.equal(await bodyIn(client), 'ok');
    client.send(get('/3'));
    assert.equal(await bodyIn(client), 'ok');
    assert.deepEqual(read, ['fast /1', 'node /node', 'node /3']);
    client.destroy();
  });

  it('leaves requests that come together to Node, which runs them at the same time', async () => {
    const client = await open();
    client.send(Buffer.concat([get('/held'), get('/held')]));
    await until(() => held.length === 2);
    for (const release of held) release();
    assert.deepEqual([(await client.answer())?.status, (await client.answer())?.status], [204, 204]);
    assert.deepEqual(read, ['node /held', 'node /held']);
    client.destroy();
  });

  it('reads a request that comes before the answer to the last one after that answer', async () => {
    const client = await open();
    client.send(get('/held'));
    await until(() => held.length === 1);
    client.send(get('/2'));
    client.send(requestOf('GET /node'));
    await sleep(20);
    held[0]?.();
    assert.equal((await client.answer())?.status, 204);
    assert.equal(await bodyIn(client), 'ok');
    assert.equal(await bodyIn(client), 'ok');
    assert.deepEqual(
      read.map((text) => text.split(' ')[1]),
      ['/held', '/2', '/node'],
    );
    client.destroy();
  });

  for (const target of ['/2', '/node']) {
    it(`answers a request for ${target} that comes before the answer to the last one, and with it the end of the client`, async () => {
      const client = await open();
      client.send(get('/held'));
      await until(() => held.length === 1);
      client.send(get(target));
      client.socket.end();
      await sleep(20);
      held[0]?.();
      assert.equal((await client.answer())?.status, 204);
      assert.equal(await bodyIn(client), 'ok');
      assert.equal(await client.closed, 'end');
      assert.deepEqual(read, ['fast /held', `node ${target}`]);
    });
  }

  it('reads a head that comes in two pieces, wherever it is cut', async () => {
    const text = get('/cut').toString('latin1');
    const client = await open();
    for (let cut = 1; cut < text.length; cut += 1) {
      client.send(text.slice(0, cut));
      await sleep(1);
      client.send(text.slice(cut));
      assert.equal(await bodyIn(client), 'ok');
    }
    client.destroy();
  });

  it('passes a long body on, in the pieces in which it comes, to either kind of reader', async () => {
    const body = Buffer.alloc(3_000_000, 'abcdefg');
    for (const target of ['/echo', '/listened']) {
      const client = await open();
      client.send(requestOf(`POST ${target}`, {}, body));
      assert.deepEqual((await client.answer())?.body, body);
      client.send(requestOf(`POST ${target}`, {}, 'short'));
      assert.equal(await bodyIn(client), 'short');
      assert.deepEqual(read.splice(0), [`fast ${target}`, `fast ${target}`]);
      client.destroy();
    }
  });

  it('does not read on while a body waits for its reader', async () => {
    const client = await open();
    client.send(requestOf('POST /held', {}, Buffer.alloc(30_000_000)));
    await until(() => held.length === 1);
    await sleep(50);
    const socket = active?.request.socket;
    assert.ok((socket?.bytesRead ?? 0) < 1_000_000, `${socket?.bytesRead} bytes`);
    client.destroy();
    held[0]?.();
  });

  it('drops a short body that is not read, and takes the next request', async () => {
    const client = await open();
    client.send(requestOf('POST /unread', {}, Buffer.alloc(20_000)));
    assert.equal((await client.answer())?.status, 404);
    client.send(get('/2'));
    assert.equal(await bodyIn(client), 'ok');
    assert.deepEqual(read, ['fast /unread', 'fast /2']);
    client.destroy();
  });

  it('sends an answer of unknown length in chunks, and none to HEAD', async () => {
    const client = await open();
    client.send(get('/chunks'));
    const answer = await client.answer();
    assert.equal(answer?.headers['transfer-encoding'], 'chunked');
    assert.equal(answer?.body.toString(), 'abcdef');
    client.send(requestOf('HEAD /chunks'));
    assert.equal((await client.answer({ hasBody: false }))?.status, 200);
    client.send(get('/3'));
    assert.equal(await bodyIn(client), 'ok');
    assert.deepEqual(read, ['fast /chunks', 'fast /chunks', 'fast /3']);
    client.destroy();
  });

  it('closes the connection behind the answer if the client asks for that', async () => {
    const client = await open();
    client.send(requestOf('GET /1', { Connection: 'close' }));
    const answer = await client.answer();
    assert.equal(answer?.headers.connection, 'close');
    assert.equal(await client.closed, 'end');
    assert.deepEqual(read, ['fast /1']);
  });

  it('reports to the reader of a body and to the answer that the client has left', async () => {
    const client = await open();
    client.send(requestOf('POST /echo', { 'Content-Length': '100' }), 'half');
    await until(() => read.length === 1);
    const { response, request } = active as Arrived;
    const closed = new Promise<void>((resolve) => response.once('close', resolve));
    client.socket.resetAndDestroy();
    await closed;
    assert.deepEqual([response.destroyed, request.destroyed, request.complete], [true, true, false]);
  });
});

describe('in its time ends', () => {
  before(() => startEdge({ headersMs: HEADERS_MS, keepAliveMs: KEEP_ALIVE_MS }));
  after(() => edge.drain(0));

  it('a connection on which nothing comes', async () => {
    const client = await open();
    assert.equal((await client.answer())?.error.code, 'request_timeout');
    assert.equal(await client.closed, 'end');
  });

  it('a head that stays half', async () => {
    const client = await open();
    client.send('GET / HTTP/1.1\r\nHost: a\r\n');
    assert.equal((await client.answer())?.error.code, 'request_timeout');
    assert.equal(await client.closed, 'end');
  });

  it('a head that trickles, from its first byte on', async () => {
    const client = await open();
    const startedAt = performance.now();
    client.send('GET / HTTP/1.1\r\nHost: a\r\nX: ');
    const trickle = setInterval(() => client.send('x'), 30);
    assert.equal((await client.answer())?.error.code, 'request_timeout');
    clearInterval(trickle);
    assert.ok(performance.now() - startedAt >= HEADERS_MS);
    // By a reset if a byte came after the gateway had closed.
    await client.closed;
  });

  it('an idle connection, without a word', async () => {
    const client = await open();
    client.send(get());
    assert.equal(await bodyIn(client), 'ok');
    const startedAt = performance.now();
    assert.equal(await client.closed, 'end');
    assert.ok(performance.now() - startedAt > KEEP_ALIVE_MS);
    assert.equal(client.rest().length, 0);
  });
});

it('a drain closes idle connections, and finishes requests in progress', async () => {
  const other = new PublicServer({
    headerBytesMax: 16_384,
    urlBytesMax: 8192,
    headersMs: 5000,
    requestMs: 5000,
    writeIdleMs: 5000,
    keepAliveMs: 5000,
    constantHeaders: [],
    refusals: createRefusals({ publicUrl: 'http://api.test', countRefusal: () => undefined }),
    requestId: () => 'req_1',
    usesFastPath: true,
    servingInForce: () => ({
      needsNode: () => false,
      handleRequest: answers['/held'] as (arrived: Arrived) => Promise<void>,
      isUpgradable: () => false,
      upgrade: () => Promise.reject(new Error('never asked')),
    }),
    recordExchange: () => undefined,
  });
  const otherPort = await listen(other.server, '127.0.0.1', 0);
  const [idle, busy] = [await openConnection(otherPort), await openConnection(otherPort)];
  idle.send(get());
  await until(() => held.length === 1);
  held[0]?.();
  assert.equal((await idle.answer())?.status, 204);
  busy.send(get());
  await until(() => held.length === 2);
  const drained = other.drain(60_000);
  assert.equal(await idle.closed, 'end');
  held[1]?.();
  const answer = await busy.answer();
  assert.deepEqual([answer?.status, answer?.headers.connection], [204, 'close']);
  await drained;
});
