// Everywhere but in tunnels a body has a fixed time, also when another side still waits for it.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { closesAfterEach } from '../../support/closing.ts';
import { openConnection, requestOf } from '../../support/connection.ts';
import { assertRefusal } from '../../support/errors.ts';
import { startBehind, startTunnel } from './mail-tunnel.ts';

const start = closesAfterEach();
const timeouts = { headersMs: 100, requestMs: 300, keepAliveMs: 60_000 };

async function setUp() {
  const behind = await start(startBehind());
  behind.plays((request) => request.resume());
  const gateway = await start(startTunnel(behind.url, { gateway: { timeouts } }));
  const connection = await start(openConnection(gateway.port));
  const drip = setInterval(() => connection.send('x'), 50);
  connection.socket.on('close', () => clearInterval(drip));
  void connection.closed.then(() => clearInterval(drip));
  return { gateway, connection };
}

describe('a body that comes drop by drop', () => {
  for (const path of ['/v1/things', '/v1/files']) {
    it(`is refused after its time: ${path}`, async () => {
      const { gateway, connection } = await setUp();
      const type = path === '/v1/files' ? 'application/octet-stream' : 'application/json';
      const headers = { ...(await gateway.authorize()), 'Content-Type': type, 'Content-Length': '10000' };
      connection.send(requestOf(`POST ${path}`, headers));
      const answer = await connection.answer();
      assert.ok(answer);
      assertRefusal(answer, 'request_timeout');
      await connection.closed;
    });
  }

  it('loses its connection after its time, when it was answered before it was in', async () => {
    const { connection } = await setUp();
    connection.send(requestOf('POST /v1/things', { 'Content-Type': 'application/json', 'Content-Length': '10000' }));
    const answer = await connection.answer();
    assert.ok(answer);
    assertRefusal(answer, 'api_key_missing');
    assert.equal(answer.headers.connection, 'keep-alive');
    await connection.closed;
  });
});
