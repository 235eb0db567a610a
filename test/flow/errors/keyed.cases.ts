// Every refusal that is about a write that was sent before.

import assert from 'node:assert/strict';
import { until } from '../../support/connection.ts';
import type { RefusalCase } from '../../support/errors.ts';
import { httpAnswer } from '../../support/scripted-upstream.ts';
import type { World } from '../../support/world.ts';

type Case = RefusalCase<World>;

const post = ({ call }: World, key: string, name = 'a') =>
  call('POST /v1/things', { 'Content-Type': 'application/json', 'Idempotency-Key': key }, JSON.stringify({ name }));

export const keyedCases: readonly Case[] = [
  {
    name: 'a write whose first attempt is still running',
    code: 'idempotency_key_in_use',
    async provoke(world) {
      const reached = Promise.withResolvers<() => void>();
      world.upstream.plays((socket) => reached.resolve(() => socket.write(httpAnswer(201, '{}'))));
      const first = post(world, 'running');
      const finish = await reached.promise;
      const answer = await post(world, 'running');
      finish();
      assert.equal((await first).status, 201);
      return answer;
    },
    also({ headers, error }, { upstream }) {
      assert.deepEqual([headers['retry-after'], error.retry_after, error.retryable], ['1', 1, true]);
      assert.equal(upstream.received.length, 1);
    },
  },
  {
    name: 'another request with a key that was used',
    code: 'idempotency_key_reused',
    async provoke(world) {
      world.upstream.plays((socket) => socket.write(httpAnswer(201, '{}')));
      assert.equal((await post(world, 'used')).status, 201);
      return post(world, 'used', 'b');
    },
  },
  {
    name: 'another request with a key whose first request is still running',
    code: 'idempotency_key_reused',
    async provoke(world) {
      const before = world.upstream.received.length;
      world.upstream.plays(() => {});
      void post(world, 'hanging');
      await until(() => world.upstream.received.length > before);
      return post(world, 'hanging', 'b');
    },
  },
  {
    name: 'a write whose first attempt may have been executed',
    code: 'idempotency_outcome_unknown',
    async provoke(world) {
      world.upstream.plays((socket) => socket.destroy());
      const first = await post(world, 'lost');
      assert.deepEqual([first.error.code, first.error.retryable], ['upstream_bad_response', false]);
      return post(world, 'lost');
    },
    also({ error }) {
      assert.equal(error.retryable, false);
      assert.ok(Math.abs(Date.parse(String(error.sent_at)) - Date.now()) < 60_000);
    },
  },
  {
    name: 'a write whose answer was too long to be kept',
    code: 'idempotency_result_not_retained',
    async provoke(world) {
      const body = JSON.stringify({ text: 'x'.repeat(70_000) });
      world.upstream.plays((socket) => socket.write(httpAnswer(201, body)));
      const first = await post(world, 'long');
      assert.deepEqual([first.status, String(first.body)], [201, body]);
      return post(world, 'long');
    },
    also: ({ error }) => assert.equal(error.retryable, false),
  },
];
