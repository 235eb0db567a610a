// How connections are made: by name and address, over TCP and over TLS, only to the intended host.

import assert from 'node:assert/strict';
import { connect, type LookupFunction } from 'node:net';
import { describe, it } from 'node:test';
import type { TLSSocket, TlsOptions } from 'node:tls';
import type { PoolSettings } from '../../../../gateway/http1/client/pool.ts';
import { createAuthority } from '../../../support/certificates.ts';
import { closesAfterEach } from '../../../support/closing.ts';
import { send } from './handler.ts';
import { type Arrived, answer, counted, destroying, poolTo, startPeer } from './peer.ts';

const start = closesAfterEach();
const authority = createAuthority();
const own = authority.issue({ names: ['127.0.0.1', 'service.test', '::1'] });
const server = { cert: own.certificate, key: own.key };

interface SceneOptions {
  readonly tls?: TlsOptions;
  readonly settings?: Partial<PoolSettings>;
  /** In place of the address in the origin. */
  readonly name?: string;
  readonly addresses?: readonly string[];
  readonly host?: string;
}

async function createScene({ tls, settings, name, addresses = ['127.0.0.1'], host }: SceneOptions = {}) {
  const peer = await start(startPeer(tls, host));
  peer.plays(answer);
  const looked: string[] = [];
  const lookUp: LookupFunction = (hostname, _options, callback) => {
    looked.push(hostname);
    callback(
      null,
      addresses.map((address) => ({ address, family: 4 })),
    );
  };
  const origin = name === undefined ? peer.origin : peer.origin.replace('127.0.0.1', name);
  const pool = poolTo(origin, settings, lookUp);
  await start(destroying(pool));
  return { peer, pool, looked };
}

const trusting = { tls: { ca: authority.certificate } };

describe('a connection', () => {
  it('to an address looks up no name', async () => {
    const { peer, pool, looked } = await createScene();
    assert.equal((await send(pool, { path: '/a' }).over).body, '/a');
    assert.deepEqual(looked, []);
    assert.match(peer.requests[0]?.head ?? '', new RegExp(`\r\nhost: 127.0.0.1:${peer.port}\r\n`));
  });

  it('to a name goes to its address, with the name in Host', async () => {
    const { peer, pool, looked } = await createScene({ name: 'service.test' });
    assert.equal((await send(pool, { path: '/a' }).over).body, '/a');
    assert.deepEqual(looked, ['service.test']);
    assert.match(peer.requests[0]?.head ?? '', new RegExp(`\r\nhost: service.test:${peer.port}\r\n`));
  });

  it('may go to an address of IPv6', async () => {
    for (const tls of [undefined, server]) {
      const { peer, pool } = await createScene({ host: '::1', ...(tls && { tls, settings: trusting }) });
      assert.match(peer.origin, /\[::1\]/);
      assert.equal((await send(pool, { path: '/a' }).over).body, '/a');
      assert.match(peer.requests[0]?.head ?? '', new RegExp(`\r\nhost: \\[::1\\]:${peer.port}\r\n`));
    }
  });

  it('goes to the next address of its name where one refuses, and reads there', async () => {
    for (const tls of [undefined, server]) {
      const addresses = ['127.0.0.3', '127.0.0.1'];
      const { pool } = await createScene({ name: 'service.test', addresses, ...(tls && { tls, settings: trusting }) });
      for (const path of ['/a', '/b']) assert.equal((await send(pool, { path }).over).body, path);
      assert.equal(pool.openedCount, 1);
    }
  });

  it('with an unanswered handshake fails in time', async () => {
    const { peer } = await createScene();
    const pool = poolTo(peer.origin.replace('http:', 'https:'), { connectTimeoutMs: 60 });
    const { told, error } = await send(pool).over;
    assert.deepEqual([told, error?.code], [['error'], 'WIRE_CONNECT_TIMEOUT']);
    await peer.until(({ sockets, closed }) => sockets.length === 1 && closed === 1);
  });

  it('that stands is not ended by the time that it had for that', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const { peer, pool } = await createScene({ settings: { connectTimeoutMs: 60 } });
    peer.plays(() => undefined);
    const sent = send(pool, { path: '/slow' });
    await peer.until(({ requests }) => requests.length === 1);
    t.mock.timers.tick(1000);
    answer(peer.requests[0] as Arrived);
    assert.equal((await sent.over).body, '/slow');
  });
});

