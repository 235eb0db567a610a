// Members that x-gateway-once names are in the first answer only: the stored answer has other values in their place.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, it } from 'node:test';
import { closesAfterAll } from '../../support/closing.ts';
import { startRedis } from '../../support/redis.ts';
import { httpAnswer } from '../../support/scripted-upstream.ts';
import { bytesBelow, bytesInRedis } from '../../support/stored-bytes.ts';
import { createKeyedWorld, newKey } from './keyed.ts';

const start = closesAfterAll();

const declares = {
  '/v1/secrets': {
    post: {
      operationId: 'createSecret',
      security: [{ apiKey: ['things:write'] }],
      'x-gateway-once': { secret: null, shown: 'before' },
      requestBody: { content: { 'application/json': {} } },
      responses: { 201: { description: 'done', content: { 'application/json': {} } } },
    },
  },
};

for (const kind of ['SQLite', 'Redis'] as const) {
  describe(`a secret in an answer, with answers in ${kind}`, async () => {
    const redis = kind === 'Redis' ? await startRedis() : undefined;
    const environment = redis === undefined ? {} : { REDIS_URL: redis.url };
    const world = await start(createKeyedWorld({ environment }, {}, declares));
    if (redis !== undefined) await start(Promise.resolve(redis));
    const { gateway, upstream, post } = world;
    const secret = `sk_live_${randomBytes(19).toString('hex')}`;
    const line = 'POST /v1/secrets';

    it('is in the first answer, and in no repetition', async () => {
      upstream.plays((socket) => socket.write(httpAnswer(201, JSON.stringify({ id: 'key_1', secret, shown: 'here' }))));
      const key = newKey();
      const first = await post({ key, line });
      assert.deepEqual(JSON.parse(first.body.toString()), { id: 'key_1', secret, shown: 'here' });
      for (let i = 0; i < 2; i += 1) {
        const again = await post({ key, line });
        assert.equal(again.status, 201);
        assert.equal(again.headers['idempotent-replayed'], 'true');
        assert.equal(again.headers['content-length'], String(again.body.length));
        assert.deepEqual(JSON.parse(again.body.toString()), { id: 'key_1', secret: null, shown: 'before' });
      }
    });

    it('is in no store and no log line', async () => {
      const stored = redis === undefined ? bytesBelow(gateway.dataDirectory) : await bytesInRedis(redis.url);
      assert.ok(stored.includes('"id":"key_1"'), 'the answer is stored where this looks');
      assert.ok(!stored.includes(secret));
      assert.ok(!JSON.stringify(gateway.logLines()).includes(secret));
    });

    it('is not stored with an answer that cannot be read', async () => {
      upstream.plays((socket) => socket.write(httpAnswer(201, JSON.stringify([{ secret }]))));
      const key = newKey();
      assert.equal((await post({ key, line })).status, 201);
      const again = await post({ key, line });
      assert.equal(JSON.parse(again.body.toString()).error.code, 'idempotency_result_not_retained');
      const stored = redis === undefined ? bytesBelow(gateway.dataDirectory) : await bytesInRedis(redis.url);
      assert.ok(!stored.includes(secret));
    });
  });
}
