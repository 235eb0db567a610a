// A request that does not match the contract never reaches the upstream, and the answer names the valid form.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { openConnection, requestOf } from '../../support/connection.ts';
import { runCases } from '../../support/errors.ts';
import { createWorld, type World } from '../../support/world.ts';
import { contentCases } from './content.cases.ts';

describe('content', () => {
  let world: World;
  before(async () => {
    world = await createWorld();
  });
  after(() => world.close());

  runCases(contentCases, () => world);

  it('that was refused reached no upstream', () => {
    assert.deepEqual(world.upstream.received, []);
  });

  it('leaves the connection usable when the refused body is small', async () => {
    const connection = await openConnection(world.gateway.port);
    const headers = { Authorization: world.authorization, 'Content-Type': 'text/plain', 'Content-Length': '12' };
    connection.send(requestOf('POST /v1/things', headers), '{"name"');
    assert.equal((await connection.answer())?.status, 415);
    connection.send(':"a"}', requestOf('GET /v1/nothing', { Authorization: world.authorization }));
    assert.equal((await connection.answer())?.status, 404);
    connection.destroy();
  });
});

describe('100 Continue', () => {
  let world: World;
  before(async () => {
    world = await createWorld();
  });
  after(() => world.close());

  const expecting = { 'Content-Type': 'application/json', 'Content-Length': '12', Expect: '100-continue' };

  it('is sent when nothing but the body is left to check', async () => {
    const connection = await openConnection(world.gateway.port);
    connection.send(requestOf('POST /v1/things', { ...expecting, Authorization: world.authorization }));
    assert.equal((await connection.answer())?.status, 100);
    connection.send('{"name":"a"}');
    assert.equal((await connection.answer())?.status, 200);
    connection.destroy();
  });

  const refused: readonly (readonly [number, string, object])[] = [
    [401, '/v1/things', { Authorization: '' }],
    [404, '/v1/nothing', {}],
    [405, '/v1/things/1', {}],
    [413, '/v1/things', { 'Content-Length': '9999999' }],
    [415, '/v1/things', { 'Content-Type': 'text/plain' }],
    [400, '/v1/orders', {}],
  ];
  for (const [status, path, headers] of refused) {
    it(`is not sent before a ${status}, and the connection ends since the next bytes are unknown`, async () => {
      const connection = await openConnection(world.gateway.port);
      connection.send(requestOf(`POST ${path}`, { ...expecting, Authorization: world.authorization, ...headers }));
      const answer = await connection.answer();
      assert.equal(answer?.status, status);
      assert.equal(answer?.headers.connection, 'close');
      assert.equal(await connection.closed, 'end');
      connection.destroy();
    });
  }
});
