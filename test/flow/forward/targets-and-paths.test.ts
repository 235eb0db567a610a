// Where a request goes: to the addresses of the caller's mode in turn, on connections that stay open, under the path of the upstream.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { closesAfterEach } from '../../support/closing.ts';
import { ask, openConnection, requestOf } from '../../support/connection.ts';
import { startGateway } from '../../support/gateway.ts';
import { httpAnswer, type ScriptedUpstream, startScriptedUpstream } from '../../support/scripted-upstream.ts';
import { thingsAt, thingsContract } from '../../support/things.ts';
import { createWorld } from '../../support/world.ts';

const start = closesAfterEach();
const targetsOf = (upstreams: readonly ScriptedUpstream[]) => upstreams.map(({ received }) => received.length);

describe('targets', () => {
  it('share the load in turn', async () => {
    const upstreams = await Promise.all([1, 2, 3].map(() => start(startScriptedUpstream())));
    const gateway = await start(startGateway(thingsAt(upstreams.map(({ url }) => url))));
    const { authorization } = await gateway.authorize();
    for (let i = 0; i < 9; i++) await ask(gateway.port, requestOf('GET /v1/things', { Authorization: authorization }));
    assert.deepEqual(targetsOf(upstreams), [3, 3, 3]);
  });

  it('of live and test keys never mix', async () => {
    const live = await start(startScriptedUpstream());
    const test = await start(startScriptedUpstream());
    const gateway = await start(startGateway(thingsAt(live.url, { test: test.url })));
    const liveKey = await gateway.authorize({ mode: 'live' });
    const testKey = await gateway.authorize({ mode: 'test' });
    for (const { authorization } of [liveKey, testKey, testKey]) {
      await ask(gateway.port, requestOf('GET /v1/things', { Authorization: authorization }));
    }
    assert.deepEqual(targetsOf([live, test]), [1, 2]);
  });
});

describe('connections', () => {
  it('are reused on both sides', async () => {
    const world = await start(createWorld());
    const ports = new Set<number | undefined>();
    world.upstream.plays((socket) => {
      ports.add(socket.remotePort);
      socket.write(httpAnswer(200, '{}'));
    });
    const connection = await start(openConnection(world.gateway.port));
    for (let i = 0; i < 5; i++) {
      connection.send(requestOf('GET /v1/things', { Authorization: world.authorization }));
      const answer = await connection.answer();
      assert.equal(answer?.headers.connection, 'keep-alive');
    }
    assert.equal(ports.size, 1);
  });

  it('that the upstream closes are replaced', async () => {
    const world = await start(createWorld());
    world.upstream.plays((socket) => socket.end(httpAnswer(200, '{}', { Connection: 'close' })));
    for (let i = 0; i < 3; i++) assert.equal((await world.call('GET /v1/things')).status, 200);
  });

  it('carry pipelined requests, answered in their order', async () => {
    const world = await start(createWorld());
    let waiting = 0;
    world.upstream.plays((socket, request) => {
      const name = /q=(\w)/.exec(request)?.[1];
      // The later they come the sooner they are answered.
      setTimeout(() => socket.write(httpAnswer(200, `"${name}"`)), 60 - 20 * waiting++);
    });
    const connection = await start(openConnection(world.gateway.port));
    const requests = ['a', 'b', 'c'].map((q) =>
      requestOf(`GET /v1/things?q=${q}`, { Authorization: world.authorization }),
    );
    connection.send(Buffer.concat(requests));
    const bodies: (string | undefined)[] = [];
    for (const _ of requests) bodies.push((await connection.answer())?.body.toString());
    assert.deepEqual(bodies, ['"a"', '"b"', '"c"']);
  });
});

describe('the path that the upstream gets', () => {
  const rows: readonly (readonly [string, string, string | undefined, string, string])[] = [
    ['is the public one', '/', undefined, '/v1/things?q=a', '/v1/things?q=a'],
    [
      'carries the prefix of the server where the public one does',
      '/api',
      undefined,
      '/api/v1/things',
      '/api/v1/things',
    ],
    ['loses the base path', '/', '/base', '/base/v1/things', '/v1/things'],
    [
      'changes the base path for the prefix of the server',
      '/api',
      '/base',
      '/base/v1/things?q=a',
      '/api/v1/things?q=a',
    ],
    ['keeps encoded characters', '/api', '/base', '/base/v1/things/a%20b', '/api/v1/things/a%20b'],
    ['is not confused by the prefix inside', '/api', '/base', '/base/v1/things/base', '/api/v1/things/base'],
  ];
  for (const [name, server, basePath, sent, expected] of rows) {
    it(name, async () => {
      const upstream = await start(startScriptedUpstream());
      const contract = { ...thingsContract(), servers: [{ url: server }] };
      const gateway = await start(
        startGateway({
          contracts: { 'things.yaml': contract },
          upstreams: { things: { contracts: ['things.yaml'], live: upstream.url, ...(basePath ? { basePath } : {}) } },
        }),
      );
      const { authorization } = await gateway.authorize();
      const location = server === '/' ? '/v1/things/7' : `${server}/v1/things/7`;
      upstream.plays((socket) => socket.write(httpAnswer(200, '{}', { Location: location })));
      const answer = await ask(gateway.port, requestOf(`GET ${sent}`, { Authorization: authorization }));
      assert.equal(answer.status, 200);
      assert.equal(upstream.received[0]?.split(' ')[1], expected);
      const prefix = basePath ?? (server === '/' ? '' : server);
      assert.equal(answer.headers.location, `${prefix}/v1/things/7`, 'and its Location is the path that clients use');
    });
  }
});
