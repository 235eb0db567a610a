// A gateway that is killed in the middle of a write: nobody knows whether it ran. After the lease the write is sent on again with the
// same key, so that an upstream that honours keys does nothing twice. And the same promise without a kill, on the sandbox.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { LEASE_MARGIN_MS } from '../../../gateway/replay/replay.ts';
import { closesAfterEach } from '../../support/closing.ts';
import { type Answer, ask, requestOf, until } from '../../support/connection.ts';
import { startGateway, writeConfiguration } from '../../support/gateway.ts';
import { createInstallation } from '../../support/process.ts';
import { startRedis } from '../../support/redis.ts';
import { thingsAt } from '../../support/things.ts';
import { startUpstream } from '../../support/upstream.ts';
import { createKeyedWorld, newKey, THING } from './keyed.ts';

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

/** `bin/gateway` as operators run it, with one key; with a Redis, what starts second has a data directory of its own. */
async function install(upstreamUrl: string, redisUrl: string | undefined) {
  const directory = mkdtempSync(join(tmpdir(), 'gateway-killed-'));
  writeConfiguration(directory, thingsAt(upstreamUrl, { timeoutMs: TIMEOUT_MS, honoursIdempotencyKey: true }));
  const environment = {
    GATEWAY_CONFIG: join(directory, 'config'),
    GATEWAY_CONTRACTS: join(directory, 'openapi'),
    ...(redisUrl !== undefined && { REDIS_URL: redisUrl }),
  };
  const installation = createInstallation(environment);
  const other = redisUrl === undefined ? installation : createInstallation(environment);
  await installation.run('orgs', 'create', '--id', 'org_acme', '--name', 'Acme', '--tier', 'premium');
  const made = await installation.run(
    'keys',
    'create',
    '--org',
    'org_acme',
    '--mode',
    'live',
    '--scopes',
    '*',
    '--json',
  );
  const { key } = JSON.parse(made.stdout) as { key: string };
  return {
    key,
    start: installation.start,
    startAnother: other.start,
    async close() {
      installation.remove();
      other.remove();
      rmSync(directory, { recursive: true, force: true });
    },
  };
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
    const installation = await start(install(upstream.url, redisUrl));
    const idempotencyKey = newKey();
    const headers = { 'Content-Type': 'application/json', 'Idempotency-Key': idempotencyKey };
    const post = (port: number): Promise<Answer> =>
      ask(port, requestOf('POST /v1/things', { ...headers, Authorization: `Bearer ${installation.key}` }, THING));

    const first = await installation.start();
    const lost = post(first.port);
    await until(() => upstream.requests.length === 1);
    const killedAt = performance.now();
    first.child.kill('SIGKILL');
    await assert.rejects(lost);

    const second = await installation.startAnother();
    const locked = await post(second.port);
    assert.equal(locked.error.code, 'idempotency_key_in_use');
    let answer = locked;
    while (answer.status === 409) {
      await sleep(100);
      answer = await post(second.port);
    }
    const waitedMs = performance.now() - killedAt;
    assert.ok(waitedMs > LEASE_MARGIN_MS - TIMEOUT_MS, `${waitedMs} ms`);
    assert.deepEqual([answer.status, String(answer.body)], [201, '{"id":"record 1"}']);
    assert.deepEqual(
      upstream.requests.map((request) => request.headers['idempotency-key']),
      [idempotencyKey, idempotencyKey],
    );
    assert.equal(upstream.records.size, 1);
    assert.equal((await post(second.port)).headers['idempotent-replayed'], 'true');
    assert.equal(await second.stop(), 0);
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
