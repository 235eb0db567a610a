// One turn of the event loop: a connection is neither used before its received bytes were read, nor closed because the end of its own write
// is reported later than the answer.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createSecureContext } from 'node:tls';
import { createAuthority } from '../../../support/certificates.ts';
import { closesAfterEach } from '../../../support/closing.ts';
import { type Recorder, send, type Told } from './handler.ts';
import { answer, counted, createPoolScene, destroying, EMPTY, holdLookUps, poolTo, startPeer, turns } from './peer.ts';

const start = closesAfterEach();
const authority = createAuthority();
const { certificate: cert, key } = authority.issue({ names: ['service.test'] });
const settings = { tls: { ca: authority.certificate, serverName: 'service.test' } };

describe('within one turn', () => {
  for (const tls of [undefined, { cert, key }]) {
    it(`an answer that comes at once leaves the connection usable${tls === undefined ? '' : ' over TLS'}`, async () => {
      const peer = await start(startPeer(tls));
      const pool = poolTo(peer.origin, settings);
      await start(destroying(pool));
      peer.plays(({ socket }) => void socket.write(EMPTY));
      await send(pool).over;
      await turns(2);
      peer.plays(() => undefined);
      for (const body of [null, Buffer.from('small'), Buffer.alloc(100_000)]) {
        const sent = send(pool, { method: 'POST', body });
        // After the request was written, before anything else is read.
        setImmediate(() => peer.sockets[0]?.write(counted('at once')));
        assert.equal((await sent.over).body, 'at once');
        await turns(2);
      }
      assert.deepEqual([pool.openedCount, peer.closed], [1, 0]);
    });
  }

  it('a new connection serves one waiting request, and the others are served at the end of the turn', async () => {
    const held: (() => void)[] = [];
    let greeted = 0;
    const peer = await start(
      startPeer({
        cert,
        key,
        SNICallback(_name, done) {
          greeted += 1;
          const goOn = () => done(null, createSecureContext({ cert, key }));
          if (greeted === 2) held.push(goOn);
          else goOn();
        },
      }),
    );
    const pool = poolTo(peer.origin, { ...settings, connections: 2 });
    await start(destroying(pool));
    peer.plays(answer);
    await Promise.all([send(pool).over, send(pool).over]);
    while (held.length === 0) await turns(1);
    await turns(1);
    assert.equal(pool.openedCount, 1);
    // The second connection stands in the next turn, in which forged bytes come over the first one, after that.
    held[0]?.();
    peer.sockets[0]?.write(counted('forged'));
    let atOnce: readonly Told[] | undefined;
    const first = send(
      pool,
      { path: '/1' },
      {
        begun() {
          process.nextTick(() => {
            atOnce = [...second.told];
          });
        },
      },
    );
    const second = send(pool, { path: '/2' });
    assert.deepEqual([(await first.over).body, (await second.over).body], ['/1', '/2']);
    assert.deepEqual(atOnce, [], 'the connection that was free may have been closed, or have been sent something');
    assert.equal(pool.openedCount, 3);
  });

  it('nothing is sent before its end, also when a connection is made in it', async () => {
    const { lookUp, held } = holdLookUps(1);
    const { peer, pool } = await createPoolScene(start, { connections: 2 }, lookUp);
    peer.plays(answer);
    await Promise.all([send(pool).over, send(pool).over]);
    const order: string[] = [];
    const late = Promise.withResolvers<Recorder[]>();
    const begun = () => void order.push('sent');
    // The connection is taken there before it is known to be made here, in the same turn.
    peer.server.once('connection', () => {
      setImmediate(() => order.push('end of turn'));
      late.resolve([send(pool, {}, { begun }), send(pool, {}, { begun })]);
    });
    held[0]?.();
    await Promise.all((await late.promise).map((one) => one.over));
    assert.deepEqual(order, ['end of turn', 'sent', 'sent']);
  });

  for (const tls of [undefined, { cert, key }]) {
    it(`a close that came with an answer is noticed before more is sent${tls === undefined ? '' : ' over TLS'}`, async () => {
      const peer = await start(startPeer(tls));
      const pool = poolTo(peer.origin, { ...settings, connections: 2 });
      await start(destroying(pool));
      peer.plays(({ socket }) => socket.end(counted('hi')));
      const sent = Array.from({ length: 20 }, () => send(pool));
      for (const { over } of sent) assert.deepEqual((await over).told, ['begun', 'head', 'data', 'end']);
      assert.equal(pool.openedCount, sent.length);
    });
  }
});
