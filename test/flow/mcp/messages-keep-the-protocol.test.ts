// The rules of the wire in both forms of the protocol: what is refused, with which code and status, and what is never done.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Agent, type AgentWorld, META, post, startAgents, VERSION } from '../../support/agents.ts';
import { ask, requestOf, until } from '../../support/connection.ts';

interface Row {
  readonly name: string;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly status: number;
  /** Of JSON-RPC; undefined: a result, or nothing. */
  readonly code?: number;
}

const list = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta: META } };
const call = { ...list, method: 'tools/call', params: { _meta: META, name: 'getRecord', arguments: { id: 'a' } } };
const ofList = { 'MCP-Protocol-Version': VERSION, 'Mcp-Method': 'tools/list' };
const ofCall = { ...ofList, 'Mcp-Method': 'tools/call', 'Mcp-Name': 'getRecord' };
const without = (key: string) => Object.fromEntries(Object.entries(META).filter(([name]) => !name.endsWith(key)));
const old = (method: string, params: object = {}, id: unknown = 1) => ({ jsonrpc: '2.0', id, method, params });

const rows: readonly Row[] = [
  { name: 'a list', body: list, headers: ofList, status: 200 },
  {
    name: 'a list without Mcp-Method',
    body: list,
    headers: { ...ofList, 'Mcp-Method': undefined },
    status: 400,
    code: -32_020,
  },
  {
    name: 'a list with another Mcp-Method',
    body: list,
    headers: { ...ofList, 'Mcp-Method': 'TOOLS/LIST' },
    status: 400,
    code: -32_020,
  },
  {
    name: 'a list without the version in its head',
    body: list,
    headers: { 'Mcp-Method': 'tools/list' },
    status: 400,
    code: -32_020,
  },
  {
    name: 'a list with another version in its head',
    body: list,
    headers: { ...ofList, 'MCP-Protocol-Version': '2025-11-25' },
    status: 400,
    code: -32_020,
  },
  {
    name: 'a call without Mcp-Name',
    body: call,
    headers: { ...ofCall, 'Mcp-Name': undefined },
    status: 400,
    code: -32_020,
  },
  {
    name: 'a call with another Mcp-Name',
    body: call,
    headers: { ...ofCall, 'Mcp-Name': 'deleteRecord' },
    status: 400,
    code: -32_020,
  },
  {
    name: 'a call with its name in Base64',
    body: call,
    headers: { ...ofCall, 'Mcp-Name': '=?base64?Z2V0UmVjb3Jk?=' },
    status: 200,
  },
  {
    name: 'a call with a name in Base64 that is not canonical',
    body: call,
    headers: { ...ofCall, 'Mcp-Name': '=?base64?Z2V0UmVjb3Jl?' },
    status: 400,
    code: -32_020,
  },
  {
    name: 'a version that nothing has',
    body: { ...list, params: { _meta: { ...META, 'io.modelcontextprotocol/protocolVersion': 'v999' } } },
    headers: { ...ofList, 'MCP-Protocol-Version': 'v999' },
    status: 400,
    code: -32_022,
  },
  {
    name: 'no capabilities',
    body: { ...list, params: { _meta: without('clientCapabilities') } },
    headers: ofList,
    status: 400,
    code: -32_602,
  },
  {
    name: 'no version in the body',
    body: { ...list, params: { _meta: without('protocolVersion') } },
    headers: ofList,
    status: 400,
    code: -32_602,
  },
  { name: 'no _meta', body: { ...list, params: {} }, headers: ofList, status: 400, code: -32_602 },
  ...['initialize', 'ping', 'logging/setLevel', 'resources/list', 'prompts/list', 'constructor', '__proto__'].map(
    (method) => ({
      name: `${method}, which this revision does not have here`,
      body: { ...list, method },
      headers: { ...ofList, 'Mcp-Method': method },
      status: 404,
      code: -32_601,
    }),
  ),
  { name: 'a batch', body: [list], headers: ofList, status: 400, code: -32_600 },
  { name: 'an empty batch', body: [], headers: ofList, status: 400, code: -32_600 },
  { name: 'a number', body: 7, headers: ofList, status: 400, code: -32_600 },
  { name: 'null', body: null, headers: ofList, status: 400, code: -32_600 },
  {
    name: 'another version of JSON-RPC',
    body: { ...list, jsonrpc: '1.0' },
    headers: ofList,
    status: 400,
    code: -32_600,
  },
  { name: 'an id that is null', body: { ...list, id: null }, headers: ofList, status: 400, code: -32_600 },
  { name: 'an id that is an object', body: { ...list, id: {} }, headers: ofList, status: 400, code: -32_600 },
  {
    name: 'an id of 10,000 characters',
    body: { ...list, id: 'x'.repeat(10_000) },
    headers: ofList,
    status: 400,
    code: -32_600,
  },
  { name: 'params that are a list', body: { ...list, params: [] }, headers: ofList, status: 400, code: -32_600 },
  {
    name: 'a tool that does not exist',
    body: { ...call, params: { ...call.params, name: 'x' } },
    headers: { ...ofCall, 'Mcp-Name': 'x' },
    status: 200,
    code: -32_602,
  },
  {
    name: 'a name that is a number',
    body: { ...call, params: { ...call.params, name: 7 } },
    headers: ofCall,
    status: 200,
    code: -32_602,
  },
  {
    name: 'arguments that are a list',
    body: { ...call, params: { ...call.params, arguments: [] } },
    headers: ofCall,
    status: 200,
    code: -32_602,
  },
  {
    name: 'a cursor that no list has',
    body: { ...list, params: { _meta: META, cursor: 'page:99' } },
    headers: ofList,
    status: 200,
    code: -32_602,
  },
  {
    name: 'a cursor of another form',
    body: { ...list, params: { _meta: META, cursor: { a: 1 } } },
    headers: ofList,
    status: 200,
    code: -32_602,
  },
  {
    name: 'a notification',
    body: { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } },
    status: 202,
  },
  {
    name: 'a notification of a call',
    body: { jsonrpc: '2.0', method: 'tools/call', params: { name: 'deleteRecord', arguments: { id: 'a' } } },
    status: 202,
  },
  { name: 'an answer to nothing', body: { jsonrpc: '2.0', id: 1, result: {} }, status: 202 },
  {
    name: 'initialize of 2025-11-25',
    body: old('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: {} }),
    status: 200,
  },
  { name: 'a ping of 2025-11-25', body: old('ping'), headers: { 'MCP-Protocol-Version': '2025-11-25' }, status: 200 },
  {
    name: 'a list of 2025-11-25',
    body: old('tools/list'),
    headers: { 'MCP-Protocol-Version': '2025-11-25' },
    status: 200,
  },
  {
    name: 'a call of 2025-06-18',
    body: old('tools/call', { name: 'getRecord', arguments: { id: 'a' } }, 'x'),
    headers: { 'MCP-Protocol-Version': '2025-06-18' },
    status: 200,
  },
  { name: 'an unknown method of 2025-11-25', body: old('resources/list'), status: 200, code: -32_601 },
  {
    name: 'a version of 2024 in the head',
    body: old('tools/list'),
    headers: { 'MCP-Protocol-Version': '2024-11-05' },
    status: 400,
    code: -32_000,
  },
];

