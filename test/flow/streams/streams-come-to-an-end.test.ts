// Open streams are bounded per organization, and end when their caller, their operation or the process may not go on; a reload leaves them.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { closesAfterEach } from '../../support/closing.ts';
import { ask, requestOf, until } from '../../support/connection.ts';
import { assertRefusal } from '../../support/errors.ts';
import { startRedis, startRelay } from '../../support/redis.ts';
import { thingsAt } from '../../support/things.ts';
import { explainer } from '../explain/explained.ts';
import { save } from '../reload/files.ts';
import { createStreamWorld, type StreamWorld, seen, streamPaths } from './live-upstream.ts';

const start = closesAfterEach();
/** The promise is a second; a loaded machine adds to it. A stream that nothing ends stays open. */
const SOON_MS = 5000;
const HOUR_MS = 3_600_000;
const NDJSON = { type: 'application/x-ndjson' };

/** Milliseconds until the promise settles. */
async function timed<T>(promise: Promise<T>): Promise<{ readonly ms: number; readonly value: T }> {
  const from = performance.now();
  const value = await promise;
  return { ms: performance.now() - from, value };
}

async function reload({ gateway, upstream }: StreamWorld, paths: Record<string, object>): Promise<void> {
  const { contracts } = thingsAt(upstream.url, {}, paths);
  save(gateway, 'openapi/things.yaml', contracts['things.yaml']);
  await gateway.app.reload();
}

const streamLine = ({ gateway }: StreamWorld) => until(() => gateway.logLines().find(({ stream }) => stream));

/** Tries again until it no longer rejects, at most 200 times. */
async function eventually(work: () => unknown): Promise<void> {
  for (let left = 200; ; left -= 1) {
    try {
      await work();
      return;
    } catch (error) {
      if (left === 0) throw error;
      await setTimeout(50);
    }
  }
}

describe('the streams of an organization', () => {
  const limits = { tiers: { standard: { requests: 1000, openStreams: 2 } } };

  it('are as many as its tier allows, and free again when they end', async () => {
    const world = await start(createStreamWorld({ limits }));
    const { authorization: Authorization } = await world.gateway.authorize();
    const call = (line: string) => ask(world.gateway.port, requestOf(line, { Authorization }));
    const [one] = [await world.open(), await world.open()];
    const before = world.upstream.requests.length;
    const refused = await call('GET /v1/events');
    assertRefusal(refused, 'too_many_streams');
    assert.equal(refused.error.open_streams_max, 2);
    assert.equal(world.upstream.requests.length, before, 'nothing was sent');
    assert.equal((await call('GET /v1/things')).status, 200);
    one?.answer.end();
    await one?.client.answer();
    await until(() => world.gateway.logLines().some(({ stream }) => stream === 'events'));
    await world.open();
  });

  it('may be more for one organization', async () => {
    const organizations = { org_test: { requests: 1000, openStreams: 3 } };
    const world = await start(createStreamWorld({ limits: { ...limits, organizations } }));
    for (let i = 0; i < 3; i += 1) await world.open();
    await assert.rejects(world.open(), /too_many_streams/);
  });

  it('are shown to operators', async () => {
    const world = await start(createStreamWorld());
    await world.open();
    await world.open('/v1/lines', NDJSON);
    const status = await (await fetch(`${world.gateway.adminUrl}/status`)).json();
    assert.deepEqual((status as { open_streams: object }).open_streams, { events: 1, lines: 1, websocket: 0 });
    const metrics = await (await fetch(`${world.gateway.adminUrl}/metrics`)).text();
    assert.match(metrics, /^gateway_open_streams\{kind="events"\} 1$/m);
  });

  it('are explained with their kind and the reason of their end', async () => {
    const world = await start(createStreamWorld());
    const { id, key } = await world.gateway.issueKey();
    const { client } = await world.open('/v1/events', { key });
    await world.gateway.store.keys.revoke(id, 'test', undefined);
    await client.answer();
    const { request_id } = await streamLine(world);
    const { code, out } = await explainer(world.gateway).run(String(request_id));
    assert.equal(code, 0);
    assert.match(out, /it was an event stream/);
    assert.match(out, /the gateway ended it, because the key, token or organization was no longer valid/);
  });

  it('stay open while Redis is away, and end by a revocation that follows', async () => {
    const server = await startRedis();
    const redis = await startRelay(server.url);
    const world = await createStreamWorld({ environment: { REDIS_URL: redis.url } });
    const { id, key } = await world.gateway.issueKey();
    const { client, answer } = await world.open('/v1/events', { key });
    await redis.kill();
    answer.write('data: 1\n\n');
    await seen(client, 'data: 1\n\n');
    await redis.restart();
    await eventually(() => world.gateway.store.keys.revoke(id, 'test', undefined));
    assert.equal((await client.answer())?.whole, true);
    assert.equal((await streamLine(world)).stream_end, 'credential');
    await world.close();
    await redis.stop();
    await server.stop();
  });
});

