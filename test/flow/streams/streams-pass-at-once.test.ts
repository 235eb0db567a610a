// Event streams and JSON lines pass as they come: nothing is buffered, and their items are checked one by one.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { closesAfterEach } from '../../support/closing.ts';
import { ask, requestOf, until, untilStill } from '../../support/connection.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { eventually } from '../../support/instances.ts';
import { createSkip } from '../../support/skip.ts';
import { createStreamWorld, lendsStreamWorld, seen } from './live-upstream.ts';

const start = closesAfterEach();
const lendWorld = lendsStreamWorld();

/** Several times as long as the gateway waits before it looks at its streams again. */
const LOOKS_MS = 200;

describe('an event stream', () => {
  it('begins before its first event, and passes each event at once', async () => {
    const { open } = await start(lendWorld());
    const { client, answer } = await open();
    await seen(client, '\r\n\r\n');
    assert.match(client.rest().toString(), /^HTTP\/1\.1 200 OK\r\n[\s\S]*Content-Type: text\/event-stream/);
    for (const n of [1, 2, 3]) {
      answer.write(`data: ${n}\n\n`);
      await seen(client, `data: ${n}\n\n`);
    }
    answer.end();
    const whole = await client.answer();
    assert.deepEqual([whole?.whole, whole?.body.toString()], [true, 'data: 1\n\ndata: 2\n\ndata: 3\n\n']);
  });

  it('outlasts timeoutMs and idleTimeoutMs between two events', async () => {
    const { open } = await start(createStreamWorld({}, { timeoutMs: 500, idleTimeoutMs: 500 }));
    const { client, answer } = await open();
    answer.write('data: 1\n\n');
    await sleep(1500);
    answer.end('data: 2\n\n');
    assert.equal((await client.answer())?.body.toString(), 'data: 1\n\ndata: 2\n\n');
  });

  it('is cut when its service stalls within a line', async () => {
    const { open, gateway } = await start(createStreamWorld({}, { idleTimeoutMs: 200 }));
    const { client, answer } = await open();
    answer.write('data: ha');
    assert.equal((await client.answer())?.whole, false);
    const line = await until(() => gateway.logLines().find(({ stream }) => stream === 'events'));
    assert.equal(line.code, 'upstream_timeout');
  });

  it('resumes after the last event that its client names', async () => {
    const { open, upstream } = await start(lendWorld());
    await open('/v1/events', { headers: { 'Last-Event-ID': '41' } });
    assert.equal(upstream.requests[0]?.headers['last-event-id'], '41');
  });

  it('occupies neither a place nor one of the connections of its upstream', async () => {
    const { open, gateway } = await start(createStreamWorld({}, { maxInFlight: 1, connections: 1 }));
    const opened = [await open(), await open(), await open()];
    const { authorization: Authorization } = await gateway.authorize();
    assert.equal((await ask(gateway.port, requestOf('GET /v1/things', { Authorization }))).status, 200);
    for (const { client, answer } of opened) {
      answer.write('data: still\n\n');
      await seen(client, 'data: still\n\n');
    }
  });

  it('is not buffered for the rules of its upstream', async () => {
    const answers = JSON.parse('[{"when":{"status":200,"body":{"error":"gone"}},"then":{"code":"resource_missing"}}]');
    const { open } = await start(createStreamWorld({}, { answers }));
    const { client, answer } = await open();
    answer.write('data: 1\n\n');
    await seen(client, 'data: 1\n\n');
  });

  it('is not buffered for an Idempotency-Key, and not given again', async () => {
    const { open, gateway } = await start(lendWorld());
    const { authorization: Authorization } = await gateway.authorize();
    const headers = { Authorization, 'Content-Type': 'application/json', 'Idempotency-Key': 'k' };
    const { client, answer } = await open('/v1/answers', { line: 'POST /v1/answers', headers, body: '{}' });
    answer.write('data: 1\n\n');
    await seen(client, 'data: 1\n\n');
    answer.end();
    await client.answer();
    const again = await ask(gateway.port, requestOf('POST /v1/answers', headers, '{}'));
    assert.equal(again.error.code, 'idempotency_result_not_retained');
  });
});

describe('the comment that keeps a silent event stream alive', () => {
  it('is sent after 15 s of silence, and again after the next', async (context) => {
    const { open } = await start(lendWorld());
    const { client, answer } = await open();
    await seen(client, '\r\n\r\n');
    const skip = createSkip(context);
    skip(16_000);
    await seen(client, ': keep-alive\n\n');
    answer.write('data: 1\n\n');
    await seen(client, 'data: 1\n\n');
    skip(16_000);
    answer.end('data: 2\n\n');
    const whole = await client.answer();
    assert.match(String(whole?.body), /^(: keep-alive\n\n)data: 1\n\n(: keep-alive\n\n)?data: 2\n\n$/);
  });

  it('is not sent between events that come often, and in no JSON lines', async (context) => {
    const { open } = await start(lendWorld());
    const events = await open();
    const lines = await open('/v1/lines', { type: 'application/x-ndjson' });
    const skip = createSkip(context);
    const texts = [1, 2, 3].map((n) => `data: ${n}\n\n`);
    for (const text of texts) {
      // Two of them are longer than 15 s, and one leaves a busy machine 7 s to be late by.
      skip(8_000);
      await sleep(LOOKS_MS);
      events.answer.write(text);
      await seen(events.client, text);
      lines.answer.write('{}\n');
    }
    events.answer.end();
    lines.answer.end();
    assert.equal(String((await events.client.answer())?.body), texts.join(''));
    assert.equal(String((await lines.client.answer())?.body), '{}\n{}\n{}\n');
  });

  it('never splits an event', async (context) => {
    const { open } = await start(lendWorld());
    const { client, answer } = await open();
    const skip = createSkip(context);
    for (const part of ['data: 1\n', 'data: 2\r\n']) {
      answer.write(part);
      await seen(client, part);
      skip(16_000);
      await sleep(LOOKS_MS);
    }
    answer.write('\r\ndata: 3\n\n');
    await seen(client, 'data: 3\n\n');
    skip(16_000);
    await seen(client, ': keep-alive\n\n');
    answer.end();
    assert.equal(String((await client.answer())?.body), 'data: 1\ndata: 2\r\n\r\ndata: 3\n\n: keep-alive\n\n');
  });
});

