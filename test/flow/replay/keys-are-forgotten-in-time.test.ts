// A key is kept for as long as it is configured, and no write is executed twice where the gateway has forgotten it: the sandbox honours
// keys.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, it } from 'node:test';
import { closesAfterEach } from '../../support/closing.ts';
import { startGateway } from '../../support/gateway.ts';
import { createKeyedWorld, newKey } from './keyed.ts';

const start = closesAfterEach();

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
