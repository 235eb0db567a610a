// Members of Node's own that are used: of another Node, these are looked at first.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { describe, it } from 'node:test';
import { connect as connectSecurely, createServer as createSecureServer, type TLSSocket } from 'node:tls';
import { handleOf } from '../../gateway/sockets/handle.ts';
import { giveBackReads, takeReads } from '../../gateway/sockets/shared-reads.ts';
import { createUnread, NOTHING } from '../../gateway/sockets/unread-bytes.ts';
import { createAuthority } from '../support/certificates.ts';
import { closesAfterEach } from '../support/closing.ts';

const start = closesAfterEach();

async function listen(server: ReturnType<typeof createServer>): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  await start({ destroy: () => void server.close() });
  return (server.address() as AddressInfo).port;
}

it('the servers of Node take connections by a listener with this name', () => {
  const named = (listeners: readonly { readonly name: string }[]) =>
    listeners.filter(({ name }) => name === 'connectionListener').length;
  assert.equal(named(createHttpServer().listeners('connection') as (() => void)[]), 1);
  assert.equal(named(createHttpsServer().listeners('secureConnection') as (() => void)[]), 1);
});

describe('a socket of Node', () => {
  it('has a descriptor that can be read at once: nothing, bytes, the end', async () => {
    const server = createServer();
    const port = await listen(server);
    const socket = connect(port, '127.0.0.1').pause();
    await start({ destroy: () => void socket.destroy() });
    const [[other]] = await Promise.all([once(server, 'connection'), once(socket, 'connect')]);
    const unread = createUnread();
    assert.equal(unread.take(socket), NOTHING);
    await new Promise((resolve) => other.write('hello', resolve));
    assert.equal(unread.take(socket), 5);
    assert.equal(Buffer.from(unread.bytes.subarray(0, 5)).toString(), 'hello');
    assert.equal(unread.take(socket), NOTHING);
    other.destroy();
    await once(other, 'close');
    assert.equal(unread.take(socket), 0);
    socket.destroy();
    assert.equal(unread.take(socket), NOTHING);
  });

  it('of a server reads into a given buffer, and into its stream again', async () => {
    const server = createServer();
    const port = await listen(server);
    const [[accepted], socket] = await Promise.all([once(server, 'connection'), connect(port, '127.0.0.1')]);
    await start({ destroy: () => void socket.destroy() });
    const taken: string[] = [];
    const wake = Promise.withResolvers<void>();
    const took = takeReads(accepted, (bytes) => {
      taken.push(bytes.toString());
      wake.resolve();
    });
    assert.equal(took, true);
    socket.write('one');
    await wake.promise;
    assert.equal(accepted.readableLength, 0);
    giveBackReads(accepted);
    socket.end('two');
    const [bytes] = await once(accepted, 'data');
    assert.equal(String(bytes), 'two');
    await once(accepted, 'end');
    assert.deepEqual(taken, ['one']);
  });

  it('over TLS shows the connection beneath, and takes bytes', async () => {
    const authority = createAuthority();
    const { certificate: cert, key } = authority.issue({ names: ['127.0.0.1'] });
    const port = await listen(createSecureServer({ cert, key }));
    const socket: TLSSocket = connectSecurely({ port, host: '127.0.0.1', ca: authority.certificate });
    await start({ destroy: () => void socket.destroy() });
    await once(socket, 'secureConnect');
    const handle = handleOf(socket);
    assert.ok((handle?.fd ?? -1) >= 0);
    assert.equal(typeof handle?.receive, 'function');
    assert.equal(typeof handle?.reading, 'boolean');
    assert.equal(typeof handle?._parent?.readStart, 'function');
    assert.ok((handle?._parent?.bytesRead ?? 0) > 0);
    assert.equal(typeof handle?.writeQueueSize, 'number');
  });

  it('over TLS, of a server, shows the TCP socket beneath, with a handle that has no waiting bytes', async () => {
    const authority = createAuthority();
    const { certificate: cert, key } = authority.issue({ names: ['127.0.0.1'] });
    const server = createSecureServer({ cert, key });
    const raws: Socket[] = [];
    server.on('connection', (raw: Socket) => raws.push(raw));
    const socket = connectSecurely({ port: await listen(server), rejectUnauthorized: false });
    await start({ destroy: () => void socket.destroy() });
    const [secured] = await once(server, 'secureConnection');
    assert.equal(secured._parent, raws[0]);
    assert.equal(handleOf(raws[0] as Socket)?.writeQueueSize, 0);
  });
});