describe('a message of an agent', () => {
  let world: AgentWorld;
  let agent: Agent & { readonly headers: Readonly<Record<string, string>> };
  before(async () => {
    world = await startAgents();
    agent = await world.agent();
  });
  after(() => world.close());

  for (const { name, body, headers = {}, status, code } of rows) {
    it(`${name} → ${status}${code === undefined ? '' : ` ${code}`}`, async () => {
      const before = world.upstream.requests.length;
      const answer = await post(world.gateway.port, JSON.stringify(body), { ...agent.headers, ...headers });
      assert.deepEqual([answer.status, answer.error?.code], [status, code], JSON.stringify(answer.message));
      if (status === 202) assert.equal(answer.message, undefined);
      else assert.equal(answer.message.jsonrpc, '2.0');
      const id = (body as { id?: unknown } | null)?.id;
      if (typeof id === 'number' && answer.message !== undefined) assert.equal(answer.message.id, id);
      const calls = status === 200 && (body as { method?: string }).method === 'tools/call' && code === undefined;
      assert.equal(world.upstream.requests.length - before, calls ? 1 : 0, 'an upstream hears of calls only');
    });
  }

  it('that is no JSON is -32700, and one with a name twice is -32600', async () => {
    const { port } = world.gateway;
    assert.deepEqual((await post(port, '{', agent.headers)).error.code, -32_700);
    assert.deepEqual(
      (await post(port, '{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}', agent.headers)).error.code,
      -32_600,
    );
    assert.deepEqual((await post(port, `${'['.repeat(50_000)}`, agent.headers)).error.code, -32_700);
    assert.deepEqual((await post(port, `${'['.repeat(500)}${']'.repeat(500)}`, agent.headers)).error.code, -32_600);
  });

  it('of a newer client gets the name and the capabilities of the server', async () => {
    const { result } = await agent.send('server/discover');
    assert.deepEqual(result.supportedVersions, [VERSION]);
    assert.deepEqual(result.capabilities, { tools: {} });
    assert.deepEqual([result.resultType, result.cacheScope, result.ttlMs], ['complete', 'private', 300_000]);
    assert.equal(result._meta['io.modelcontextprotocol/serverInfo'].name, 'API');
  });

  it('of an older client gets the revision that it wants, or the newest that it can have', async () => {
    const versionFor = async (protocolVersion: string) =>
      (await post(world.gateway.port, JSON.stringify(old('initialize', { protocolVersion })), agent.headers)).result
        .protocolVersion;
    assert.equal(await versionFor('2025-06-18'), '2025-06-18');
    assert.equal(await versionFor('2023-01-01'), '2025-11-25');
  });

  it('by another method is no failure of the client', async () => {
    const { port } = world.gateway;
    for (const method of ['GET', 'DELETE', 'PUT']) {
      const answer = await ask(port, requestOf(`${method} /mcp`, { ...agent.headers, Host: 'localhost:8080' }));
      assert.deepEqual([answer.status, answer.headers.allow], [405, 'POST, OPTIONS']);
    }
    assert.equal((await ask(port, requestOf('OPTIONS /mcp', { Host: 'localhost:8080' }))).status, 204);
  });

  it('needs a media type, an Accept and an origin that fit', async () => {
    const refusal = async (headers: Record<string, string | undefined>) => {
      const all = { Host: 'localhost:8080', 'Content-Type': 'application/json', ...agent.headers, ...headers };
      const answer = await ask(world.gateway.port, requestOf('POST /mcp', all, JSON.stringify(old('ping'))));
      return [answer.status, answer.headers['x-error-code']];
    };
    assert.deepEqual(await refusal({ 'Content-Type': 'text/plain' }), [415, 'unsupported_media_type']);
    assert.deepEqual(await refusal({ Accept: 'text/event-stream' }), [406, 'not_acceptable']);
    assert.deepEqual(await refusal({ Accept: 'application/json, text/event-stream' }), [200, undefined]);
    assert.deepEqual(await refusal({ Origin: 'https://evil.example' }), [403, 'origin_not_allowed']);
    assert.deepEqual(await refusal({ Origin: 'null' }), [403, 'origin_not_allowed']);
    assert.deepEqual(await refusal({ Host: 'evil.example', Origin: 'http://evil.example' }), [
      403,
      'origin_not_allowed',
    ]);
    assert.deepEqual(await refusal({ Origin: 'http://localhost:8080' }), [200, undefined]);
    assert.deepEqual(await refusal({ Host: '127.0.0.1:9', Origin: 'http://127.0.0.1:9' }), [200, undefined]);
    assert.deepEqual(await refusal({ Authorization: undefined }), [401, 'api_key_missing']);
    assert.deepEqual(await refusal({ Authorization: 'Bearer nonsense' }), [401, 'api_key_malformed']);
  });

  it('is logged by its method, even if the name is unknown', async () => {
    const methods = await until(() => {
      const all = new Set(world.gateway.logLines().flatMap((line) => line.mcp ?? []));
      return all.has('tools/list') && all;
    });
    for (const method of methods) {
      assert.match(
        String(method),
        /^(?:tools\/(?:list|call)|server\/discover|initialize|ping|notifications\/\w+|unknown|invalid)$/,
      );
    }
  });
});
