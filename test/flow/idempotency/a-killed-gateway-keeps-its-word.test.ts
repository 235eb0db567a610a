// A gateway that is killed in the middle of a write toward an upstream that honours keys: after the lease the write is sent on again with
// the same key, so that nothing is done twice. And the same without a kill, on the sandbox.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, it } from 'node:test';
import { LEASE_MARGIN_MS } from '../../../gateway/idempotency/idempotency.ts';
import { closesAfterEach } from '../../support/closing.ts';
import { until } from '../../support/connection.ts';
import { startGateway } from '../../support/gateway.ts';
import { startRedis } from '../../support/redis.ts';
import { startUpstream } from '../../support/upstream.ts';
import { installGateway } from './installed.ts';
import { createKeyedWorld, newKey } from './keyed.ts';

const start = closesAfterEach();
const TIMEOUT_MS = 500;

/** Honours keys: the first request of a key makes a record and is never answered, the next ones get that record. */
async function startHonestUpstream() {
  const records = new Map<string, string>();
  const upstream = await startUpstream(({ headers }, response) => {
    const key = String(headers['idempotency-key']);
    const known = records.get(key);
    records.set(key, known ?? `record ${records.size + 1}`);
    if (known !== undefined)
      response.writeHead(201, { 'content-type': 'application/json' }).end(JSON.stringify({ id: known }));
  });
  return { ...upstream, records };
}

describe('a gateway that is killed in the middle of a write', () => {
  const itsWord = 'locks the key for its lease, and then it is sent on again: nothing is done twice';
  it(`${itsWord}, after a restart`, () => killAndRetry(undefined));
  it(`${itsWord}, by another instance on the same Redis`, async () => {
    const redis = await startRedis();
    try {
      await killAndRetry(redis.url);
    } finally {
      await redis.stop();
    }
  });

  async function killAndRetry(redisUrl: string | undefined): Promise<void> {
    const upstream = await start(startHonestUpstream());
    const entry = { timeoutMs: TIMEOUT_MS, honoursIdempotencyKey: true };
    const {
      start: startFirst,
      startAnother,
      post,
      insist,
    } = await start(installGateway(upstream.url, redisUrl, entry));
    const first = await startFirst();
    const lost = assert.rejects(post(first.port));
    await until(() => upstream.requests.length === 1);
    const killedAt = performance.now();
    first.child.kill('SIGKILL');
    await lost;

    const second = await start(startAnother());
    const answer = await insist(second.port);
    const waitedMs = performance.now() - killedAt;
    assert.ok(waitedMs > LEASE_MARGIN_MS - TIMEOUT_MS, `${waitedMs} ms`);
    assert.deepEqual([answer.status, String(answer.body)], [201, '{"id":"record 1"}']);
    const keys = upstream.requests.map((request) => request.headers['idempotency-key']);
    assert.deepEqual([keys.length, new Set(keys).size], [2, 1]);
    assert.equal(upstream.records.size, 1);
    assert.equal((await post(second.port)).headers['idempotent-replayed'], 'true');
  }
});

describe('the embedded store', () => {
  it('forgets after retainSeconds, and not before', async () => {
    let nowMs = Date.now();
    const options = { gateway: { idempotency: { retainSeconds: 3600 } }, now: () => nowMs };
    const world = await start(createKeyedWorld(options));
    const key = newKey();
    await world.post({ key });
    nowMs += 3_599_000;
    assert.equal((await world.post({ key })).headers['idempotent-replayed'], 'true');
    nowMs += 1_001;
    assert.equal((await world.post({ key })).headers['idempotent-replayed'], undefined);
    assert.equal(world.upstream.received.length, 2);
  });
});

describe('the sandbox', () => {
  it('creates nothing twice, even when the gateway has forgotten everything', async () => {
    const gateway = await start(startGateway());
    const headers = { ...(await gateway.authorize()), 'content-type': 'application/json', 'idempotency-key': newKey() };
    const body = JSON.stringify({ name: 'Ada Byron', email: 'ada@example.com' });
    const post = () => fetch(`${gateway.url}/v1/customers`, { method: 'POST', headers, body });
    const [first, replayed] = [await post(), await post()];
    const store = new DatabaseSync(join(gateway.dataDirectory, 'idempotency.db'), { timeout: 1000 });
    store.exec('DELETE FROM answers');
    store.close();
    const third = await post();
    assert.equal(first.status, 201);
    const marks = [first, replayed, third].map((answer) => answer.headers.get('idempotent-replayed'));
    assert.deepEqual(marks, [null, 'true', 'true']);
    const bodies = new Set(await Promise.all([first, replayed, third].map((answer) => answer.text())));
    assert.equal(bodies.size, 1);
    const list = await fetch(`${gateway.url}/v1/customers`, { headers });
    assert.equal(((await list.json()) as { data: unknown[] }).data.length, 1);
  });
});
