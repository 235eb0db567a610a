// A server that refuses an upload answers before it has read the body, and closes. The client gets that answer, and no error of a broken
// connection.

import assert from 'node:assert/strict';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { after, before, describe, it } from 'node:test';
import type { TestGateway } from '../../support/gateway.ts';
import { startTunnel } from './mail-tunnel.ts';

const BODY = '{"type":"about:blank","status":400,"limit":"maxSizeUpload"}';
const ANSWER = `HTTP/1.1 400 Bad Request\r\nContent-Type: application/problem+json\r\nContent-Length: ${BODY.length}\r\nConnection: close\r\n\r\n${BODY}`;
const UPLOADS = 20;
const PIECE = Buffer.alloc(262_144);
const PIECES = 40;

describe('an upload that is refused in the middle', () => {
  const sockets = new Set<Socket>();
  /** Reads some of the body, answers, and closes with the rest unread, so that further bytes are answered by a reset. */
  const upstream = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('data', () => {
      socket.pause();
      socket.write(ANSWER, () => socket.destroy());
    });
  });
  let gateway: TestGateway;
  let authorization: string;
  before(async () => {
    await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
    const live = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`;
    gateway = await startTunnel(live, { entry: { retry: { attempts: 0 } } });
    ({ authorization } = await gateway.authorize());
  });
  after(async () => {
    await gateway?.stop();
    for (const socket of sockets) socket.destroy();
    upstream.close();
  });

  /** The status line and body that a client gets that sends as fast as it may. */
  function uploadTo(path: string): Promise<string> {
    return new Promise((resolve) => {
      const socket = connect(gateway.port, '127.0.0.1');
      let text = '';
      socket.on('data', (bytes) => {
        text += bytes;
      });
      socket.on('error', () => undefined);
      socket.on('close', () => resolve(text));
      socket.write(
        `POST ${path} HTTP/1.1\r\nHost: api.test\r\nAuthorization: ${authorization}\r\nContent-Type: application/octet-stream\r\nContent-Length: ${PIECE.length * PIECES}\r\n\r\n`,
      );
      let sent = 0;
      const send = () => {
        while (sent < PIECES && !socket.destroyed) {
          sent += 1;
          if (!socket.write(PIECE)) return void socket.once('drain', send);
        }
      };
      send();
    });
  }

  for (const [what, path, sign] of [
    ['a tunnel', '/jmap/upload/a', 'maxSizeUpload'],
    ['an operation', '/v1/files', 'upstream_rejected'],
  ] as const) {
    it(`answers the client through ${what}`, async () => {
      for (let i = 0; i < UPLOADS; i++) {
        const answer = await uploadTo(path);
        assert.match(answer, /^HTTP\/1\.1 400 /, `upload ${i}: ${answer.slice(0, 300)}`);
        assert.ok(answer.includes(sign));
      }
    });
  }
});
