// Each caller sees the tools that it may call, and no others; the list is short or it is searched.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type AgentWorld, agentAt, agentsContract, post, startAgents } from '../../support/agents.ts';
import { until } from '../../support/connection.ts';
import { AUDIENCE, startIssuer, type TestIssuer } from '../../support/issuer.ts';
import { manyOperations } from '../../support/many-operations.ts';

type Named = { readonly name: string };
const namesIn = (result: { tools: readonly Named[] }) => result.tools.map(({ name }) => name);

const reading = ['getPicture', 'getRecord', 'listRecords', 'readNotes'];
const writing = ['createRecord', 'deleteRecord', 'replaceRecord', 'submitForm'];

describe('a list of tools', () => {
  let world: AgentWorld;
  let issuer: TestIssuer;
  before(async () => {
    issuer = await startIssuer();
    const publicPath = {
      '/v1/status': {
        get: {
          operationId: 'getStatus',
          'x-gateway-public': true,
          'x-gateway-tool': { name: 'status', description: 'Tells whether all is well.' },
          responses: { 200: { description: 'fine', content: { 'application/json': { schema: { type: 'object' } } } } },
        },
      },
    };
    const contract = { ...agentsContract, paths: { ...agentsContract.paths, ...publicPath } };
    world = await startAgents({
      contracts: { 'records.yaml': contract, 'many.json': manyOperations(120) },
      upstreams: {
        records: { contracts: ['records.yaml'], live: 'http://127.0.0.1:1' },
        many: { contracts: ['many.json'], live: 'http://127.0.0.1:1', security: { apiKey: ['many:read'] } },
      },
      gateway: {
        issuers: { test: { ...issuer.entry } },
        publicUrl: AUDIENCE,
        mcp: { entries: ['records', 'many'], thirdParties: ['many'], except: ['readSecrets'], listTtlSeconds: 60 },
      },
    });
  });
  after(async () => {
    await world.close();
    await issuer.close();
  });

  it('has the tools that the caller’s scopes allow, in one order', async () => {
    const names = async (scopes: string[]) => namesIn((await (await world.agent(scopes)).send('tools/list')).result);
    assert.deepEqual(await names(['records:read']), [...reading, 'status']);
    assert.deepEqual(await names(['records:write']), [
      'createRecord',
      'deleteRecord',
      'replaceRecord',
      'status',
      'submitForm',
    ]);
    assert.deepEqual(await names(['records:read', 'records:write']), [...reading, ...writing, 'status'].sort());
    assert.deepEqual(await names(['other:read']), ['status']);
  });

  it('has only public operations for test keys where there is no test data, and for callers without a key', async () => {
    const { gateway } = world;
    const test = agentAt(gateway.port, {
      Authorization: (await gateway.authorize({ mode: 'test', scopes: ['*'] })).authorization,
    });
    assert.deepEqual(namesIn((await test.send('tools/list')).result), ['status']);
    const nobody = agentAt(gateway.port, {});
    const { result } = await nobody.send('tools/list');
    assert.deepEqual(namesIn(result), ['status']);
    assert.equal(result.tools[0].description, 'Tells whether all is well.');
    assert.deepEqual([result.ttlMs, result.cacheScope], [60_000, 'private']);
    const { result: refused } = await nobody.call('getRecord', { id: 'a' });
    assert.equal(refused.structuredContent.error.code, 'api_key_missing');
  });

  it('describes the effect of a tool by its method', async () => {
    const { result } = await (await world.agent(['records:read', 'records:write'])).send('tools/list');
    const hints = (name: string) => {
      const { annotations } = result.tools.find((tool: Named) => tool.name === name);
      return [annotations.readOnlyHint, annotations.destructiveHint, annotations.idempotentHint];
    };
    assert.deepEqual(hints('getRecord'), [true, false, true]);
    assert.deepEqual(hints('createRecord'), [false, false, false]);
    assert.deepEqual(hints('replaceRecord'), [false, true, true]);
    assert.deepEqual(hints('deleteRecord'), [false, true, true]);
  });

  it('is searched where it would be long, with the rights of the caller', async () => {
    const agent = await world.agent(['*']);
    const { result } = await agent.send('tools/list');
    assert.deepEqual(namesIn(result), ['search_operations', 'describe_operation', 'call_operation']);
    const search = async (by: typeof agent, given: object) =>
      (await by.call('search_operations', given)).result.structuredContent;
    const found = await search(agent, { query: 'resource 7', limit: 5 });
    assert.ok(found.operations.length === 5 && found.total > 5 && found.next_offset === 5);
    assert.match(found.operations[0].description, /third party/);
    assert.equal((await search(agent, { query: 'createRecord' })).operations[0].name, 'createRecord');
    const { result: described } = await agent.call('describe_operation', { name: 'createRecord' });
    assert.deepEqual(described.structuredContent.inputSchema.required, ['body']);
    const limited = await world.agent(['many:read']);
    assert.equal((await search(limited, { query: 'createRecord' })).total, 0);
    assert.equal((await limited.call('describe_operation', { name: 'createRecord' })).result.isError, true);
    const { result: called } = await limited.call('call_operation', {
      name: 'createRecord',
      arguments: { body: { name: 'a' } },
    });
    assert.equal(called.structuredContent.error.code, 'insufficient_scope');
    for (const given of [{ query: 7 }, { query: 'x'.repeat(500) }, { limit: 1e9 }, { offset: -1 }])
      assert.equal((await agent.call('search_operations', given)).result.isError, true);
  });

  it('leaves out hidden and excepted operations, which cannot be called', async () => {
    const agent = await world.agent(['*']);
    for (const name of ['searchRecords', 'readSecrets', 'downloadDump', 'readEvents'])
      assert.equal((await agent.call('call_operation', { name })).error.code, -32_602, name);
    const narrow = await world.agent(['records:read']);
    const { result } = await narrow.call('getRecord', { id: 'search' });
    const { error } = result.structuredContent;
    assert.deepEqual([error.code, error.errors[0].in], ['validation_failed', 'path']);
  });

  it('leads a client without a token to the issuer, and one with too few scopes to more', async () => {
    const { gateway } = world;
    const metadata = `${AUDIENCE}/.well-known/oauth-protected-resource`;
    const found = await fetch(`${gateway.url}/.well-known/oauth-protected-resource`);
    const document = (await found.json()) as Record<string, unknown>;
    assert.equal(document.resource, AUDIENCE);
    assert.deepEqual(document.authorization_servers, [issuer.iss]);
    assert.deepEqual(document.scopes_supported, ['many:read', 'records:read', 'records:write']);
    const refused = await post(gateway.port, '{}', { Authorization: 'Bearer nonsense' });
    assert.equal(refused.status, 401);
    const challenge = refused.headers['www-authenticate'] ?? '';
    assert.match(challenge, /^Bearer realm="[^"]+", error="invalid_token", /);
    assert.ok(
      challenge.endsWith(`, resource_metadata="${metadata}", scope="many:read records:read records:write"`),
      challenge,
    );

    await gateway.authorize({ organization: 'org_tokens' });
    const sign = (claims: object) => `Bearer ${issuer.sign({ org: 'org_tokens', scope: 'records:read', ...claims })}`;
    const agent = agentAt(gateway.port, { Authorization: sign({}) });
    assert.deepEqual(namesIn((await agent.send('tools/list')).result), [...reading, 'status']);
    const lacking = await agent.call('createRecord', { body: { name: 'a' } });
    assert.equal(lacking.status, 403);
    assert.deepEqual(lacking.error.data.required_scopes, ['records:write']);
    assert.match(
      lacking.headers['www-authenticate'] ?? '',
      /^Bearer realm="[^"]+", error="insufficient_scope", scope="records:write", resource_metadata="https:\/\/api\.test\//,
    );
    await until(() =>
      gateway.logLines().some((line) => line.tool === 'createRecord' && line.code === 'insufficient_scope'),
    );
    const elsewhere = await post(gateway.port, '{}', { Authorization: sign({ aud: 'https://other.test' }) });
    assert.deepEqual([elsewhere.status, elsewhere.headers['x-error-code']], [401, 'token_audience']);
  });
});
