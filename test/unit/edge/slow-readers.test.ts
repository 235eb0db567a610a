import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { describe, it } from 'node:test';
import { connect as connectSecurely, createSecureContext, TLSSocket } from 'node:tls';
import { watchSlowReaders } from '../../../gateway/edge/connections/slow-readers.ts';
import type { Arrived } from '../../../gateway/exchange/exchange.ts';
import { createAuthority } from '../../support/certificates.ts';
import { closesAfterEach } from '../../support/closing.ts';
import { until } from '../../support/connection.ts';
import { standStill } from '../../support/stand-still.ts';

const start = closesAfterEach();
const IDLE_MS = 200;
/** More than the buffers of two sockets of the kernel. */
const LARGE = Buffer.alloc(30_000_000);

/** Two ends of one connection. */
async function openPair(): Promise<{ readonly server: Socket; readonly client: Socket }> {
  const listener = createServer();
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  await start({ destroy: () => void listener.close() });
  const client = connect((listener.address() as AddressInfo).port, '127.0.0.1').on('error', () => undefined);
  await start(client);
  const [[server]] = await Promise.all([once(listener, 'connection'), once(client, 'connect')]);
  await start(server.on('error', () => undefined));
  return { server, client };
}

async function watch(socket: Socket, idleMs = IDLE_MS): Promise<Socket[]> {
  const cut: Socket[] = [];
  const stop = watchSlowReaders({
    idleMs,
    everyMs: 20,
    inProgress: () => [{ request: { socket } } as Arrived],
    cut: (one) => cut.push(one.destroy()),
  });
  await start({ destroy: stop });
  return cut;
}

describe('an answer of which nothing leaves', () => {
  it('is cut off, however often bytes are added to it', async () => {
    const { server, client } = await openPair();
    client.pause();
    server.write(LARGE);
    const trickle = setInterval(() => server.write('x'), 5);
    await start({ destroy: () => clearInterval(trickle) });
    const cut = await watch(server);
    await until(() => cut.length === 1);
  });

  it('is not cut off for a time in which the gateway stood still', async () => {
    const { server, client } = await openPair();
    client.pause();
    server.write(LARGE);
    const cut = await watch(server);
    await new Promise((resolve) => setTimeout(resolve, 40));
    standStill(2 * IDLE_MS);
    await new Promise(setImmediate);
    assert.deepEqual(cut, []);
    client.resume();
    await until(() => client.bytesRead === LARGE.length);
  });

  it('is not cut off while its client reads now and then', async () => {
    const { server, client } = await openPair();
    client.pause();
    server.write(LARGE);
    const cut = await watch(server);
    for (let read = 0; read < 10_000_000; ) {
      const [chunk] = await once(client, 'data', void client.resume());
      client.pause();
      read += chunk.length;
    }
    assert.deepEqual(cut, []);
  });
});

it('a reset beneath TLS ends an answer that waits, although nothing is read', async () => {
  const { server, client } = await openPair();
  const authority = createAuthority();
  const { certificate: cert, key } = authority.issue({ names: ['api.test'] });
  const secured = new TLSSocket(server, { isServer: true, secureContext: createSecureContext({ cert, key }) });
  await start(secured.on('error', () => undefined));
  const asking = connectSecurely({ socket: client, rejectUnauthorized: false }).on('error', () => undefined);
  await start(asking);
  await once(asking, 'secureConnect');
  // More than is read of a body that has no reader: the end of the connection is behind it.
  asking.write(Buffer.alloc(300_000));
  client.resetAndDestroy();
  await once(secured, 'secure');
  // Session tickets are written right after the handshake.
  await new Promise(setImmediate);
  secured.write('an answer');
  await watch(secured, 60_000);
  await until(() => secured.destroyed);
});
