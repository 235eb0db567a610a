// Where people see tools: `check`, `mcp tools`, the page "For agents", metrics, `explain` and the console.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { after, before, describe, it } from 'node:test';
import { exchangeReport } from '../../../gateway/explain/report.ts';
import { type AgentWorld, agentsContract, startAgents } from '../../support/agents.ts';
import { environmentOf, writeConfiguration } from '../../support/configuration.ts';
import { until } from '../../support/connection.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { runInProcess } from '../../support/in-process.ts';

const upstreams = { records: { contracts: ['records.yaml'], live: 'http://127.0.0.1:1' } };
const contracts = { 'records.yaml': agentsContract };

/** Asserts that a program reads the code without complaint. */
function takes(program: string, args: readonly string[], code: string): void {
  const { status, stderr } = spawnSync(program, args, { input: code, encoding: 'utf8' });
  assert.equal(status, 0, `${code}\n${stderr}`);
}

function checkOf(mcp: object, contract: object = agentsContract) {
  const directory = temporaryDirectory();
  writeConfiguration(directory, { contracts: { 'records.yaml': contract }, upstreams, gateway: { mcp } });
  return runInProcess(['check'], { environment: environmentOf(directory) });
}

describe('check', () => {
  it('prints the size of each tool and of the list, and names operations that are no tools', async () => {
    const { code, stdout } = await checkOf({ entries: ['records'] });
    assert.equal(code, 0);
    assert.match(stdout, /^tool getRecord: \d+ bytes, about \d+ tokens$/m);
    assert.match(stdout, /^downloadDump is no tool: its answer is application\/octet-stream, which is no text\.$/m);
    assert.match(stdout, /^readEvents is no tool: its answer is a stream\.$/m);
    assert.match(stdout, /^9 tools\. The list has \d+ bytes, about \d+ tokens\.$/m);
  });

  it('names every mistake with its line', async () => {
    const { code, stderr } = await checkOf({
      path: '/v1/records',
      entries: ['recods'],
      tags: ['record'],
      operations: ['getRecords'],
      except: ['x'],
      thirdParties: ['y'],
    });
    assert.equal(code, 1);
    for (const reason of [
      /there is no entry "recods"\..*"records"/,
      /there is no tag "record"\./,
      /there is no operation "getRecords"\./,
      /there is no operation "x"\./,
      /there is no entry "y"\./,
      /the operation listRecords has the path \/v1\/records\./,
    ])
      assert.match(stderr, reason);
    assert.match(stderr, /gateway\.yaml:\d+/);
    const paths = {
      ...agentsContract.paths,
      '/v1/notes': { get: { ...agentsContract.paths['/v1/notes'].get, 'x-gateway-tool': { name: 'a b' } } },
    };
    const contract = { ...agentsContract, paths, 'x-gateway-tool': { hidden: true } };
    const others = await checkOf({ entries: ['records'], path: '/docs/x' }, contract);
    assert.match(others.stderr, /must not be a path of the documentation/);
    assert.match(others.stderr, /is not possible here\..*at most 64/s);
    assert.match(others.stderr, /x-gateway-tool is possible for an operation only/);
    assert.match((await checkOf({})).stderr, /must open operations by entries, tags or operations/);
  });
});

