// Connections are so many at most, of all clients and of one address; one too many costs next to nothing.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { describe, it } from 'node:test';
import { closesAfterEach } from '../../support/closing.ts';
import { gatewayFileOf } from '../../support/configuration.ts';
import { openConnection } from '../../support/connection.ts';
import { createWorld, type World } from '../../support/world.ts';
import { saveAndReload, until } from '../reload/files.ts';
import { sampleOf } from '../tls/secure-gateway.ts';

const start = closesAfterEach();

function limited(connections: object, trustedProxies: readonly string[] = []): Promise<World> {
  return start(createWorld({ gateway: { connections, trustedProxies } }));
}

const refused = ({ gateway }: World, of: string) => sampleOf(gateway, `gateway_connections_refused_total{of="${of}"}`);

/** Opens connections from an address of this machine; answers those that are still open when all have been taken. */
async function openFrom(world: World, localAddress: string, count: number): Promise<Socket[]> {
  const sockets = await Promise.all(
    Array.from({ length: count }, async () => {
      const socket = connect({ port: world.gateway.port, host: '127.0.0.1', localAddress });
      socket.on('error', () => undefined).resume();
      await once(socket, 'connect');
      return socket;
    }),
  );
  return sockets;
}

const openOf = (sockets: readonly Socket[]) => sockets.filter((socket) => !socket.closed && !socket.readableEnded);

describe('connections', () => {
  it('of one address are limited, and other addresses can connect', async () => {
    const world = await limited({ perAddress: 3 });
    const sockets = await openFrom(world, '127.0.0.2', 8);
    await until(() => openOf(sockets).length === 3);
    assert.equal(await refused(world, 'address'), 5);
    assert.equal((await world.call('GET /v1/things')).status, 200);
    openOf(sockets)[0]?.destroy();
    await until(async () => {
      const [again] = await openFrom(world, '127.0.0.2', 1);
      again?.write('GET /nothing HTTP/1.1\r\nHost: a\r\n\r\n');
      return Promise.race([
        once(again as Socket, 'data').then(() => true),
        once(again as Socket, 'close').then(() => false),
      ]);
    });
    for (const socket of sockets) socket.destroy();
  });

  it('of a trusted proxy may be more', async () => {
    const world = await limited({ perAddress: 3 }, ['127.0.0.2']);
    const sockets = await openFrom(world, '127.0.0.2', 8);
    const connection = await openConnection(world.gateway.port);
    connection.send('GET /nothing HTTP/1.1\r\nHost: a\r\n\r\n');
    assert.equal((await connection.answer())?.status, 404);
    connection.destroy();
    assert.equal(openOf(sockets).length, 8);
    assert.equal(await refused(world, 'address'), 0);
    for (const socket of sockets) socket.destroy();
  });

  it('of all clients are limited, and a reload changes the limit', async () => {
    const world = await limited({ max: 100 });
    await saveAndReload(world.gateway, 'config/gateway.yaml', gatewayFileOf({ connections: { max: 4 } }));
    const sockets = [...(await openFrom(world, '127.0.0.2', 5)), ...(await openFrom(world, '127.0.0.3', 5))];
    await until(() => openOf(sockets).length === 4);
    assert.equal(await refused(world, 'all'), 6);
    for (const socket of sockets) socket.destroy();
  });
});
