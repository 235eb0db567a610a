// A request that is too large or too slow is refused at the earliest moment, and the client can read why even if it is still sending.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { openConnection, requestOf } from '../../support/connection.ts';
import { runCases } from '../../support/errors.ts';
import { createWorld, type World } from '../../support/world.ts';
import { sizeCases, smallLimits } from './size.cases.ts';

describe('too much or too slow', () => {
  let world: World;
  before(async () => {
    world = await createWorld(smallLimits);
  });
  after(() => world.close());

  runCases(sizeCases, () => world);

  it('never reached the upstream', () => {
    assert.deepEqual(world.upstream.received, []);
  });

  const json = { 'Content-Type': 'application/json' };
  const framings = [
    ['a length', { ...json, 'Content-Length': '3000000' }],
    ['chunks', { ...json, 'Transfer-Encoding': 'chunked' }],
  ] as const;
  for (const [name, headers] of framings) {
    it(`lets a client that sends on and reads only afterwards see the answer, with ${name}`, async () => {
      const connection = await openConnection(world.gateway.port);
      connection.socket.pause();
      connection.send(requestOf('POST /v1/things', { Authorization: world.authorization, ...headers }));
      if (name === 'chunks') connection.send('2dc6c0\r\n');
      for (let sent = 0; sent < 3_000_000; sent += 100_000) {
        await new Promise<void>((resolve) => connection.socket.write(Buffer.alloc(100_000, 0x20), () => resolve()));
      }
      connection.socket.resume();
      const answer = await connection.answer();
      assert.equal(answer?.status, 413);
      assert.equal(answer?.error.code, 'body_too_large');
      assert.equal(answer?.headers.connection, 'close');
      assert.equal(await connection.closed, 'end', 'not by a reset');
      connection.destroy();
    });
  }

  it('stops reading from a client that never stops sending', async () => {
    const connection = await openConnection(world.gateway.port);
    const headers = { ...json, Authorization: world.authorization, 'Transfer-Encoding': 'chunked' };
    connection.send(requestOf('POST /v1/things', headers), 'fffffff\r\n');
    const piece = Buffer.alloc(65_536, 0x20);
    const sendOn = () => {
      while (!connection.socket.destroyed && connection.socket.write(piece));
    };
    connection.socket.on('drain', sendOn);
    sendOn();
    const answer = await connection.answer();
    assert.equal(answer?.status, 413);
    await new Promise((resolve) => connection.socket.once('close', resolve));
  });
});
