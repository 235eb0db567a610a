// A gateway is killed in the middle of a keyed write toward an upstream that does not honour keys: whether the write was executed is not
// known, so it is never sent again, neither after a restart nor by another instance. A new key is.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { closesAfterEach } from '../../support/closing.ts';
import { until } from '../../support/connection.ts';
import { assertRefusal } from '../../support/errors.ts';
import { startRedis } from '../../support/redis.ts';
import { startCluster } from '../../support/redis-topologies.ts';
import { thingsContract } from '../../support/things.ts';
import { startUpstream } from '../../support/upstream.ts';
import { installGateway } from './installed.ts';
import { newKey } from './keyed.ts';

const start = closesAfterEach();
/** Long enough that a slow machine kills the gateway before it gives up. */
const TIMEOUT_MS = 2000;

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

/** An upstream of its own whose entry has `whenOutcomeUnknown: run`. */
const RISKY_PATH = '/v1/risky-things';
const riskyAt = (url: string) => {
  const operation = {
    operationId: 'createRiskyThing',
    security: [{ apiKey: ['risky-things:write'] }],
    requestBody: { content: { 'application/json': { schema: { type: 'object' } } } },
    responses: { 201: { description: 'done' } },
  };
  return {
    contracts: { 'risky.yaml': { ...thingsContract(), paths: { [RISKY_PATH]: { post: operation } } } },
    upstreams: { risky: { contracts: ['risky.yaml'], live: url, timeoutMs: TIMEOUT_MS, whenOutcomeUnknown: 'run' } },
  };
};

async function killInTheMiddle(redisUrl: string | undefined) {
  const [upstream, risky] = [await start(startPlainUpstream()), await start(startPlainUpstream())];
  const entry = { timeoutMs: TIMEOUT_MS };
  const installed = await start(installGateway(upstream.url, redisUrl, entry, riskyAt(risky.url)));
  const first = await installed.start();
  const sentAtMs = Date.now();
  const riskyKey = newKey();
  const lost = [installed.post(first.port), installed.post(first.port, riskyKey, RISKY_PATH)].map((post) =>
    assert.rejects(post),
  );
  await until(() => upstream.requests.length === 1 && risky.requests.length === 1);
  first.child.kill('SIGKILL');
  await Promise.all(lost);
  upstream.answersFromNowOn();
  risky.answersFromNowOn();
  const second = await start(installed.startAnother());
  return { upstream, risky, riskyKey, installed, second, sentAtMs };
}

type Killed = Awaited<ReturnType<typeof killInTheMiddle>>;

async function neverRunsTwice({ upstream, installed, second, sentAtMs }: Killed): Promise<void> {
  for (const answer of [await installed.insist(second.port), await installed.post(second.port)]) {
    assertRefusal(answer, 'idempotency_outcome_unknown', 409);
    assert.equal(answer.error.retryable, false);
    assert.equal(answer.error.sent_to, 'things');
    assert.ok(Math.abs(Date.parse(String(answer.error.sent_at)) - sentAtMs) < 60_000, String(answer.error.sent_at));
    assert.match(String(answer.error.original_request_id), /^req_/);
  }
  assert.equal(upstream.requests.length, 1, 'executed once');
  assert.equal((await installed.post(second.port, newKey())).status, 201);
  assert.equal(upstream.requests.length, 2);
}

describe('a write of a gateway that was killed before it answered is never sent again', () => {
  it('after a restart, unless the entry has whenOutcomeUnknown: run', async () => {
    const killed = await killInTheMiddle(undefined);
    await neverRunsTwice(killed);
    const { risky, riskyKey, installed, second } = killed;
    const answer = await installed.insist(second.port, riskyKey, RISKY_PATH);
    assert.deepEqual([answer.status, answer.headers['idempotent-replayed']], [201, undefined]);
    assert.equal(risky.requests.length, 2);
    assert.equal((await installed.post(second.port, riskyKey, RISKY_PATH)).headers['idempotent-replayed'], 'true');
  });

  it('by another instance on the same Redis', async () => {
    const redis = await start(startRedis());
    await neverRunsTwice(await killInTheMiddle(redis.url));
  });

  it('by another instance on the same Redis Cluster', async () => {
    const cluster = await start(startCluster());
    await neverRunsTwice(await killInTheMiddle(cluster.url));
  });
});