describe('within a second', () => {
  it('the revocation of a key ends its streams, between two events, and no others', async () => {
    const world = await start(createStreamWorld());
    const { id, key } = await world.gateway.issueKey();
    const ending = await world.open('/v1/events', { key });
    const staying = await world.open();
    ending.answer.write('data: 1\n\n');
    await seen(ending.client, 'data: 1');
    await world.gateway.store.keys.revoke(id, 'test', undefined);
    const { ms, value } = await timed(ending.client.answer());
    assert.ok(ms < SOON_MS, `${ms} ms`);
    assert.deepEqual([value?.whole, value?.body.toString()], [true, 'data: 1\n\n']);
    assert.equal((await streamLine(world)).stream_end, 'credential');
    staying.answer.write('data: 2\n\n');
    await seen(staying.client, 'data: 2\n\n');
  });

  it('it cuts a stream with an event that does not end', async () => {
    const world = await start(createStreamWorld());
    const { id, key } = await world.gateway.issueKey();
    const { client, answer } = await world.open('/v1/events', { key });
    answer.write('data: ha');
    await seen(client, 'data: ha');
    await world.gateway.store.keys.revoke(id, 'test', undefined);
    const { ms, value } = await timed(client.answer());
    assert.ok(ms < SOON_MS, `${ms} ms`);
    assert.equal(value?.whole, false);
  });

  it('the suspension of the organization ends them', async () => {
    const world = await start(createStreamWorld());
    const { client } = await world.open('/v1/lines', NDJSON);
    await world.gateway.store.organizations.suspend('org_test', 'test');
    const { ms, value } = await timed(client.answer());
    assert.ok(ms < SOON_MS, `${ms} ms`);
    assert.equal(value?.whole, false, 'lines must not look complete');
  });

  it('the expiry of the key ends them', async () => {
    let aheadMs = 0;
    const world = await start(createStreamWorld({ now: () => Date.now() + aheadMs }));
    const { key } = await world.gateway.issueKey({ expiresAtMs: Date.now() + HOUR_MS });
    const { client } = await world.open('/v1/events', { key });
    aheadMs = HOUR_MS;
    const { ms } = await timed(client.answer());
    assert.ok(ms < SOON_MS, `${ms} ms`);
    assert.equal((await streamLine(world)).stream_end, 'credential');
  });
});

describe('a reload', () => {
  it('leaves streams open, but ends streams of removed operations', async () => {
    const world = await start(createStreamWorld());
    const events = await world.open();
    const lines = await world.open('/v1/lines', NDJSON);
    const { '/v1/lines': _gone, ...rest } = streamPaths;
    await reload(world, rest);
    assert.equal((await lines.client.answer())?.whole, false);
    assert.equal((await streamLine(world)).stream_end, 'reload');
    for (const n of [1, 2]) {
      events.answer.write(`data: ${n}\n\n`);
      await seen(events.client, `data: ${n}\n\n`);
      await reload(world, {
        ...rest,
        [`/v1/more${n}`]: { get: { ...(rest['/v1/events'] as { get: object }).get, operationId: `more${n}` } },
      });
    }
    events.answer.write('data: 3\n\n');
    await seen(events.client, 'data: 3\n\n');
  });
});

describe('a gateway that ends', () => {
  it('ends an event stream after the current event, and does not wait for it', async () => {
    const world = await createStreamWorld({ gateway: { timeouts: { drainMs: 10_000 } } });
    const { client, answer } = await world.open();
    answer.write('data: 1\n\ndata:');
    await seen(client, 'data: 1\n\ndata:');
    const closed = timed(world.gateway.stop());
    answer.write(' 2\n\ndata: 3\n\n');
    const all = await client.answer();
    assert.deepEqual([all?.whole, all?.body.toString()], [true, 'data: 1\n\ndata: 2\n\n']);
    const { ms } = await closed;
    assert.ok(ms < 5000, `${ms} ms`);
    assert.equal((await streamLine(world)).stream_end, 'drain');
    await world.upstream.close();
  });

  it('serves a client that resumes on the same connection, which it then closes', async () => {
    const world = await createStreamWorld({ gateway: { timeouts: { drainDelayMs: 500 } } });
    const { authorization: Authorization } = await world.gateway.authorize();
    const { client, answer } = await world.open();
    answer.write('data: 1\n\n');
    await seen(client, 'data: 1\n\n');
    const closed = world.gateway.stop();
    assert.equal((await client.answer())?.whole, true);
    client.send(requestOf('GET /v1/things', { Authorization }));
    const next = await client.answer();
    assert.deepEqual([next?.status, next?.headers.connection], [200, 'close']);
    await closed;
    await world.upstream.close();
  });

  it('lets streams of JSON lines continue', async () => {
    const world = await createStreamWorld({ gateway: { timeouts: { drainMs: 60_000 } } });
    const { client, answer } = await world.open('/v1/lines', NDJSON);
    const closed = world.gateway.stop();
    answer.write('{}\n');
    await seen(client, '{}\n');
    answer.end('[]\n');
    const all = await client.answer();
    assert.deepEqual([all?.whole, all?.body.toString()], [true, '{}\n[]\n']);
    await closed;
    await world.upstream.close();
  });

  it('cuts JSON lines that have no end, between two lines', async () => {
    const world = await createStreamWorld({ gateway: { timeouts: { drainMs: 500 } } });
    const { client, answer } = await world.open('/v1/lines', NDJSON);
    answer.write('{}\n');
    await seen(client, '{}\n');
    const closed = world.gateway.stop();
    const all = await client.answer();
    assert.deepEqual([all?.whole, all?.body.toString()], [false, '{}\n']);
    await closed;
    await world.upstream.close();
  });
});
