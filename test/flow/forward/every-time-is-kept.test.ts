// The times of an exchange: connecting, the first byte, a pause in the body, and the deadline over all of them, retries included.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { describe, it } from 'node:test';
import { closesAfterEach } from '../../support/closing.ts';
import { openConnection, requestOf, until } from '../../support/connection.ts';
import { assertRefusal } from '../../support/errors.ts';
import { httpAnswer, startScriptedUpstream } from '../../support/scripted-upstream.ts';
import { createSkip } from '../../support/skip.ts';
import { thingsAt } from '../../support/things.ts';
import { createWorld } from '../../support/world.ts';

const start = closesAfterEach();
const json = { 'Content-Type': 'application/json' };
const head = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n';
const alone = { retry: { attempts: 0 } };

/** It takes connections and never answers, so that TLS to it never stands. */
async function startMute(): Promise<{
  readonly url: string;
  readonly connections: () => number;
  close(): Promise<void>;
}> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `https://127.0.0.1:${(server.address() as { port: number }).port}`,
    connections: () => sockets.size,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

describe('a connection that is not made in time', () => {
  it('is distinguished from an answer that does not come, and lets a write go elsewhere', async () => {
    const mute = await start(startMute());
    const well = await start(startScriptedUpstream());
    const [one, both] = await Promise.all([
      start(createWorld(thingsAt(mute.url, { connectTimeoutMs: 100, ...alone }))),
      start(createWorld(thingsAt([mute.url, well.url], { connectTimeoutMs: 100 }))),
    ]);
    well.plays((socket) => socket.write(httpAnswer(201, '{}')));
    const post = (world: typeof one) => world.call('POST /v1/things', json, '{"name":"a"}');
    const [refused, ...created] = await Promise.all([post(one), post(both), post(both)]);
    assertRefusal(refused, 'upstream_timeout');
    assert.match(String(refused.headers['proxy-status']), /error=connection_timeout$/);
    assert.deepEqual(
      created.map(({ status }) => status),
      [201, 201],
    );
    assert.equal(well.received.length, 2);
    assert.ok(mute.connections() >= 2);
  });
});

describe('the first byte', () => {
  it('is waited for in each attempt, and the body may take longer', async () => {
    const world = await start(createWorld({}, { firstByteTimeoutMs: 500 }));
    let attempts = 0;
    world.upstream.plays((socket) => {
      attempts += 1;
      if (attempts === 1) return;
      socket.write(`${head}Content-Length: 2\r\n\r\n{`);
      setTimeout(() => socket.write('}'), 700);
    });
    const answer = await world.call('GET /v1/things');
    assert.deepEqual([answer.status, answer.body.toString(), answer.whole], [200, '{}', true]);
    assert.equal(attempts, 2);
  });

  it('is waited for no longer after an attempt that had one', async () => {
    const world = await start(createWorld({}, { timeoutMs: 10_000, firstByteTimeoutMs: 500 }));
    let attempts = 0;
    world.upstream.plays((socket) => {
      attempts += 1;
      if (attempts === 2) return;
      if (attempts === 3) {
        socket.write(httpAnswer(200, '{}'));
        return;
      }
      socket.write('HTTP/1.1 503 No\r\nContent-Length: 2\r\n\r\n');
      setTimeout(() => socket.destroy(), 700);
    });
    assert.equal((await world.call('GET /v1/things')).status, 200);
    assert.equal(attempts, 3);
  });

  it('is not that of an interim answer', async () => {
    const world = await start(createWorld({}, { firstByteTimeoutMs: 80, ...alone }));
    world.upstream.plays((socket) => socket.write('HTTP/1.1 102 Wait\r\n\r\n'));
    assertRefusal(await world.call('GET /v1/things'), 'upstream_timeout');
  });
});

describe('a pause in the body', () => {
  it('is cut off, though bytes that keep coming are not', async () => {
    const world = await start(createWorld({}, { idleTimeoutMs: 600 }));
    world.upstream.plays((socket) => {
      socket.write(`${head}Content-Length: 9\r\n\r\n`);
      let left = 5;
      const drip = setInterval(() => {
        socket.write('1');
        left -= 1;
        if (left === 0) clearInterval(drip);
      }, 200);
    });
    const answer = await world.call('GET /v1/things');
    assert.deepEqual([answer.status, answer.whole, answer.body.length], [200, false, 5]);
  });

  it('that the client makes is not the fault of the upstream', async () => {
    const world = await start(createWorld({}, { idleTimeoutMs: 100 }));
    const size = 20_000_000;
    world.upstream.plays((socket) => {
      const type = 'Content-Type: application/octet-stream\r\n';
      socket.write(`HTTP/1.1 200 OK\r\n${type}Content-Length: ${size}\r\n\r\n`);
      socket.write(Buffer.alloc(size));
    });
    const client = connect(world.gateway.port, '127.0.0.1');
    client.write(requestOf('GET /v1/files', { Authorization: world.authorization, Connection: 'close' }));
    await once(client, 'readable');
    // Neither read from nor ended for several times as long as the upstream may pause.
    await new Promise((resolve) => setTimeout(resolve, 350));
    client.resume();
    await once(client, 'end');
    assert.ok(client.bytesRead > size, `${client.bytesRead}`);
  });
});

describe('the deadline', () => {
  it('holds over all attempts', async (context) => {
    const times = { timeoutMs: 55_000, firstByteTimeoutMs: 20_000, retry: { attempts: 5 } };
    const world = await start(createWorld({}, times));
    world.upstream.plays(() => undefined);
    const skip = createSkip(context);
    const answer = world.call('GET /v1/things');
    for (const attempts of [1, 2, 3]) {
      await until(() => world.upstream.received.length === attempts);
      skip(21_000);
    }
    assertRefusal(await answer, 'upstream_timeout');
    assert.equal(world.upstream.received.length, 3);
    const line = world.gateway.logLines().findLast(({ msg }) => msg === 'exchange');
    const took = Number(line?.duration_ms);
    // A fourth attempt would have ended after 83 s.
    assert.ok(took >= 55_000 && took < 83_000, `${took} ms`);
  });

  it('leaves no time for a pause that goes beyond it', async () => {
    const world = await start(createWorld({}, { timeoutMs: 900 }));
    world.upstream.plays((socket) => socket.write(httpAnswer(503, '{}', { 'Retry-After': '1' })));
    const answer = await world.call('GET /v1/things');
    assertRefusal(answer, 'upstream_unavailable');
    assert.equal(answer.error.retry_after, 1);
    assert.equal(world.upstream.received.length, 1);
  });

  it('of a keyed write is no shorter for its client having left', async () => {
    const world = await start(createWorld({}, { timeoutMs: 200 }));
    world.upstream.plays(() => undefined);
    const headers = { Authorization: world.authorization, ...json, 'Idempotency-Key': 'k' };
    const connection = await start(openConnection(world.gateway.port));
    connection.send(requestOf('POST /v1/things', headers, '{"name":"a"}'));
    await until(() => world.upstream.received.length === 1);
    connection.destroy();
    // The outcome is unknown once the time is over: a repetition does not wait for the first any more.
    const repeat = () => world.call('POST /v1/things', headers, '{"name":"a"}');
    let answer = await repeat();
    while (answer.error.code === 'idempotency_key_in_use') answer = await repeat();
    assertRefusal(answer, 'idempotency_outcome_unknown');
    assert.equal(world.upstream.received.length, 1);
  });
});
