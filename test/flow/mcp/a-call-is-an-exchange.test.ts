// A call by tool passes every stage once and is, at each stage, what the same call over HTTP is.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { type AgentWorld, answerRecord, startAgents } from '../../support/agents.ts';
import { startCollector } from '../../support/collector.ts';
import { ask, requestOf, until } from '../../support/connection.ts';

describe('a call by tool', () => {
  let world: AgentWorld;
  before(async () => {
    world = await startAgents({ limits: { tiers: { standard: { requests: 40 }, premium: { requests: 1000 } } } });
  });
  after(() => world.close());

  it('has its own log line besides its message, in one trace', async () => {
    const { gateway } = world;
    const agent = await world.agent();
    const { result } = await agent.call('getRecord', { id: 'rec_7' });
    const inner = await until(() =>
      gateway.logLines().find((line) => line.request_id === result._meta['gateway/request_id']),
    );
    const outer = await until(() => gateway.logLines().find((line) => line.request_id === inner.within));
    assert.deepEqual(
      [inner.tool, inner.operation, inner.status, inner.stage, inner.method],
      ['getRecord', 'getRecord', 200, 'forward', 'GET'],
    );
    assert.deepEqual(
      [outer.mcp, outer.operation, outer.limit, outer.method],
      ['tools/call', undefined, undefined, 'POST'],
    );
    assert.equal(inner.trace_id, outer.trace_id);
    assert.equal(inner.client, outer.client);
  });

  it('takes nothing of the message along but the credential', async () => {
    const { upstream } = world;
    const agent = await world.agent();
    const before = upstream.requests.length;
    await agent.call(
      'listRecords',
      { 'X-Trace-Label': 'mine' },
      {
        headers: {
          'X-Trace-Label': 'theirs',
          Cookie: 'a=b',
          'Idempotency-Key': 'outer',
          'X-Forwarded-For': '192.0.2.9',
        },
      },
    );
    const sent = upstream.requests[before] ?? assert.fail('nothing arrived');
    assert.equal(sent.headers['x-trace-label'], 'mine');
    assert.equal(sent.headers.cookie, undefined);
    assert.equal(sent.headers['idempotency-key'], undefined);
    assert.equal(sent.headers['x-forwarded-for'], '127.0.0.1');
    assert.doesNotMatch(JSON.stringify(sent.rawHeaders), /mcp/i);
  });

  it('sends a body unchanged, with its digits and the order of its members', async () => {
    const { upstream } = world;
    const agent = await world.agent();
    const body = '{ "amount": 12345678901234567890.10, "name":"\\u0041da" }';
    const written = JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'createRecord', arguments: { body: 0 } },
    });
    const message = written.replace('"body":0', `"body":${body}`);
    const headers = { ...agent.headers, Host: 'localhost:8080', 'Content-Type': 'application/json' };
    await ask(world.gateway.port, requestOf('POST /mcp', headers, message));
    // The number is not one that a double holds, so it is refused as over HTTP.
    assert.notEqual(upstream.requests.at(-1)?.body.toString(), body);
    const exact = body.replace('12345678901234567890.10', '1.50');
    await ask(world.gateway.port, requestOf('POST /mcp', headers, written.replace('"body":0', `"body":${exact}`)));
    assert.equal(upstream.requests.at(-1)?.body.toString(), exact);
  });

  it('creates once, though it is called twice with one id', async () => {
    const { upstream } = world;
    const agent = await world.agent();
    const id = randomUUID();
    const before = upstream.requests.length;
    const first = await agent.call('createRecord', { body: { name: 'Ada' } }, { id });
    const second = await agent.call('createRecord', { body: { name: 'Ada' } }, { id });
    assert.equal(upstream.requests.length - before, 1);
    assert.deepEqual(second.result.structuredContent, first.result.structuredContent);
    assert.equal(first.result._meta['gateway/replayed'], undefined);
    assert.equal(second.result._meta['gateway/replayed'], true);
  });

  it('is distinguished from other calls by session or key, not by a number with which every client begins', async () => {
    const { upstream } = world;
    const agent = await world.agent();
    const times = async (run: () => Promise<unknown>) => {
      const before = upstream.requests.length;
      await run();
      await run();
      return upstream.requests.length - before;
    };
    const given = { body: { name: 'Ada' } };
    assert.equal(await times(() => agent.call('createRecord', given, { id: 3 })), 2);
    const session = { 'Mcp-Session-Id': randomUUID() };
    assert.equal(await times(() => agent.call('createRecord', given, { id: 3, headers: session })), 1);
    const idempotency_key = randomUUID();
    assert.equal(await times(() => agent.call('createRecord', { ...given, idempotency_key })), 1);
  });

  it('is refused by scope, limit and validation with the error object of the catalogue', async () => {
    const reader = await world.agent(['records:read']);
    const { result: scope } = await reader.call('createRecord', { body: { name: 'Ada' } });
    assert.equal(scope.isError, true);
    assert.equal(scope.structuredContent.error.code, 'insufficient_scope');
    assert.deepEqual(scope.structuredContent.error.required_scopes, ['records:write']);
    assert.deepEqual(JSON.parse(scope.content[0].text), scope.structuredContent);

    const { result: invalid } = await reader.call('listRecords', { limit: 500, nonsense: 1 });
    assert.equal(invalid.structuredContent.error.code, 'validation_failed');

    const organization = `org_${randomUUID()}`;
    const hasty = await world.agent(['*'], organization);
    const calls = await Promise.all(Array.from({ length: 45 }, () => hasty.call('getRecord', { id: 'a' })));
    const limited = calls.filter(({ result }) => result.structuredContent.error?.code === 'rate_limited');
    assert.equal(limited.length, 5);
    assert.ok(limited[0]?.result.structuredContent.error.retry_after > 0);
    // The message itself costs nothing: who is at the limit still gets the list.
    assert.equal((await hasty.send('tools/list')).status, 200);
  });

  it('ends with its message: the upstream is given up when the agent leaves', async () => {
    const agent = await world.agent();
    const left = Promise.withResolvers<void>();
    world.answers((_request, response, raw) => {
      raw.on('close', () => undefined);
      response.on('close', () => left.resolve());
    });
    const { openConnection } = await import('../../support/connection.ts');
    const connection = await openConnection(world.gateway.port);
    const message = JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'getRecord', arguments: { id: 'a' } },
    });
    const before = world.upstream.requests.length;
    connection.send(
      requestOf('POST /mcp', { ...agent.headers, Host: 'localhost:8080', 'Content-Type': 'application/json' }, message),
    );
    await until(() => world.upstream.requests.length > before);
    connection.destroy();
    await left.promise;
    world.answers(answerRecord);
    const line = await until(() =>
      world.gateway.logLines().find((one) => one.tool === 'getRecord' && one.status === 499),
    );
    assert.equal(line.operation, 'getRecord');
  });

  it('counts as one request of its organization, and its message as none', async () => {
    const organization = `org_${randomUUID()}`;
    const agent = await world.agent(['*'], organization);
    await agent.send('tools/list');
    await agent.call('getRecord', { id: 'a' });
    await agent.call('getRecord', { id: 'a' });
    const lines = await until(() => {
      const own = world.gateway.logLines().filter((line) => line.organization === organization);
      return own.length === 5 && own;
    });
    const remaining = lines.flatMap((line) => line.limit_remaining ?? []);
    assert.deepEqual(remaining, [39, 38]);
  });
});

it('has a span within the span of its message, if traces are recorded', async () => {
  const collector = await startCollector();
  const world = await startAgents({}, {}, { tracing: { endpoint: collector.endpoint, sampleRatio: 1 } });
  try {
    await (await world.agent()).call('getRecord', { id: 'a' });
  } finally {
    await world.close();
    await collector.close();
  }
  const inner = collector.spans.find(({ name }) => name === 'GET /v1/records/{id}');
  const outer = collector.spans.find(({ spanId }) => spanId === inner?.parentSpanId);
  assert.ok(inner && outer);
  assert.deepEqual([outer.name, outer.traceId], ['POST', inner.traceId]);
  assert.equal(inner.attributes['gateway.tool'], 'getRecord');
});
