// A gateway is killed in the middle of a keyed write toward an upstream that does not honour keys: whether the write was executed is not
// known, so it is never sent again, neither after a restart nor by another instance. A new key is.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { closesAfterEach } from '../../support/closing.ts';
import { until } from '../../support/connection.ts';
import { assertRefusal } from '../../support/errors.ts';
import { startRedis } from '../../support/redis.ts';
import { startCluster } from '../../support/redis-topologies.ts';
import { startUpstream } from '../../support/upstream.ts';
import { installGateway } from './installed.ts';
import { newKey } from './keyed.ts';

const start = closesAfterEach();
const TIMEOUT_MS = 500;

/** Executes every request, each time anew, and answers when the test says so. */
async function startPlainUpstream() {
  let answers = false;
  const upstream = await startUpstream((_request, response) => {
    if (answers) response.writeHead(201, { 'content-type': 'application/json' }).end('{"id":"new"}');
  });
  return {
    ...upstream,
    answersFromNowOn() {
      answers = true;
    },
  };
}

async function killInTheMiddle(redisUrl: string | undefined, entry: object = {}) {
  const upstream = await start(startPlainUpstream());
  const installed = await start(installGateway(upstream.url, redisUrl, { timeoutMs: TIMEOUT_MS, ...entry }));
  const first = await installed.start();
  const sentAtMs = Date.now();
  const lost = assert.rejects(installed.post(first.port));
  await until(() => upstream.requests.length === 1);
  first.child.kill('SIGKILL');
  await lost;
  upstream.answersFromNowOn();
  const second = await start(installed.startAnother());
  return { upstream, installed, second, sentAtMs };
}

async function neverRunsTwice(redisUrl: string | undefined): Promise<void> {
  const { upstream, installed, second, sentAtMs } = await killInTheMiddle(redisUrl);
  for (const answer of [await installed.insist(second.port), await installed.post(second.port)]) {
    assertRefusal(answer, 'idempotency_outcome_unknown', 409);
    assert.equal(answer.error.retryable, false);
    assert.equal(answer.error.sent_to, 'things');
    assert.ok(Math.abs(Date.parse(String(answer.error.sent_at)) - sentAtMs) < 5000, String(answer.error.sent_at));
    assert.match(String(answer.error.original_request_id), /^req_/);
  }
  assert.equal(upstream.requests.length, 1, 'executed once');
  assert.equal((await installed.post(second.port, newKey())).status, 201);
  assert.equal(upstream.requests.length, 2);
}

describe('a write of a gateway that was killed before it answered is never sent again', () => {
  it('after a restart', () => neverRunsTwice(undefined));

  it('by another instance on the same Redis', async () => {
    const redis = await start(startRedis());
    await neverRunsTwice(redis.url);
  });

  it('by another instance on the same Redis Cluster', async () => {
    const cluster = await start(startCluster());
    await neverRunsTwice(cluster.url);
  });

  it('unless the entry has whenOutcomeUnknown: run', async () => {
    const { upstream, installed, second } = await killInTheMiddle(undefined, { whenOutcomeUnknown: 'run' });
    const answer = await installed.insist(second.port);
    assert.deepEqual([answer.status, answer.headers['idempotent-replayed']], [201, undefined]);
    assert.equal(upstream.requests.length, 2);
    assert.equal((await installed.post(second.port)).headers['idempotent-replayed'], 'true');
  });
});
