// A failed request goes out again, as the same request: what each side sees of that, and when it ends.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { closesAfterEach } from '../../support/closing.ts';
import { openConnection, requestOf, until } from '../../support/connection.ts';
import { assertRefusal } from '../../support/errors.ts';
import { headersOf, httpAnswer, type Script } from '../../support/scripted-upstream.ts';
import { thingsAt } from '../../support/things.ts';
import { unusedPort } from '../../support/upstream.ts';
import { createWorld, type World } from '../../support/world.ts';

const start = closesAfterEach();
const json = { 'Content-Type': 'application/json' };
const good = httpAnswer(200, '{"id":"a"}');
const said = (text: string): Script => {
  return (socket) => void socket.write(text);
};

/** Plays one script after the other, the last one from then on. */
function playInTurn(world: World, ...scripts: Script[]): void {
  let next = 0;
  world.upstream.plays((socket, request) => scripts[Math.min(next++, scripts.length - 1)]?.(socket, request));
}
const line = (world: World) => world.gateway.logLines().findLast(({ msg }) => msg === 'exchange') ?? {};
const metrics = async (world: World) => (await fetch(`${world.gateway.adminUrl}/metrics`)).text();

describe('an attempt after the first', () => {
  it('is the same request with another span', async () => {
    const world = await start(createWorld({}, { honoursIdempotencyKey: true }));
    playInTurn(world, (socket) => socket.destroy(), said(httpAnswer(503, '{}')), said(httpAnswer(201, '{}')));
    const answer = await world.call('POST /v1/things', { ...json, 'Idempotency-Key': 'k-1' }, '{"name":"a"}');
    assert.equal(answer.status, 201);
    const seen = world.upstream.received.map(headersOf);
    const same = (name: string) => new Set(seen.map((headers) => headers.get(name)));
    assert.equal(seen.length, 3);
    for (const name of ['x-request-id', 'idempotency-key', 'content-length', 'x-gateway-assertion'])
      assert.equal(same(name).size, 1, name);
    assert.equal(same('x-request-id').has(answer.headers['x-request-id']), true);
    const traces = [...same('traceparent')].map((text) => text?.split('-') ?? []);
    assert.equal(traces.length, 3, 'spans differ');
    assert.equal(new Set(traces.map(([, trace]) => trace)).size, 1, 'the trace is one');
    assert.equal(new Set(world.upstream.received.map((text) => text.split('\r\n\r\n')[1])).size, 1, 'so is the body');
  });

  it('is reported to operators', async () => {
    const world = await start(createWorld());
    playInTurn(world, said(httpAnswer(502, '{}')), said(httpAnswer(504, '{}')), said(good));
    assert.equal((await world.call('GET /v1/things')).status, 200);
    const { attempts, retries, status, upstream_status, code } = line(world);
    assert.deepEqual([attempts, retries, status, upstream_status], [3, ['status_502', 'status_504'], 200, 200]);
    assert.equal(code, undefined);
    assert.match(await metrics(world), /^gateway_upstream_retries_total\{upstream="things",reason="status_502"\} 1$/m);
  });

  it('leaves no trace where it was not needed', async () => {
    const world = await start(createWorld());
    await world.call('GET /v1/things');
    assert.equal('attempts' in line(world) || 'retries' in line(world), false);
    assert.doesNotMatch(await metrics(world), /^gateway_upstream_retries_total\{/m);
  });

  it("waits for the upstream's Retry-After, if that is short", async () => {
    const world = await start(createWorld());
    const at: number[] = [];
    const note =
      (text: string): Script =>
      (socket) => {
        at.push(performance.now());
        socket.write(text);
      };
    playInTurn(world, note(httpAnswer(503, '{}', { 'Retry-After': '1' })), note(good));
    assert.equal((await world.call('GET /v1/things')).status, 200);
    assert.ok((at[1] as number) - (at[0] as number) >= 990, 'not earlier');
  });

  it('is not made where it is switched off', async () => {
    const world = await start(createWorld({}, { retry: { attempts: 0 } }));
    playInTurn(world, said(httpAnswer(503, '{}')), said(good));
    assertRefusal(await world.call('GET /v1/things'), 'upstream_unavailable');
    assert.equal(world.upstream.received.length, 1);
  });

  it('is not made of an answer that is not of the contract', async () => {
    const world = await start(createWorld());
    world.upstream.plays(said(httpAnswer(200, '{"name":1}')));
    assertRefusal(await world.call('GET /v1/strict'), 'upstream_contract_violation');
    world.upstream.plays(said(httpAnswer(200, '<html>', { 'Content-Type': 'text/html' })));
    assertRefusal(await world.call('GET /v1/strict'), 'upstream_bad_response');
    assert.equal(world.upstream.received.length, 2);
  });

  it('replaces an answer that breaks while it is held to be checked', async () => {
    const world = await start(createWorld());
    const half = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n{"id":';
    playInTurn(world, (socket) => void socket.end(half), said(good));
    const answer = await world.call('GET /v1/strict');
    assert.deepEqual([answer.status, answer.body.toString()], [200, '{"id":"a"}']);
    assert.equal(line(world).bytes_out, 10);
  });

  it('is not made for a client that has left', async () => {
    const world = await start(createWorld());
    let cut = () => {};
    world.upstream.plays((socket) => {
      cut = () => void socket.write(httpAnswer(503, '{}', { 'Retry-After': '1' }));
    });
    const connection = await start(openConnection(world.gateway.port));
    connection.send(requestOf('GET /v1/things', { Authorization: world.authorization }));
    await until(() => world.upstream.received.length === 1);
    cut();
    // The pause before the next attempt is much longer.
    await new Promise((resolve) => setTimeout(resolve, 10));
    // Noticed at once, unlike an end of the connection, after which a client may still read.
    connection.socket.resetAndDestroy();
    await until(() => line(world).status === 499);
    await new Promise((resolve) => setTimeout(resolve, 1300));
    assert.equal(world.upstream.received.length, 1);
    const status = await (await fetch(`${world.gateway.adminUrl}/status`)).json();
    const { targets } = (status as { upstreams: { things: { targets: { outstanding: number }[] } } }).upstreams.things;
    assert.equal(targets[0]?.outstanding, 0, 'and nothing is left behind');
  });
});

describe('an answer that was found by a second attempt', () => {
  it('is kept under its key, and given again without another', async () => {
    const world = await start(createWorld({}, { honoursIdempotencyKey: true }));
    playInTurn(world, (socket) => socket.resetAndDestroy(), said(httpAnswer(201, '{"id":"one"}')));
    const headers = { ...json, 'Idempotency-Key': 'k-2' };
    const first = await world.call('POST /v1/things', headers, '{"name":"a"}');
    const again = await world.call('POST /v1/things', headers, '{"name":"a"}');
    assert.deepEqual([first.status, again.status], [201, 201]);
    assert.equal(again.headers['idempotent-replayed'], 'true');
    assert.deepEqual(again.body, first.body);
    assert.equal(world.upstream.received.length, 2);
  });
});

describe('a body that streams', () => {
  const octets = { 'Content-Type': 'application/octet-stream', Expect: '100-continue' };

  it('goes to another target if none of it was sent', async () => {
    const world = await start(createWorld());
    const urls = [`http://127.0.0.1:${await unusedPort()}`, world.upstream.url];
    const both = await start(createWorld(thingsAt(urls)));
    world.upstream.plays(said(httpAnswer(201, '{}')));
    for (const name of ['one', 'two']) {
      const connection = await start(openConnection(both.gateway.port));
      connection.send(
        requestOf('POST /v1/files', { Authorization: both.authorization, ...octets, 'Content-Length': '3' }),
      );
      assert.equal((await connection.answer())?.status, 100);
      connection.send(name);
      assert.equal((await connection.answer())?.status, 201);
    }
    const bodies = world.upstream.received.map((text) => text.split('\r\n\r\n')[1]);
    assert.ok(bodies.length === 2);
  });

  it('is not sent again once it has begun, even if the upstream answers early', async () => {
    const world = await start(createWorld());
    world.upstream.plays(said(httpAnswer(503, '{}', { Connection: 'close' })));
    const connection = await start(openConnection(world.gateway.port));
    const framing = { 'Content-Type': 'application/octet-stream', 'Transfer-Encoding': 'chunked' };
    connection.send(requestOf('POST /v1/files', { Authorization: world.authorization, ...framing }), '3\r\none\r\n');
    const answer = await connection.answer();
    assert.equal(answer?.headers['x-error-code'], 'upstream_unavailable');
    assert.equal(world.upstream.received.length, 1);
  });
});

describe('the answer to the client', () => {
  it('is the failure of the attempt that may have arrived, not of a later one that did not', async () => {
    const world = await start(createWorld());
    world.upstream.plays((socket) => {
      socket.resetAndDestroy();
      void world.upstream.close();
    });
    const answer = await world.call('GET /v1/things');
    assertRefusal(answer, 'upstream_bad_response');
    assert.deepEqual(line(world).retries, ['connection_lost', 'not_sent']);
  });
});