describe('a running gateway', () => {
  let world: AgentWorld;
  before(async () => {
    world = await startAgents();
  });
  after(() => world.close());

  it('lists the tools for the owner of a key', async () => {
    const { gateway } = world;
    const { id } = await gateway.issueKey({ scopes: ['records:write'] });
    const environment = {
      ...environmentOf(gateway.directory),
      GATEWAY_DATA: gateway.dataDirectory,
    };
    const run = (...words: string[]) => runInProcess(['mcp', 'tools', ...words], { environment });
    const all = JSON.parse((await run('--json')).stdout);
    assert.equal(all.tools.length, 9);
    const own = JSON.parse((await run('--key', id, '--json')).stdout);
    assert.deepEqual(
      own.tools.map(({ name }: { name: string }) => name),
      ['createRecord', 'deleteRecord', 'replaceRecord', 'submitForm'],
    );
    assert.match((await run('--key', id)).stdout, /^createRecord +createRecord +\d+ +\d+$/m);
    const unknown = await run('--key', 'key_nothing');
    assert.deepEqual([unknown.code, unknown.stderr], [1, 'gateway: There is no key key_nothing.\n']);
  });

  it('has a page for agents, which its documentation leads to', async () => {
    const { url } = world.gateway;
    const page = await (await fetch(`${url}/docs/agents`)).text();
    assert.match(page, /http:\/\/localhost:8080\/mcp/);
    assert.match(page, /data-path="\/mcp"/);
    assert.match(page, /claude mcp add/);
    assert.match(await (await fetch(`${url}/docs`)).text(), /href="\/docs\/agents"/);
    assert.match(await (await fetch(`${url}/llms.txt`)).text(), /\/docs\/agents\.md/);
    assert.equal((await fetch(`${url}/docs/assets/agents.js`)).status, 200);
  });

  it('shows samples on the page for agents that a shell, Node, Python and a reader of JSON take', async () => {
    const text = await (await fetch(`${world.gateway.url}/docs/agents.md`)).text();
    const samples = [...text.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(([, language = '', code = '']) => ({
      language,
      code,
    }));
    assert.deepEqual(
      samples.map(({ language }) => language),
      ['sh', 'text', 'sh', 'sh', 'json', 'json', 'js', 'python', 'sh'],
    );
    const hasPython = spawnSync('python3', ['--version']).status === 0;
    for (const { language, code } of samples) {
      if (language === 'sh') takes('bash', ['-n'], code);
      else if (language === 'json') JSON.parse(code);
      else if (language === 'js') takes(process.execPath, ['--check', '--input-type=module', '-'], code);
      else if (language === 'python' && hasPython)
        takes('python3', ['-c', 'import sys; compile(sys.stdin.read(), "sample", "exec")'], code);
    }
  });

  it('counts messages and calls, and explains a call', async () => {
    const { gateway } = world;
    const agent = await world.agent(['records:read']);
    const { result } = await agent.call('getRecord', { id: 'a' });
    await agent.call('createRecord', { body: { name: 'a' } });
    await until(() => gateway.logLines().filter(({ mcp }) => mcp !== undefined).length >= 2);
    const metrics = await (await fetch(`${gateway.adminUrl}/metrics`)).text();
    assert.match(metrics, /^gateway_agent_messages_total\{method="tools\/call"\} [2-9]/m);
    assert.match(metrics, /^gateway_tool_calls_total\{http_route="\/v1\/records\/\{id\}",outcome="answered"\} 1$/m);
    assert.match(metrics, /^gateway_tool_calls_total\{http_route="\/v1\/records",outcome="refused"\} 1$/m);
    const id = result._meta['gateway/request_id'];
    const kept = await (await fetch(`${gateway.adminUrl}/exchanges/${id}`)).json();
    const [line] = (kept as { exchanges: Record<string, unknown>[] }).exchanges;
    assert.match(
      JSON.stringify(exchangeReport(line ?? assert.fail('not kept'))),
      /called by the tool getRecord, in the message req_/,
    );
  });
});

it('without the block there is no endpoint, and the page for agents has no tools', async () => {
  const { startGateway } = await import('../../support/gateway.ts');
  const gateway = await startGateway({ contracts, upstreams });
  try {
    const answer = await fetch(`${gateway.url}/mcp`, { method: 'POST', body: '{}' });
    assert.deepEqual([answer.status, answer.headers.get('x-error-code')], [404, 'route_not_found']);
    assert.doesNotMatch(await (await fetch(`${gateway.url}/docs/agents`)).text(), /agents-form|claude mcp/);
  } finally {
    await gateway.stop();
  }
});
