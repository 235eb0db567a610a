// Another configuration takes over while streams and WebSockets are open: they go on, later requests follow the new rules.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { closesAfterEach } from '../../support/closing.ts';
import { writeConfiguration } from '../../support/configuration.ts';
import { ask, requestOf, until } from '../../support/connection.ts';
import { assertRefusal } from '../../support/errors.ts';
import { startBehind, startTunnel, tunnelAt } from './mail-tunnel.ts';
import { frame, headOf, nextWebSocket, openWebSocket } from './open-ends.ts';

const start = closesAfterEach();

describe('a reload', () => {
  it('leaves WebSockets open and counted, and changes where and how tunnels are', async () => {
    const behind = await start(startBehind());
    const gateway = await start(startTunnel(behind.url));
    const granted = nextWebSocket(behind);
    const client = await start(openWebSocket(gateway.port));
    const upstream = await granted;
    await headOf(client);

    const tunnel = { paths: ['/post/*', '/jmap/session'], limits: { connections: 1 } };
    writeConfiguration(gateway.directory, tunnelAt(behind.url, { tunnel }));
    await gateway.app.reload();
    await until(() => gateway.logLines().some(({ msg }) => msg === 'the configuration was loaded anew'));

    client.socket.write(frame(1, 'still'));
    assert.deepEqual(await upstream.takes(7), frame(1, 'still'));
    assertRefusal(await ask(gateway.port, requestOf('GET /jmap/other')), 'route_not_found');
    assertRefusal(await ask(gateway.port, requestOf('GET /post/box')), 'rate_limited');
    client.socket.end();
    upstream.socket.end();
    await client.closed;
    assert.equal((await ask(gateway.port, requestOf('GET /post/box'))).status, 200);
  });
});
