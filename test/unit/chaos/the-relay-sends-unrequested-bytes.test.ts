// The faults of `npm run chaos` have the effect of their names: a relay without effect would let every run pass.

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { unaskedAnswer } from '../../chaos/garbage.ts';
import { startRelay } from '../../chaos/relay.ts';
import { type Connection, openConnection, requestOf } from '../../support/connection.ts';

const RESTING_MS = 80;

// As the targets do: the head first, so that the answer is in chunks.
const server = createServer((_request, response) => response.writeHead(200).end('{"asked":true}'));
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const relay = await startRelay((server.address() as AddressInfo).port);
after(async () => {
  await relay.shut();
  server.closeAllConnections();
  server.close();
});

const ask = (connection: Connection) => connection.send(requestOf('GET /'));
const bodyOf = async (connection: Connection) => String((await connection.answer())?.body);

describe('the relay', () => {
  it('sends bytes on an idle connection, and knows which request may have crossed them', async () => {
    const resting = await openConnection(relay.port);
    ask(resting);
    assert.equal(await bodyOf(resting), '{"asked":true}');
    await sleep(RESTING_MS);
    relay.interject(unaskedAnswer);
    ask(resting);
    const { id } = JSON.parse(await bodyOf(resting));
    assert.match(id, /^unasked-/);
    assert.equal(await bodyOf(resting), '{"asked":true}');
    assert.ok(relay.crossed().has(id));
    await sleep(RESTING_MS);
    relay.interject(unaskedAnswer);
    const later = JSON.parse(await bodyOf(resting)).id;
    await sleep(RESTING_MS);
    ask(resting);
    await bodyOf(resting);
    assert.ok(!relay.crossed().has(later), 'this request came long after it');
    resting.destroy();
  });

  it('sends nothing on a connection without an earlier request', async () => {
    const fresh = await openConnection(relay.port);
    await sleep(RESTING_MS);
    relay.interject(unaskedAnswer);
    await sleep(RESTING_MS);
    assert.equal(fresh.rest().length, 0);
    fresh.destroy();
  });

  it('puts another answer behind each', async () => {
    relay.addBehind(unaskedAnswer);
    const connection = await openConnection(relay.port);
    ask(connection);
    assert.equal(await bodyOf(connection), '{"asked":true}');
    assert.match(await bodyOf(connection), /unasked-/);
    relay.addBehind(undefined);
    connection.destroy();
  });

  it('gives garbage in the place of an answer, and ends', async () => {
    relay.garble(() => Buffer.from('garbage'));
    const connection = await openConnection(relay.port);
    ask(connection);
    assert.equal(await connection.closed, 'end');
    assert.equal(String(connection.rest()), 'garbage');
    relay.garble(undefined);
    connection.destroy();
  });

  it('ends or resets an answer in the middle', async () => {
    for (const how of ['end', 'reset'] as const) {
      relay.cutAfter(20, how);
      const connection = await openConnection(relay.port);
      ask(connection);
      assert.equal(await connection.closed, how);
      assert.ok(connection.rest().length <= 20);
      connection.destroy();
    }
    relay.cutAfter(undefined);
  });
});
