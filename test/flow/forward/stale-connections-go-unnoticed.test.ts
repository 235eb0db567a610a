// An upstream that closes idle connections whenever it likes, also in the moment in which the next request goes out: reads succeed all the
// same, and no write is carried out twice.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { closesAfterEach } from '../../support/closing.ts';
import { ask } from '../../support/connection.ts';
import { httpAnswer } from '../../support/scripted-upstream.ts';
import { createWorld } from '../../support/world.ts';
import { bytesOf, type ItemRequest, itemPaths, timesOf } from './items.ts';

const start = closesAfterEach();
const entry = { connections: 1, honoursIdempotencyKey: true };

/** Requests one after the other on one connection that is closed some time after each answer: at once, a little later, or not at all. */
async function askMany(close: 'end' | 'resetAndDestroy') {
  const world = await start(createWorld({}, entry, itemPaths));
  let closed = 0;
  world.upstream.plays((socket) => {
    socket.write(httpAnswer(200, '{}'));
    const afterMs = Math.random() * 4;
    if (afterMs > 3) return;
    setTimeout(() => {
      if (!socket.destroyed) closed += 1;
      socket[close]();
    }, afterMs);
  });
  const outcomes: { readonly one: ItemRequest; readonly status: number; readonly code: string | undefined }[] = [];
  for (let i = 0; i < 200; i++) {
    const method = (['GET', 'GET', 'DELETE', 'POST', 'PATCH'] as const)[i % 5] as ItemRequest['method'];
    const one = { method, keyed: i % 10 >= 8, id: `stale-${close}-${i}` };
    const { status, headers } = await ask(world.gateway.port, bytesOf(one, world.authorization));
    outcomes.push({ one, status, code: headers['x-error-code'] });
  }
  return { world, outcomes, closed };
}

describe('an upstream that closes idle connections at random moments', () => {
  for (const close of ['end', 'resetAndDestroy'] as const) {
    it(`is read from without a failure, and writes stay single: ${close}`, async () => {
      const { world, outcomes, closed } = await askMany(close);
      assert.ok(closed > 50, `${closed} connections were closed`);
      for (const { one, status, code } of outcomes) {
        const isWrite = one.method === 'POST' || one.method === 'PATCH';
        if (!isWrite || one.keyed) assert.equal(status, 200, `${one.method} ${code}`);
        else {
          assert.ok(status === 200 || code === 'upstream_bad_response', `${status} ${code}`);
          assert.ok(timesOf(one, world.upstream.received) <= 1, 'a write that may have arrived is not sent again');
        }
      }
    });
  }
});
