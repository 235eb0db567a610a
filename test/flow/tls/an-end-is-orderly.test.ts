// A gateway is stopped, over TLS: requests in flight are finished, silent connections end at once.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, describe, it } from 'node:test';
import { until } from '../reload/files.ts';
import { answerEmptyObject, type SecureGateway, startSecureGateway } from './secure-gateway.ts';

/** Far more than any of these may take: a waiting test fails by its own limit. */
const DRAIN_MS = 60_000;

let secure: SecureGateway;
afterEach(async () => {
  await secure.upstream.close();
});

describe('a gateway that ends', { timeout: 10_000 }, () => {
  it('answers requests in flight and closes silent connections, in every state of the handshake', async () => {
    const asked = Promise.withResolvers<void>();
    const answerNow = Promise.withResolvers<void>();
    secure = await startSecureGateway({
      gateway: { timeouts: { drainMs: DRAIN_MS } },
      async answer(request, response, raw) {
        asked.resolve();
        await answerNow.promise;
        answerEmptyObject(request, response, raw);
      },
    });
    const request = `GET /v1/things HTTP/1.1\r\nHost: api.test\r\nAuthorization: ${secure.authorization}\r\n\r\n`;
    const inFlight = await secure.connect();
    inFlight.write(request);
    await asked.promise;
    const idle = await secure.connect();
    idle.write('GET /nothing HTTP/1.1\r\nHost: api.test\r\n\r\n');
    await once(idle, 'data');
    const silent = await secure.connect();
    const beforeHandshake = connect(secure.gateway.port, '127.0.0.1').on('error', () => undefined);
    await once(beforeHandshake, 'connect');
    const closed = [idle, silent, beforeHandshake].map((socket) => once(socket.resume(), 'close'));

    const stopped = secure.gateway.stop();
    await Promise.all(closed);
    answerNow.resolve();
    let text = '';
    for await (const chunk of inFlight) text += chunk;
    assert.match(text, /^HTTP\/1\.1 200 /);
    assert.match(text, /\r\nconnection: close\r\n/i);
    await stopped;
  });

  it('answers on kept connections until each has got Connection: close', async () => {
    secure = await startSecureGateway({ gateway: { timeouts: { drainDelayMs: 1500, drainMs: DRAIN_MS } } });
    const request = `GET /v1/things HTTP/1.1\r\nHost: api.test\r\nAuthorization: ${secure.authorization}\r\n\r\n`;
    const kept = await Promise.all(Array.from({ length: 8 }, () => secure.connect()));
    const told = kept.map(async (socket) => {
      let text = '';
      const closed = once(socket, 'close');
      socket.on('data', (chunk) => {
        text += chunk;
      });
      let sent = 0;
      while (!/connection: close/i.test(text)) {
        socket.write(request);
        sent += 1;
        await until(() => text.split('HTTP/1.1 ').length > sent);
      }
      await closed;
      return { sent, answered: text.split('HTTP/1.1 200 ').length - 1 };
    });
    await until(() => secure.upstream.requests.length > 20);
    await secure.gateway.stop();
    for (const { sent, answered } of await Promise.all(told)) assert.equal(answered, sent);
  });
});