describe('a connection over TLS', () => {
  it('is made to a host with a certificate of a trusted authority, by address or by name', async () => {
    for (const name of ['127.0.0.1', 'service.test']) {
      const { pool, peer } = await createScene({ tls: server, settings: trusting, name });
      for (const path of ['/a', '/b']) assert.equal((await send(pool, { path }).over).body, path);
      assert.equal(peer.sockets.length, 1);
      const { servername, alpnProtocol } = peer.sockets[0] as TLSSocket & { servername: string | false };
      assert.equal(servername, name === 'service.test' ? name : false);
      assert.equal(alpnProtocol, false);
    }
  });

  it('negotiates HTTP/1.1 where the other side offers more', async () => {
    const tls = { ...server, ALPNProtocols: ['h2', 'http/1.1'] };
    const { pool, peer } = await createScene({ tls, settings: trusting });
    await send(pool).over;
    assert.equal((peer.sockets[0] as TLSSocket).alpnProtocol, 'http/1.1');
  });

  it('carries bodies of any length in both directions', async () => {
    const { peer, pool } = await createScene({ tls: server, settings: trusting });
    const large = 'x'.repeat(1_000_000);
    peer.plays(({ socket }) => void socket.write(counted(large)));
    for (let i = 0; i < 3; i++) assert.equal((await send(pool).over).body, large);
    assert.equal(pool.openedCount, 1);
  });

  const refusals: readonly (readonly [what: string, code: string, options: SceneOptions])[] = [
    ['without a trusted certificate', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE', { tls: server }],
    ['with a certificate for another name', 'ERR_TLS_CERT_ALTNAME_INVALID', { name: 'other.test' }],
    [
      'with a certificate that lacks the expected name',
      'ERR_TLS_CERT_ALTNAME_INVALID',
      { settings: { tls: { ...trusting.tls, serverName: 'other.test' } } },
    ],
    ['with an address that its certificate lacks', 'ERR_TLS_CERT_ALTNAME_INVALID', { host: '127.0.0.2' }],
  ];
  for (const [what, code, options] of refusals) {
    it(`is not made to one ${what}, and nothing is sent`, async () => {
      const settings = options.tls === undefined ? trusting : {};
      const { peer, pool } = await createScene({ tls: server, settings, ...options });
      const { told, error, errorControl } = await send(pool, { path: '/secret' }).over;
      assert.deepEqual([told, error?.code, errorControl], [['error'], code, undefined]);
      assert.deepEqual([peer.requests.length, pool.openedCount], [0, 0]);
    });
  }

  it('expects the configured name, on any address', async () => {
    const settings = { tls: { ...trusting.tls, serverName: 'service.test' } };
    for (const name of ['127.0.0.1', 'other.test']) {
      const { peer, pool } = await createScene({ tls: server, settings, name });
      assert.equal((await send(pool, { path: '/a' }).over).body, '/a');
      assert.equal((peer.sockets[0] as TLSSocket & { servername: string }).servername, 'service.test');
    }
  });

  it('is not made to one with an expired certificate', async () => {
    const { certificate, key } = authority.issue({ names: ['127.0.0.1'], fromDays: -9, days: -1 });
    const { pool } = await createScene({ tls: { cert: certificate, key }, settings: trusting });
    assert.equal((await send(pool).over).error?.code, 'CERT_HAS_EXPIRED');
  });

  it('shows a certificate on request', async () => {
    const client = authority.issue({ names: ['gateway.test'] });
    const tls = { ...server, ca: authority.certificate, requestCert: true, rejectUnauthorized: true };
    const shown = { ...trusting.tls, certificate: client.certificate, key: client.key };
    const { peer, pool } = await createScene({ tls, settings: { tls: shown } });
    assert.equal((await send(pool, { path: '/a' }).over).body, '/a');
    assert.equal((peer.sockets[0] as TLSSocket).getPeerCertificate().subject.CN, 'gateway.test');
    const without = await createScene({ tls, settings: trusting });
    const { error } = await send(without.pool).over;
    assert.match(error?.code ?? '', /^ERR_SSL_|^ECONNRESET$/);
    assert.equal(without.peer.requests.length, 0);
  });

  it('is not made with a certificate and a key that are not one pair, which fails the request, not the process', async () => {
    const { certificate } = authority.issue({ names: ['gateway.test'] });
    const { pool } = await createScene({ tls: server, settings: { tls: { certificate, key: own.key } } });
    const { told, error } = await send(pool).over;
    assert.deepEqual([told, error?.code], [['error'], 'ERR_OSSL_X509_KEY_VALUES_MISMATCH']);
    await pool.close();
  });

  for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
    it(`is resumed by the next one in ${version}`, async () => {
      const tls = { ...server, maxVersion: version, minVersion: version };
      const { peer, pool } = await createScene({ tls, settings: trusting });
      peer.plays(({ socket }) => {
        socket.write(counted(`${(socket as TLSSocket).isSessionReused()}`, 'connection: close\r\n'));
      });
      const resumed: string[] = [];
      for (let i = 0; i < 3; i++) resumed.push((await send(pool).over).body);
      assert.deepEqual([resumed, pool.openedCount], [['false', 'true', 'true'], 3]);
    });
  }

  it('does not resume a session again that the server has refused to resume', async () => {
    const far = await start(startPeer(server));
    far.plays(({ socket }) => socket.end('HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n'));
    const between = await start(startPeer());
    let first = 0;
    between.server.on('connection', (socket) => {
      socket.once('data', (hello) => {
        first ||= hello.length;
        // A session makes the greeting longer.
        if (hello.length > first + 100) {
          socket.destroy();
          return;
        }
        const onward = connect(far.port, '127.0.0.1').on('error', () => undefined);
        onward.write(hello);
        socket.pipe(onward).pipe(socket);
      });
    });
    const pool = poolTo(between.origin.replace('http:', 'https:'), trusting);
    await start(destroying(pool));
    const outcomes: string[] = [];
    for (let i = 0; i < 3; i++) {
      const { told, error } = await send(pool).over;
      outcomes.push(error?.code ?? told.at(-1) ?? '');
    }
    assert.deepEqual(outcomes, ['end', 'ECONNRESET', 'end']);
    await pool.close();
  });
});
