// timeoutMs bounds the wait for the head of an answer. An answer that streams may take longer: pauses and maxStreamMs bound it, and it
// occupies the upstream no longer than timeoutMs.

import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { describe, it } from 'node:test';
import { ConfigError } from '../../../gateway/shared/mistakes.ts';
import { closesAfterEach } from '../../support/closing.ts';
import { ask, requestOf, until } from '../../support/connection.ts';
import { assertRefusal } from '../../support/errors.ts';
import { startGateway } from '../../support/gateway.ts';
import { httpAnswer } from '../../support/scripted-upstream.ts';
import { thingsAt } from '../../support/things.ts';
import { createWorld } from '../../support/world.ts';

const start = closesAfterEach();
const alone = { retry: { attempts: 0 } };
const bytes = 'HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\n';

/** Sends one byte every 50 ms. */
function drip(socket: Socket, count: number): void {
  socket.write(`${bytes}Content-Length: ${count}\r\n\r\n`);
  let left = count;
  const timer = setInterval(() => {
    socket.write('x');
    left -= 1;
    if (left === 0 || socket.destroyed) clearInterval(timer);
  }, 50);
  socket.on('close', () => clearInterval(timer));
}

describe('an answer that streams', () => {
  it('may take longer than timeoutMs', async () => {
    const world = await start(createWorld({}, { timeoutMs: 500 }));
    world.upstream.plays((socket) => drip(socket, 12));
    const answer = await world.call('GET /v1/files');
    assert.deepEqual([answer.status, answer.whole, answer.body.length], [200, true, 12]);
  });

  it('is cut after maxStreamMs, which no target is blamed for', async () => {
    const ejection = { failures: 1 };
    const world = await start(createWorld({}, { maxStreamMs: 500, ejection }));
    world.upstream.plays((socket) => drip(socket, 100));
    const answer = await world.call('GET /v1/files');
    assert.deepEqual([answer.status, answer.whole], [200, false]);
    const line = await until(() => world.gateway.logLines().find(({ msg }) => msg === 'exchange'));
    assert.equal(line.code, 'upstream_timeout');
    const { upstreams } = (await (await fetch(`${world.gateway.adminUrl}/status`)).json()) as {
      upstreams: { things: { targets: { last_failure?: unknown }[] } };
    };
    assert.equal(upstreams.things.targets[0]?.last_failure ?? null, null);
  });

  it('occupies the upstream no longer than timeoutMs', async () => {
    const world = await start(createWorld({}, { timeoutMs: 1000, maxInFlight: 1, connections: 1 }));
    let dripping: Socket | undefined;
    world.upstream.plays((socket) => {
      dripping = socket;
      drip(socket, 1000);
    });
    const slow = world.call('GET /v1/files').catch(() => undefined);
    await until(() => dripping);
    world.upstream.plays((socket) => socket.write(httpAnswer(200, '{}')));
    await new Promise((resolve) => setTimeout(resolve, 1100));
    assert.equal((await world.call('GET /v1/things')).status, 200);
    assert.equal(dripping?.destroyed, false);
    dripping?.destroy();
    await slow;
  });

  it('is logged with the time to its first byte, also if rules read it whole', async () => {
    // biome-ignore lint/suspicious/noThenProperty: the key of the file
    const answers = [{ when: { status: 418 }, then: { code: 'resource_missing' } }];
    const world = await start(createWorld({}, { answers }));
    world.upstream.plays((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{');
      setTimeout(() => socket.write('}'), 500);
    });
    assert.equal((await world.call('GET /v1/things')).status, 200);
    const line = await until(() => world.gateway.logLines().find(({ msg }) => msg === 'exchange'));
    assert.ok((line.upstream_ms as number) < 400, `${line.upstream_ms} ms`);
  });

  it('begins within timeoutMs, and is whole by then if it is checked before it is sent', async () => {
    const world = await start(createWorld({}, { timeoutMs: 200, ...alone }));
    world.upstream.plays(() => undefined);
    assertRefusal(await world.call('GET /v1/files'), 'upstream_timeout');
    world.upstream.plays((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{');
    });
    assertRefusal(await world.call('GET /v1/strict'), 'upstream_timeout');
  });
});

describe('the timeout of an operation', () => {
  const late = (socket: Socket) => void setTimeout(() => socket.write(httpAnswer(200, '{}')), 300);
  const listing = (timeout?: number) => ({
    '/v1/late': {
      get: {
        operationId: 'listLate',
        ...(timeout !== undefined && { 'x-gateway-timeout': timeout }),
        security: [{ apiKey: ['things:read'] }],
        responses: { 200: { description: 'late', content: { 'application/json': { schema: {} } } } },
      },
    },
  });

  it('comes from its contract', async () => {
    const world = await start(createWorld({}, { timeoutMs: 100, ...alone }, listing(2000)));
    world.upstream.plays(late);
    assert.equal((await world.call('GET /v1/late')).status, 200);
    world.upstream.plays(() => undefined);
    assertRefusal(await world.call('GET /v1/things'), 'upstream_timeout');
  });

  it('comes from the entry, which has priority over the contract', async () => {
    const operations = { listLate: { timeoutMs: 2000 } };
    const world = await start(createWorld({}, { timeoutMs: 5000, operations, ...alone }, listing(100)));
    world.upstream.plays(late);
    assert.equal((await world.call('GET /v1/late')).status, 200);
  });

  it('of an operation that does not exist stops the start', async () => {
    const entry = { operations: { listLates: { timeoutMs: 1 } } };
    await assert.rejects(startGateway(thingsAt('http://127.0.0.1:1', entry, listing())), (error) => {
      assert.ok(error instanceof ConfigError);
      assert.match(error.mistakes.map(({ reason, remedy }) => `${reason} ${remedy}`).join(), /"listLates".*listLate/);
      return true;
    });
  });

  it('is a whole number of milliseconds', async () => {
    await assert.rejects(startGateway(thingsAt('http://127.0.0.1:1', {}, listing(1.5))), (error) => {
      assert.ok(error instanceof ConfigError);
      assert.match(String(error.mistakes[0]?.remedy), /whole number from 1 to 3600000/);
      return true;
    });
  });
});

it('a refused answer of an error is bounded by timeoutMs', async () => {
  const world = await start(createWorld({}, { timeoutMs: 200, ...alone }));
  world.upstream.plays((socket) => {
    socket.write('HTTP/1.1 400 No\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{');
  });
  const request = requestOf('GET /v1/things', { Authorization: world.authorization });
  assertRefusal(await ask(world.gateway.port, request), 'upstream_timeout');
});
