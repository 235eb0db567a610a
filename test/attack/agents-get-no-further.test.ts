// The worst messages of agents: arguments that should leave their path, their header or their operation, and messages of any size and
// shape. Each gets its answer, the upstream sees nothing but what the contract allows, and the gateway goes on.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Agent, type AgentWorld, META, post, startAgents, VERSION } from '../support/agents.ts';

interface Attack {
  readonly name: string;
  readonly tool: string;
  readonly given: unknown;
  /** Of the error; undefined: it is a call like others. */
  readonly code?: string;
  /** The target that the upstream sees, if it sees one. */
  readonly url?: string;
}

const deep = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;

const attacks: readonly Attack[] = [
  { name: 'two dots as an id', tool: 'getRecord', given: { id: '..' }, code: 'malformed_path' },
  { name: 'one dot', tool: 'getRecord', given: { id: '.' }, code: 'malformed_path' },
  { name: 'encoded dots', tool: 'getRecord', given: { id: '%2e%2e' }, url: '/v1/records/%252e%252e' },
  { name: 'a slash', tool: 'getRecord', given: { id: 'a/b' }, code: 'malformed_path' },
  { name: 'an encoded slash', tool: 'getRecord', given: { id: 'a%2Fb' }, url: '/v1/records/a%252Fb' },
  { name: 'a backslash', tool: 'getRecord', given: { id: 'a\\b' }, code: 'malformed_path' },
  { name: 'a way up and down', tool: 'getRecord', given: { id: '../secrets' }, code: 'malformed_path' },
  { name: 'a query in the id', tool: 'getRecord', given: { id: 'a?limit=1' }, url: '/v1/records/a%3Flimit%3D1' },
  { name: 'a fragment in the id', tool: 'getRecord', given: { id: 'a#b' }, url: '/v1/records/a%23b' },
  { name: 'parameters of a segment', tool: 'getRecord', given: { id: 'a;b=c' }, url: '/v1/records/a%3Bb%3Dc' },
  { name: 'a line break in the id', tool: 'getRecord', given: { id: 'a\r\nHost: evil' }, code: 'malformed_path' },
  { name: 'a zero byte', tool: 'getRecord', given: { id: 'a\u0000' }, code: 'malformed_path' },
  { name: 'half a character', tool: 'getRecord', given: { id: '\ud800' }, url: '/v1/records/%EF%BF%BD' },
  { name: 'no id', tool: 'getRecord', given: {}, code: 'validation_failed' },
  { name: 'an empty id', tool: 'getRecord', given: { id: '' }, code: 'validation_failed' },
  { name: 'the id of a hidden operation', tool: 'getRecord', given: { id: 'search' }, code: 'validation_failed' },
  {
    name: 'an id that is an object',
    tool: 'getRecord',
    given: { id: { toString: 'a' } },
    url: '/v1/records/toString,a',
  },
  { name: 'an id that is a list of lists', tool: 'getRecord', given: { id: [['a']] }, code: 'validation_failed' },
  { name: 'an id that is null', tool: 'getRecord', given: { id: null }, code: 'validation_failed' },
  { name: 'an id that is a number', tool: 'getRecord', given: { id: 7 }, url: '/v1/records/7' },
  { name: 'a number that is too long', tool: 'getRecord', given: { id: 2 ** 60 }, code: 'validation_failed' },
  { name: 'an id of 100,000 characters', tool: 'getRecord', given: { id: 'x'.repeat(100_000) }, code: 'uri_too_long' },
  {
    name: 'a member that no operation has',
    tool: 'getRecord',
    given: { id: 'a', role: 'admin' },
    code: 'validation_failed',
  },
  {
    name: 'the prototype',
    tool: 'getRecord',
    given: JSON.parse('{"id":"a","__proto__":{"id":"b"}}'),
    code: 'validation_failed',
  },
  { name: 'the constructor', tool: 'getRecord', given: { id: 'a', constructor: 'x' }, code: 'validation_failed' },
  {
    name: 'a header with a line break',
    tool: 'listRecords',
    given: { 'X-Trace-Label': 'a\r\nX-Admin: 1' },
    code: 'validation_failed',
  },
  {
    name: 'a header of other letters',
    tool: 'listRecords',
    given: { 'X-Trace-Label': 'é' },
    code: 'validation_failed',
  },
  {
    name: 'a query that would add another',
    tool: 'listRecords',
    given: { cursor: 'a&limit=9' },
    url: '/v1/records?cursor=a%26limit%3D9',
  },
  {
    name: 'a filter with brackets in its names',
    tool: 'listRecords',
    given: { filter: { 'a][b': 1 } },
    code: 'validation_failed',
  },
  { name: 'an item with its separator', tool: 'listRecords', given: { sort: ['a,b'] }, code: 'validation_failed' },
  { name: 'a body that is a text', tool: 'createRecord', given: { body: '{"name":"a"}' }, code: 'validation_failed' },
  {
    name: 'a body with an unknown member',
    tool: 'createRecord',
    given: { body: { name: 'a', admin: true } },
    code: 'validation_failed',
  },
  { name: 'no body', tool: 'createRecord', given: {}, code: 'body_missing' },
  {
    name: 'a body that is too deep',
    tool: 'createRecord',
    given: { body: JSON.parse(`{"name":"a","tree":${deep(33)}}`) },
    code: 'json_too_complex',
  },
  {
    name: 'a key of idempotency with spaces',
    tool: 'createRecord',
    given: { body: { name: 'a' }, idempotency_key: 'a b' },
    code: 'idempotency_key_malformed',
  },
  {
    name: 'a key of idempotency that is an object',
    tool: 'createRecord',
    given: { body: { name: 'a' }, idempotency_key: {} },
    code: 'validation_failed',
  },
  {
    name: 'a form with a field of objects',
    tool: 'submitForm',
    given: { body: { title: { a: 1 } } },
    code: 'validation_failed',
  },
];

