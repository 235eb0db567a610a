// Answers over TLS that end with the connection: whole only if the other side has announced its end, by a close_notify (RFC 9112 section
// 9.8). Every host on the way can end the connection beneath.

import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { describe, it } from 'node:test';
import { createAuthority } from '../../../support/certificates.ts';
import { closesAfterEach } from '../../../support/closing.ts';
import { type Reactions, send, slowly } from './handler.ts';
import { counted, destroying, poolTo, startPeer } from './peer.ts';

const start = closesAfterEach();
const authority = createAuthority();
const { certificate: cert, key } = authority.issue({ names: ['127.0.0.1'] });

/** A peer over TLS, and a relay between that can end the connection to the pool. */
async function createScene(version: 'TLSv1.2' | 'TLSv1.3') {
  const peer = await start(startPeer({ cert, key, minVersion: version, maxVersion: version }));
  const between = await start(startPeer());
  const cuts: (() => void)[] = [];
  between.server.on('connection', (socket) => {
    const onward = connect({ port: peer.port, host: '127.0.0.1', allowHalfOpen: true }).on('error', () => undefined);
    onward.pipe(socket, { end: false });
    onward.on('end', () => socket.end());
    socket.on('data', (bytes) => onward.write(bytes));
    cuts.push(() => {
      onward.unpipe(socket);
      socket.end();
    });
  });
  const pool = poolTo(between.origin.replace('http:', 'https:'), { tls: { ca: authority.certificate } });
  await start(destroying(pool));
  return { peer, pool, cut: () => cuts.at(-1)?.() };
}

const ENDLESS = 'HTTP/1.1 200 OK\r\n\r\n';

for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
  describe(`an answer without a length over ${version}`, () => {
    const takers: readonly (readonly [string, Reactions])[] = [
      ['', {}],
      [', taken slowly', slowly],
    ];
    for (const [how, reactions] of takers) {
      for (const length of [20, 300_000]) {
        it(`is whole when its end was announced: ${length} bytes${how}`, async () => {
          const { peer, pool } = await createScene(version);
          peer.plays(({ socket }) => void socket.end(ENDLESS + 'x'.repeat(length)));
          const { told, body } = await send(pool, {}, reactions).over;
          assert.deepEqual([told, body.length], [['begun', 'head', 'data', 'end'], length]);
        });

        it(`is cut off when its end was not announced: ${length} bytes${how}`, async () => {
          const { peer, pool, cut } = await createScene(version);
          peer.plays(({ socket }) => void socket.write(ENDLESS + 'x'.repeat(length)));
          const sent = send(pool, {}, reactions);
          while (sent.body.length < length) await new Promise((resolve) => setTimeout(resolve, 5));
          cut();
          const { told, error } = await sent.over;
          assert.deepEqual([told, error?.code], [['begun', 'head', 'data', 'error'], 'WIRE_INCOMPLETE']);
        });
      }
    }

    it('is whole when its end was announced some time after its last byte', async () => {
      const { peer, pool } = await createScene(version);
      peer.plays(({ socket }) => {
        socket.write(`${ENDLESS}body`);
        setTimeout(() => socket.end(), 20);
      });
      assert.deepEqual((await send(pool).over).told, ['begun', 'head', 'data', 'end']);
    });
  });

  it(`an answer with a length over ${version} is whole without that`, async () => {
    const { peer, pool, cut } = await createScene(version);
    peer.plays(({ socket }) => void socket.write(counted('body', 'connection: close\r\n')));
    const sent = await send(pool).over;
    cut();
    assert.deepEqual([sent.told, sent.body], [['begun', 'head', 'data', 'end'], 'body']);
  });
}
