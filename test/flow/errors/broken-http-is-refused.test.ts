// A request that is not well-formed HTTP/1.1 gets the same error object as everything else, and the connection ends, because the bytes
// after it have no known meaning.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { openConnection, requestOf, until } from '../../support/connection.ts';
import { runCases } from '../../support/errors.ts';
import { createWorld, type World } from '../../support/world.ts';
import { brokenCases } from './broken-http.cases.ts';

describe('broken HTTP', () => {
  let world: World;
  before(async () => {
    world = await createWorld();
  });
  after(() => world.close());

  const lineOf = (id: string | undefined) =>
    until(() => world.gateway.logLines().find(({ request_id }) => request_id === id));

  runCases(brokenCases, () => world);

  it('leaves one line in the log, with the code', async () => {
    const connection = await openConnection(world.gateway.port);
    connection.send('garbage\r\n\r\n');
    const answer = await connection.answer();
    connection.destroy();
    const { status, code, client } = await lineOf(answer?.headers['x-request-id']);
    assert.deepEqual({ status, code, client }, { status: 400, code: 'malformed_http', client: '127.0.0.1' });
  });

  it('in a body leaves one line in the log, of the exchange it belongs to', async () => {
    const before = world.gateway.logLines().length;
    const connection = await openConnection(world.gateway.port);
    const json = { 'Content-Type': 'application/json', Authorization: world.authorization };
    connection.send(requestOf('POST /v1/things', { ...json, 'Transfer-Encoding': 'chunked' }), 'zz\r\n');
    const answer = await connection.answer();
    connection.destroy();
    const { status, code, operation } = await lineOf(answer?.headers['x-request-id']);
    assert.deepEqual({ status, code, operation }, { status: 400, code: 'malformed_http', operation: 'createThing' });
    assert.equal(world.gateway.logLines().length, before + 1);
  });

  it('does not take the answer away from a client that is still sending', async () => {
    const connection = await openConnection(world.gateway.port);
    connection.send('garbage\r\n', Buffer.alloc(900_000, 0x61));
    const answer = await connection.answer();
    assert.equal(answer?.error.code, 'malformed_http');
    assert.equal(await connection.closed, 'end');
    connection.destroy();
  });

  it('behind a good request does not take the place of its answer', async () => {
    let finish = () => {};
    world.upstream.plays((socket) => {
      finish = () => socket.write('HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}');
    });
    const connection = await openConnection(world.gateway.port);
    connection.send(requestOf('GET /v1/things', { Authorization: world.authorization }), 'garbage\r\n\r\n');
    await until(() => world.upstream.received.length > 0);
    finish();
    const answer = await connection.answer();
    assert.equal(answer?.status, 200);
    assert.equal(answer?.headers.connection, 'close');
    assert.equal(await connection.answer(), undefined);
    assert.equal(connection.rest().length, 0);
    connection.destroy();
  });
});

describe('HTTP/1.0', () => {
  let world: World;
  before(async () => {
    world = await createWorld();
  });
  after(() => world.close());

  for (const host of ['Host: a\r\n', '']) {
    it(`is served, ${host ? 'with' : 'without'} Host`, async () => {
      const connection = await openConnection(world.gateway.port);
      connection.send(`GET /v1/things HTTP/1.0\r\n${host}Authorization: ${world.authorization}\r\n\r\n`);
      const answer = await connection.answer();
      assert.equal(answer?.status, 200);
      assert.equal(answer?.headers['transfer-encoding'], undefined);
      await connection.closed;
      connection.destroy();
    });
  }

  it('gets no 100 Continue, which it does not know', async () => {
    const connection = await openConnection(world.gateway.port);
    connection.send(
      `POST /v1/things HTTP/1.0\r\nHost: a\r\nAuthorization: ${world.authorization}\r\nContent-Type: application/json\r\n`,
      'Expect: 100-continue\r\nContent-Length: 12\r\n\r\n{"name":"a"}',
    );
    assert.equal((await connection.answer())?.status, 200);
    connection.destroy();
  });
});
