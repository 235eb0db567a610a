// GitHub's published description, unmodified: 13 MB of OpenAPI 3.0 with over a thousand operations.

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { agentAt } from '../support/agents.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { type FakeUpstream, startUpstream } from '../support/upstream.ts';

const file = fileURLToPath(new URL('../../../shared/contracts/github-rest-api.json.gz', import.meta.url));
const skip = existsSync(file) ? false : `the document is not here: ${file}`;

interface Operation {
  readonly operationId?: string;
  readonly security?: unknown;
  readonly 'x-security-scopes'?: unknown;
}

describe("GitHub's REST API behind the gateway", { skip }, () => {
  let upstream: FakeUpstream;
  let gateway: TestGateway;
  let document: { paths: Record<string, Record<string, Operation>> };
  let authorization: string;
  before(async () => {
    const text = gunzipSync(readFileSync(file)).toString('utf8');
    document = JSON.parse(text);
    upstream = await startUpstream((_request, response) => {
      response.setHeader('content-type', 'application/json; charset=utf-8');
      response.end('[]');
    });
    gateway = await startGateway({
      gateway: { mcp: { entries: ['github'], thirdParties: ['github'] } },
      contracts: { 'github.json': text },
      upstreams: {
        github: {
          contracts: ['github.json'],
          basePath: '/github',
          live: upstream.url,
          security: { apiKey: ['github:read'] },
        },
      },
    });
    ({ authorization } = await gateway.authorize({ scopes: ['github:read'] }));
  });
  after(async () => {
    await gateway?.stop();
    await upstream?.close();
  });

  it('is searched by agents, whose list of tools is short', async () => {
    const agent = agentAt(gateway.port, { Authorization: authorization });
    const { result: list, message } = await agent.send('tools/list');
    assert.equal(list.tools.length, 3);
    assert.ok(JSON.stringify(message).length < 8192, `${JSON.stringify(message).length} bytes`);
    const { result: found } = await agent.call('search_operations', { query: 'create issue' });
    assert.ok(found.structuredContent.operations.some(({ name }: { name: string }) => name === 'issues_create'));
    const { result: described } = await agent.call('describe_operation', { name: 'issues_create' });
    assert.deepEqual(described.structuredContent.inputSchema.required, ['owner', 'repo', 'body']);
    assert.match(described.structuredContent.description, /third party/);
    const given = { owner: 'o', repo: 'r', per_page: 2 };
    const { result } = await agent.call('call_operation', { name: 'issues_list-for-repo', arguments: given });
    assert.deepEqual(result.structuredContent, { result: [] });
    // With the defaults of the contract.
    assert.match(upstream.requests.at(-1)?.url ?? '', /^\/repos\/o\/r\/issues\?per_page=2&state=open&/);
  });

  it('matches every operation by a request made from its template', async () => {
    const operations = operationsOf(document);
    assert.ok(operations.length > 1000);
    const ids: (string | null)[] = [];
    // Without a key a request is refused right after it has been matched.
    for (const { method, template } of operations) {
      let count = 0;
      const path = template.replace(/\{[^}]*\}/g, () => `value${count++}`);
      const answer = await fetch(`${gateway.url}/github${path}`, { method });
      await answer.arrayBuffer();
      assert.equal(answer.status, 401, `${method} ${path}`);
      ids.push(answer.headers.get('x-request-id'));
    }
    const lines = new Map(gateway.logLines().map((line) => [line.request_id, line]));
    assert.deepEqual(
      ids.map((id) => [lines.get(id)?.operation, lines.get(id)?.route]),
      operations.map(({ id, template }) => [id, `/github${template}`]),
    );
    const status = (await (await fetch(`${gateway.adminUrl}/status`)).json()) as { operations: number };
    assert.equal(status.operations, operations.length);
  });

  async function send(method: string, path: string, body?: object) {
    const answer = await fetch(`${gateway.url}/github${path}`, {
      method,
      headers: { authorization, accept: 'application/vnd.github+json', 'content-type': 'application/json' },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    const { error } = (await answer.json()) as { error?: { errors?: Record<string, string>[] } };
    const violations = error?.errors?.map((one) => `${one.in} ${one.pointer ?? one.param} ${one.code}`).sort();
    return { status: answer.status, violations, url: upstream.requests.at(-1)?.url };
  }

  it('forwards requests that match the document, with its defaults', async () => {
    const list = await send('GET', '/repos/octocat/hello-world/issues?state=closed&per_page=5&labels=bug,ui');
    assert.equal(list.status, 200);
    const url = new URL(list.url ?? '', upstream.url);
    assert.equal(url.pathname, '/repos/octocat/hello-world/issues');
    assert.deepEqual(
      ['state', 'per_page', 'labels', 'sort', 'direction', 'page'].map((name) => url.searchParams.get(name)),
      ['closed', '5', 'bug,ui', 'created', 'desc', '1'],
    );
    assert.equal(
      (await send('GET', '/repos/o/r/compare/main...topic')).url?.split('?')[0],
      '/repos/o/r/compare/main...topic',
    );
  });

  it('refuses requests that do not match, and names each violation', async () => {
    const query = '/repos/o/r/issues?state=shut&per_page=many&since=today&creater=me';
    assert.deepEqual((await send('GET', query)).violations, [
      'query creater unknown',
      'query per_page wrong_type',
      'query since wrong_format',
      'query state not_allowed',
    ]);
    assert.deepEqual((await send('POST', '/user/repos', { private: 'yes' })).violations, [
      'body /name required',
      'body /private wrong_type',
    ]);
    assert.deepEqual((await send('PUT', '/repos/o/r/issues/one/lock', { lock_reason: 'bored' })).violations, [
      'body /lock_reason not_allowed',
      'path issue_number wrong_type',
    ]);
  });

  it('is published with every operation, with the address and credentials of the gateway', async () => {
    const answer = await fetch(`${gateway.url}/openapi/github.json`);
    const published = (await answer.json()) as typeof document & { components: { schemas: object } };
    assert.deepEqual(
      operationsOf(published).map(({ method, template }) => `${method} ${template}`),
      operationsOf(document).map(({ method, template }) => `${method} /github${template}`),
    );
    const gists = published.paths['/github/gists']?.get;
    assert.deepEqual(gists?.security, [{ apiKey: [] }]);
    assert.deepEqual(gists?.['x-security-scopes'], [{ apiKey: ['github:read'] }]);
  });
});

const methods = ['get', 'put', 'post', 'delete', 'patch', 'head', 'options', 'trace'];

/** Straight from the document, not by the loader under test. */
function operationsOf({ paths }: { paths: Record<string, Record<string, { operationId?: string }>> }) {
  return Object.entries(paths).flatMap(([template, item]) =>
    methods
      .filter((method) => method in item)
      .map((method) => ({ template, method: method.toUpperCase(), id: item[method]?.operationId })),
  );
}
