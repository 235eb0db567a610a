// One connection that delivers bytes which no request asked for shows that the upstream's answers may go astray. From then on no connection
// of the pool carries a second request, so that one such event cannot become many.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TlsOptions } from 'node:tls';
import type { PoolSettings } from '../../../../gateway/http1/client/pool.ts';
import { createAuthority } from '../../../support/certificates.ts';
import { closesAfterEach } from '../../../support/closing.ts';
import { send } from './handler.ts';
import { type Arrived, answer, counted, destroying, EMPTY, poolTo, startPeer, turns } from './peer.ts';

const start = closesAfterEach();
const authority = createAuthority();
const { certificate: cert, key } = authority.issue({ names: ['127.0.0.1'] });
const FORGED = counted('forged');

async function createScene(settings: Partial<PoolSettings> = {}, tls?: TlsOptions) {
  const peer = await start(startPeer(tls));
  peer.plays(answer);
  let reported = 0;
  let onReport = () => {};
  const trust = tls && { tls: { ca: authority.certificate } };
  const pool = poolTo(peer.origin, { connections: 4, ...trust, ...settings }, undefined, () => {
    reported += 1;
    onReport();
  });
  await start(destroying(pool));
  const ask = async (path: string) => (await send(pool, { path }).over).body;
  return {
    peer,
    pool,
    ask,
    reported: () => reported,
    nextReport: () =>
      new Promise<void>((resolve) => {
        onReport = resolve;
      }),
    /** Each of three requests gets its own answer, over a connection of its own that ends with it. */
    async assertIsolated() {
      const before = peer.sockets.length;
      const paths = ['/a', '/b', '/c'];
      for (const path of paths) assert.equal(await ask(path), path);
      assert.equal(peer.sockets.length, before + paths.length);
      for (const { head } of peer.requests.slice(-paths.length)) assert.match(head, /\r\nconnection: close$/);
      await peer.until(({ sockets, closed }) => closed === sockets.length);
    },
  };
}

type Scene = Awaited<ReturnType<typeof createScene>>;

/** Ways in which bytes come that no request asked for. */
const ways: Readonly<Record<string, (scene: Scene) => Promise<void>>> = {
  async 'on an idle connection'({ peer, ask, nextReport }) {
    await ask('/1');
    const reported = nextReport();
    peer.sockets[0]?.write(FORGED);
    await reported;
  },
  async 'behind an answer'({ peer, ask }) {
    peer.plays(({ socket }) => socket.write(counted('/1') + FORGED));
    assert.equal(await ask('/1'), '/1');
    peer.plays(answer);
  },
  async 'as a body of HEAD'({ peer, pool }) {
    peer.plays(({ socket }) => socket.write(counted('body')));
    await send(pool, { method: 'HEAD' }).over;
    peer.plays(answer);
  },
  async 'before the body of the request is there'({ peer, pool, ask, nextReport }) {
    await ask('/1');
    const reported = nextReport();
    const gate = Promise.withResolvers<Buffer>();
    const body = (async function* () {
      yield await gate.promise;
    })();
    const upload = send(pool, { method: 'PUT', body }, { begun: () => void peer.sockets[0]?.write(FORGED) });
    await reported;
    gate.resolve(Buffer.from('x'));
    assert.deepEqual((await upload.over).told.at(-1), 'error');
  },
};

for (const tls of [undefined, { cert, key }]) {
  describe(`after bytes that no request asked for${tls ? ', over TLS' : ''}`, () => {
    for (const [how, forge] of Object.entries(ways)) {
      it(`${how}, each request has a connection of its own`, async () => {
        const scene = await createScene({}, tls);
        await forge(scene);
        assert.equal(scene.reported(), 1);
        await scene.assertIsolated();
        await scene.assertIsolated();
      });
    }

    it('other free connections are closed, those in use end with their answer, and waiting requests get new ones', async () => {
      const { peer, pool, ask, nextReport } = await createScene({ connections: 3 }, tls);
      await Promise.all(['/1', '/2', '/3'].map(ask));
      await turns();
      peer.plays(() => undefined);
      const inUse = send(pool, { path: '/in-use' });
      await peer.until(({ requests }) => requests.length === 4);
      const { socket } = peer.requests[3] as Arrived;
      const [forging] = peer.sockets.filter((one) => one !== socket);
      const reported = nextReport();
      forging?.write(FORGED);
      await reported;
      await peer.until(({ closed }) => closed === 2);
      const waiting = ['/w1', '/w2', '/w3'].map((path) => send(pool, { path }));
      peer.plays(answer);
      socket.write(counted('/in-use'));
      assert.equal((await inUse.over).body, '/in-use');
      assert.deepEqual(
        (await Promise.all(waiting.map(({ over }) => over))).map(({ body }) => body),
        ['/w1', '/w2', '/w3'],
      );
      assert.equal(peer.sockets.length, 6);
    });

    it('connections are kept again when that is over', async () => {
      const scene = await createScene({}, tls);
      const { peer, pool, ask } = scene;
      await (ways['on an idle connection'] as (scene: Scene) => Promise<void>)(scene);
      pool.isolate(false);
      const before = peer.sockets.length;
      for (const path of ['/1', '/2', '/3']) assert.equal(await ask(path), path);
      assert.equal(peer.sockets.length, before + 1);
    });
  });
}

describe('nothing is reported', () => {
  it('by a server that closes, with or without a word', async () => {
    for (const tls of [undefined, { cert, key }]) {
      const { peer, ask, reported } = await createScene({}, tls);
      for (let i = 0; i < 5; i++) {
        assert.equal(await ask('/1'), '/1');
        peer.sockets.at(-1)?.end();
        assert.equal(await ask('/2'), '/2');
        peer.sockets.at(-1)?.destroy();
      }
      assert.equal(reported(), 0);
    }
  });

  it('by the tickets of TLS', async () => {
    for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
      const { peer, ask, reported } = await createScene({}, { cert, key, maxVersion });
      for (let i = 0; i < 5; i++) assert.equal(await ask('/1'), '/1');
      assert.deepEqual([reported(), peer.sockets.length], [0, 1]);
    }
  });

  it('by answers without a body, and by early ones', async () => {
    const { peer, pool, reported } = await createScene();
    for (const bytes of [EMPTY, 'HTTP/1.1 204 No Content\r\n\r\n', 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(3) + EMPTY]) {
      peer.plays(({ socket }) => socket.write(bytes));
      await send(pool).over;
      await turns();
    }
    assert.equal(reported(), 0);
  });

  it('if each request has its own connection anyway', async () => {
    const { peer, ask, reported } = await createScene({ isolate: true });
    peer.plays(({ socket }) => socket.write(counted('/1') + FORGED));
    for (let i = 0; i < 3; i++) assert.equal(await ask('/1'), '/1');
    assert.equal(reported(), 0);
  });
});

it('a greeting fails its request, is reported, and does not lead to connection after connection', async () => {
  const { peer, pool, reported } = await createScene();
  peer.server.on('connection', (socket) => socket.write('220 mail.test ESMTP\r\n'));
  const { error } = await send(pool).over;
  await turns();
  assert.equal(peer.sockets.length, 1);
  // It comes before the request, or is taken for its answer.
  assert.deepEqual([error?.code, reported()], reported() === 1 ? ['WIRE_INCOMPLETE', 1] : ['WIRE_MALFORMED', 0]);
});