describe('the items of a stream', () => {
  it('are checked one by one against itemSchema, and reported', async () => {
    const { open, gateway } = await start(lendWorld());
    const { client, answer } = await open('/v1/described');
    answer.write('data: {"n": 1}\n\n: a comment\n\ndata: {"n": "x"}\n\nid: 7\n\ndata: {\n\n');
    answer.end();
    assert.equal((await client.answer())?.whole, true);
    const line = await until(() => gateway.logLines().find(({ stream }) => stream === 'events'));
    const found = (line.answer_violations as string[]).toSorted();
    assert.deepEqual(found, ['/data: required', '/n: wrong_type', 'the data is not JSON'].toSorted());
  });

  it('that violate the contract end the stream where the contract refuses them', async () => {
    const { open, gateway } = await start(lendWorld());
    const { client, answer } = await open('/v1/strict-lines', { type: 'application/jsonl' });
    answer.write('{"n": 1}\n{"n"');
    await seen(client, '{"n": 1}\n');
    answer.write(': 2}\n{"m": 3}\n{"n": 4}\n');
    const all = await client.answer();
    assert.deepEqual([all?.whole, all?.body.toString()], [false, '{"n": 1}\n{"n": 2}\n']);
    const line = await until(() => gateway.logLines().find(({ stream }) => stream === 'lines'));
    assert.equal(line.stream_end, 'contract');
  });
});

describe('a stream that breaks', () => {
  const isClosed = (gateway: TestGateway) =>
    eventually(async () => {
      const status = (await (await fetch(`${gateway.adminUrl}/status`)).json()) as { open_streams: { events: number } };
      return status.open_streams.events === 0;
    });

  it('with its service in the middle of an event is cut, and counted no more', async () => {
    const { open, gateway } = await start(lendWorld());
    const { client, answer } = await open();
    answer.write('data: 1\n\ndata: ha');
    await seen(client, 'data: ha');
    answer.socket?.resetAndDestroy();
    assert.equal((await client.answer())?.whole, false);
    const line = await until(() => gateway.logLines().find(({ stream }) => stream === 'events'));
    assert.equal(line.code, 'upstream_bad_response');
    await isClosed(gateway);
  });

  it('with a client that does not read slows its service down, and holds the end of the process up no longer than drainMs', async () => {
    const world = await createStreamWorld({ gateway: { timeouts: { drainMs: 1000 } } });
    const { client, answer } = await world.open();
    await seen(client, '\r\n\r\n');
    client.socket.pause();
    const event = `data: ${'x'.repeat(65_536)}\n\n`;
    let sent = 0;
    const send = () => {
      for (let hasRoom = true; sent < 1000 && hasRoom; sent += 1) hasRoom = answer.write(event);
    };
    answer.on('drain', send);
    send();
    await untilStill(() => sent);
    assert.ok(sent < 1000 && answer.writableNeedDrain, 'the service waits for the client');
    assert.ok(sent > 1, 'some events fit into the buffers');
    await world.gateway.stop();
    client.destroy();
    await world.upstream.close();
  });

  it('with an item that has no end is ended where the contract is enforced', async () => {
    const { open, gateway } = await start(lendWorld());
    const { client, answer } = await open('/v1/strict-lines', { type: 'application/jsonl' });
    answer.write('{"n": 1}\n');
    for (let count = 0; count < 20; count += 1) answer.write('x'.repeat(65_536));
    const all = await client.answer();
    assert.deepEqual([all?.whole, all?.body.toString()], [false, '{"n": 1}\n']);
    const line = await until(() => gateway.logLines().find(({ stream }) => stream === 'lines'));
    assert.deepEqual([line.stream_end, line.answer_violations], ['contract', ['an item is too long to be checked']]);
  });
});

describe('JSON lines', () => {
  it('pass line by line, and half a line too', async () => {
    const { open } = await start(lendWorld());
    const { client, answer } = await open('/v1/lines', { type: 'application/x-ndjson' });
    answer.write('{"n": 1}\n{"n":');
    await seen(client, '{"n": 1}\n{"n":');
    answer.end(' 2}\n');
    assert.equal((await client.answer())?.whole, true);
  });
});