describe('an agent', () => {
  let world: AgentWorld;
  let agent: Agent & { readonly headers: Readonly<Record<string, string>> };
  before(async () => {
    world = await startAgents();
    agent = await world.agent(['records:read', 'records:write']);
  });
  after(() => world.close());

  for (const { name, tool, given, code, url } of attacks) {
    it(`sends ${name} → ${code ?? url}`, async () => {
      const before = world.upstream.requests.length;
      const { result } = await agent.call(tool, given as object, { id: 1 });
      const seen = world.upstream.requests.slice(before).map((request) => request.url);
      assert.equal(result.structuredContent.error?.code, code, JSON.stringify(result.structuredContent));
      assert.deepEqual(seen, url === undefined ? [] : [url]);
    });
  }

  it('sends messages that are too deep, too long or too many, and the next one is answered', async () => {
    const { port } = world.gateway;
    const headers = { ...agent.headers, 'MCP-Protocol-Version': VERSION, 'Mcp-Method': 'tools/list' };
    const message = (members: object) =>
      JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta: META }, ...members });
    assert.equal(
      (await post(port, `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":${deep(60)}}`, headers)).error.code,
      -32_600,
    );
    assert.equal(
      (await post(port, message({ more: Array.from({ length: 20_000 }, () => 1) }), headers)).error.code,
      -32_600,
    );
    assert.equal((await post(port, message({ method: 'x'.repeat(100_000) }), headers)).error.code, -32_600);
    assert.equal(
      (await post(port, JSON.stringify(Array.from({ length: 1000 }, () => JSON.parse(message({})))), headers)).error
        .code,
      -32_600,
    );
    const tooLong = await post(port, message({ more: 'x'.repeat(1_200_000) }), headers);
    assert.deepEqual([tooLong.status, tooLong.error?.code], [413, 'body_too_large']);
    const named = await agent.call(`${'a'.repeat(50_000)}`, {}, { headers: { 'Mcp-Name': 'a' } });
    assert.equal(named.error.code, -32_020);
    assert.equal((await post(port, message({}), headers)).status, 200);
  });
});
