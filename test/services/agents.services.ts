// Foreign clients of the endpoint for agents: the conformance suite in both revisions, the clients of TypeScript and Python, the inspector.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { type FakeUpstream, startUpstream } from '../support/upstream.ts';
import { hasPython, nodeAppFor, pythonFor, sourcesOf } from './support/packages.ts';

const run = promisify(execFile);
const PATIENCE_MS = 300_000;
const LIMIT = 40;
const noPython = (await hasPython()) ? false : 'this machine has no python3 with venv and pip';

describe('clients of other authors', () => {
  let gateway: TestGateway;
  let app: string;
  before(async () => {
    app = await nodeAppFor('agent-clients');
    gateway = await startGateway({
      gateway: { mcp: { operations: ['listCustomers', 'createCustomer', 'createJob'] } },
      limits: { tiers: { standard: { requests: LIMIT, windowSeconds: 3600 }, premium: { requests: 100_000 } } },
    });
    const { authorization } = await gateway.authorize({ organization: 'org_all', tier: 'premium' });
    const headers = { authorization, 'content-type': 'application/json' };
    for (const name of ['Ada', 'Grace', 'Edsger', 'Barbara', 'Alan'])
      await fetch(`${gateway.url}/v1/customers`, { method: 'POST', headers, body: JSON.stringify({ name }) });
  });
  after(() => gateway?.stop());

  /** An organization that reads only, and gets to its limit. */
  async function keys(organization: string): Promise<[url: string, key: string, readerKey: string]> {
    const full = await gateway.issueKey({ organization: 'org_all', tier: 'premium', scopes: ['*'] });
    const reader = await gateway.issueKey({ organization, scopes: ['customers:read'] });
    return [`${gateway.url}/mcp`, full.key, reader.key];
  }

  function assertUsed(stdout: string): void {
    const { customers, pages, limited, ...used } = JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
    assert.deepEqual(used, {
      tools: ['createCustomer', 'createJob', 'listCustomers'],
      own: ['listCustomers'],
      jobs: 1,
      scope: 'insufficient_scope',
      invalid: 'validation_failed',
    });
    assert.ok(customers >= 5);
    assert.equal(pages, Math.ceil(customers / 2));
    assert.deepEqual(limited, ['rate_limited']);
  }

  it('@modelcontextprotocol/client 2 lists, calls, pages, repeats and is refused', async () => {
    const { stdout } = await run(process.execPath, ['use-client-2.js', ...(await keys('org_client'))], {
      cwd: app,
      timeout: PATIENCE_MS,
    });
    assertUsed(stdout);
  });

  it('@modelcontextprotocol/sdk 1 does the same', async () => {
    const { stdout } = await run(process.execPath, ['use-sdk-1.js', ...(await keys('org_sdk'))], {
      cwd: app,
      timeout: PATIENCE_MS,
    });
    assertUsed(stdout);
  });

  it('fastmcp does the same', { skip: noPython }, async () => {
    const python = await pythonFor('agent-clients-python');
    const { stdout } = await run(
      python,
      [join(sourcesOf('agent-clients-python'), 'use.py'), ...(await keys('org_python'))],
      { timeout: PATIENCE_MS },
    );
    assertUsed(stdout);
  });

  it('the inspector lists and calls', async () => {
    const [url, key] = await keys('org_inspector');
    const inspect = async (...words: string[]) => {
      const inspector = join(app, 'node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js');
      const options = ['--cli', url, '--transport', 'http', '--header', `Authorization: Bearer ${key}`, ...words];
      const { stdout } = await run(process.execPath, [inspector, ...options], { cwd: app, timeout: PATIENCE_MS });
      return JSON.parse(stdout);
    };
    const { tools } = await inspect('--method', 'tools/list');
    assert.deepEqual(
      tools.map(({ name }: { name: string }) => name),
      ['createCustomer', 'createJob', 'listCustomers'],
    );
    const called = await inspect('--method', 'tools/call', '--tool-name', 'listCustomers', '--tool-arg', 'limit=1');
    assert.equal(called.structuredContent.data.length, 1);
  });
});

describe('the conformance suite', () => {
  const operation = (operationId: string, type: string) => ({
    get: {
      operationId,
      summary: operationId,
      'x-gateway-public': true,
      responses: { 200: { description: 'done', content: { [type]: {} } } },
    },
  });
  let upstream: FakeUpstream;
  let gateway: TestGateway;
  let app: string;
  before(async () => {
    app = await nodeAppFor('agent-clients');
    upstream = await startUpstream(({ url }, response) => {
      response.writeHead(url === '/failing' ? 500 : 200, { 'content-type': 'text/plain' });
      response.end('This is a simple text response for testing.');
    });
    const paths = {
      '/text': operation('test_simple_text', 'text/plain'),
      '/failing': operation('test_error_handling', 'text/plain'),
      // They would log and ask back. Here they do neither, which is what the suite requires of a server without both.
      '/logging': operation('test_logging_tool', 'text/plain'),
      '/streaming': operation('test_streaming_elicitation', 'text/plain'),
    };
    const contract = { openapi: '3.1.0', info: { title: 'Conformance', version: '1' }, servers: [{ url: '/' }], paths };
    gateway = await startGateway({
      contracts: { 'conformance.json': contract },
      upstreams: { conformance: { contracts: ['conformance.json'], live: upstream.url } },
      gateway: { mcp: { entries: ['conformance'] } },
    });
  });
  after(async () => {
    await gateway?.stop();
    await upstream?.close();
  });

  for (const revision of ['2026-07-28', '2025-11-25']) {
    it(`passes for ${revision} but for what the gateway does not offer`, async () => {
      const suite = join(app, 'node_modules/@modelcontextprotocol/conformance/dist/index.js');
      const failures = join(app, `expected-failures-${revision}.yaml`);
      const words = [
        'server',
        '--url',
        `${gateway.url}/mcp`,
        '--requirements',
        revision,
        '--expected-failures',
        failures,
      ];
      const { stdout } = await run(process.execPath, [suite, ...words], {
        cwd: app,
        timeout: PATIENCE_MS,
        maxBuffer: 1e8,
      }).catch((failed: { stdout: string; stderr: string }) =>
        assert.fail(failed.stdout.slice(-4000) + failed.stderr.slice(-2000)),
      );
      for (const scenario of ['tools-list', 'tools-call-simple-text', 'tools-call-error', 'dns-rebinding-protection'])
        assert.match(stdout, new RegExp(`✓ ${scenario}: [1-9]\\d* passed, 0 failed`));
    });
  }
});
