// Response desynchronisation by an interim answer: two requests are sent at once, and the second one asks for 100 Continue. A server that
// writes that answer while the first request still has the connection puts it in the wrong place: Node, left alone, between the head and
// the body of the second answer. From there on a client, or a proxy that carries the requests of many clients on one connection, takes the
// end of each answer for the beginning of the next. The defence is that an interim answer waits for its turn, and is left out once it is
// late.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { closesAfterEach } from '../support/closing.ts';
import { openConnection, requestOf, until } from '../support/connection.ts';
import { httpAnswer } from '../support/scripted-upstream.ts';
import { createWorld } from '../support/world.ts';

const start = closesAfterEach();

for (const [kind, path, type] of [
  ['that is read first', '/v1/things', 'application/json'],
  ['that streams', '/v1/files', 'application/octet-stream'],
] as const) {
  describe(`100 Continue for a body ${kind}`, () => {
    const body = '{"name":"a"}';
    const arrange = async () => {
      const world = await start(createWorld());
      const { authorization } = world;
      const headers = { Authorization: authorization, 'Content-Type': type, Expect: '100-continue' };
      const post = requestOf(`POST ${path}`, { ...headers, 'Content-Length': '12' });
      const get = requestOf('GET /v1/things', { Authorization: authorization });
      let release = () => {};
      world.upstream.plays((socket, request) => {
        if (request.startsWith('POST')) socket.write(httpAnswer(201, '"second"'));
        else release = () => socket.write(httpAnswer(200, '"first"'));
      });
      const connection = await start(openConnection(world.gateway.port));
      return { world, connection, get, post, release: () => release() };
    };

    it('is left out when the answer itself has been waiting for its turn', async () => {
      const { world, connection, get, post, release } = await arrange();
      connection.send(get, post, body);
      await until(() => world.upstream.received.length === 2);
      release();
      assert.equal((await connection.answer())?.body.toString(), '"first"');
      // Whether the second one has been waiting by now is a matter of microseconds.
      const next = await connection.answer();
      const second = next?.status === 100 ? await connection.answer() : next;
      assert.equal(second?.body.toString(), '"second"');
      assert.equal(connection.rest().length, 0);
    });

    it('comes behind the answer before it, and then the body is read', async () => {
      const { world, connection, get, post, release } = await arrange();
      connection.send(get, post);
      await until(() => world.upstream.received.length === 1);
      release();
      assert.equal((await connection.answer())?.body.toString(), '"first"');
      assert.equal((await connection.answer())?.status, 100);
      connection.send(body);
      assert.equal((await connection.answer())?.body.toString(), '"second"');
      assert.equal(connection.rest().length, 0);
    });
  });
}
