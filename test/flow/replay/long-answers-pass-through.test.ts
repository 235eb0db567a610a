// Up to the bound an answer is kept before the client has it; a longer one passes as it comes, and is remembered as done.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { assertRefusal } from '../../support/errors.ts';
import { httpAnswer } from '../../support/scripted-upstream.ts';
import { createKeyedWorld, type KeyedWorld, newKey } from './keyed.ts';

const BOUND = 65_536;
const bodyOf = (length: number) => `"${'x'.repeat(length - 2)}"`;

const refusing = {
  '/v1/checked': {
    post: {
      operationId: 'check',
      'x-gateway-response': 'refuse',
      security: [{ apiKey: ['things:write'] }],
      requestBody: { content: { 'application/json': {} } },
      responses: { 201: { description: 'done', content: { 'application/json': { schema: { type: 'string' } } } } },
    },
  },
};

describe('an answer of a certain length', () => {
  let world: KeyedWorld;
  before(async () => {
    world = await createKeyedWorld({}, {}, refusing);
  });
  after(() => world.close());

  for (const line of ['POST /v1/things', 'POST /v1/checked']) {
    it(`of 64 KiB is kept, of one byte more it is not: ${line}`, async () => {
      const { upstream, post } = world;
      const [fits, exceeds] = [newKey(), newKey()];
      upstream.plays((socket) => socket.write(httpAnswer(201, bodyOf(BOUND))));
      assert.equal((await post({ key: fits, line })).body.length, BOUND);
      upstream.plays((socket) => socket.write(httpAnswer(201, bodyOf(BOUND + 1))));
      const long = await post({ key: exceeds, line });
      assert.deepEqual([long.whole, String(long.body)], [true, bodyOf(BOUND + 1)]);
      assert.equal(long.headers['content-length'], String(BOUND + 1));
      const again = await post({ key: fits, line });
      assert.deepEqual([again.headers['idempotent-replayed'], again.body.length], ['true', BOUND]);
      assertRefusal(await post({ key: exceeds, line }), 'idempotency_result_not_retained');
    });
  }

  it('of megabytes in many pieces arrives whole, with or without a length', async () => {
    const pieces = Array.from({ length: 48 }, (_, i) => Buffer.alloc(65_000, 'abcdefgh'[i % 8]));
    const all = Buffer.concat(pieces);
    const head = 'HTTP/1.1 201 Created\r\nContent-Type: application/json\r\n';
    for (const framing of [`Content-Length: ${all.length}`, 'Transfer-Encoding: chunked']) {
      world.upstream.plays((socket) => {
        socket.write(`${head}${framing}\r\n\r\n`);
        for (const piece of pieces) {
          if (framing.startsWith('Content')) socket.write(piece);
          else
            socket.write(Buffer.concat([Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n')]));
        }
        if (!framing.startsWith('Content')) socket.write('0\r\n\r\n');
      });
      const answer = await world.post();
      assert.ok(answer.whole && answer.body.equals(all), framing);
    }
  });

  it('that breaks off after it was too long has been done, and is not done again', async () => {
    const { upstream, post } = world;
    const key = newKey();
    const broken = `HTTP/1.1 201 Created\r\nContent-Type: application/json\r\nContent-Length: 99999\r\n\r\n${'x'.repeat(70_000)}`;
    upstream.plays((socket) => {
      socket.write(broken);
      setTimeout(() => socket.destroy(), 100);
    });
    assert.equal((await post({ key })).whole, false);
    assertRefusal(await post({ key }), 'idempotency_result_not_retained');
  });
});

describe('the storage of an organization', () => {
  it('is the bound of gateway.yaml: answers over it are given once', async () => {
    const bounds = { answerBytesMax: 1_048_576, organizationBytesMax: 1_048_576 };
    const world = await createKeyedWorld({ gateway: { idempotency: bounds } });
    const { upstream, post } = world;
    const [fits, exceeds, small] = [newKey(), newKey(), newKey()];
    for (const [key, length] of [
      [fits, 600_000],
      [exceeds, 600_000],
      [small, 1000],
    ] as const) {
      upstream.plays((socket) => socket.write(httpAnswer(201, bodyOf(length))));
      assert.equal((await post({ key })).body.length, length);
    }
    for (const [key, length] of [
      [fits, 600_000],
      [small, 1000],
    ] as const) {
      const again = await post({ key });
      assert.deepEqual([again.headers['idempotent-replayed'], again.body.length], ['true', length]);
    }
    assertRefusal(await post({ key: exceeds }), 'idempotency_result_not_retained');
    await world.close();
  });
});

describe('the bound', () => {
  it('is the bound of gateway.yaml, and 0 keeps empty answers only', async () => {
    const world = await createKeyedWorld({ gateway: { idempotency: { answerBytesMax: 0 } } });
    const key = newKey();
    assert.equal((await world.post({ key })).status, 201);
    assertRefusal(await world.post({ key }), 'idempotency_result_not_retained');
    await world.close();
  });
});
