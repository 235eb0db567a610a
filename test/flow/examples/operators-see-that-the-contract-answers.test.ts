// `check`, `doctor`, `explain` and the start say which upstreams are answered for from their contracts, and where a contract cannot answer.

import assert from 'node:assert/strict';
import { it, type TestContext } from 'node:test';
import { environmentOf, writeConfiguration } from '../../support/configuration.ts';
import { ask, requestOf } from '../../support/connection.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import type { GatewayOptions } from '../../support/gateway.ts';
import { createInstallation } from '../../support/process.ts';
import { PEPPER } from '../../unit/auth/samples.ts';
import { explainer, logFileOf } from '../explain/explained.ts';
import { plannedContract, startPlanned } from './planned.ts';

const json = (rest: object) => ({ responses: { 200: { description: 'x', content: { 'application/json': rest } } } });

/** A reference within an operation, because the documents of these tests have no components. */
const circle = {
  type: 'object',
  required: ['parent'],
  properties: { parent: { $ref: '#/paths/~1v1~1circle/get/responses/200/content/application~1json/schema' } },
};

function install(test: TestContext, entry: object, paths: object = {}) {
  const directory = temporaryDirectory();
  const options: GatewayOptions = {
    contracts: { 'orders.yaml': plannedContract(paths) },
    upstreams: { orders: { contracts: ['orders.yaml'], ...entry } },
  };
  writeConfiguration(directory, options);
  const installation = createInstallation({
    ...environmentOf(directory),
  });
  test.after(() => {
    installation.remove();
  });
  return installation;
}

it('check warns of live keys that get examples, and of places that give none', async (test) => {
  const { run } = install(
    test,
    { live: 'examples:', test: 'examples:' },
    {
      '/v1/wrong': { get: { operationId: 'wrong', ...json({ schema: { type: 'integer' }, example: 'five' }) } },
      '/v1/never': {
        get: { operationId: 'never', ...json({ schema: { type: 'string', minLength: 2, maxLength: 1 } }) },
      },
      '/v1/circle': { get: { operationId: 'circle', ...json({ schema: circle }) } },
    },
  );
  const { code, stdout } = await run('check', '--json');
  const { warnings } = JSON.parse(stdout) as { warnings: string[] };
  assert.equal(code, 0);
  const expected = [
    /orders\.yaml:\d+:\d+: .*never.*minLength: minLength 2 is above maxLength 1/,
    /orders\.yaml:\d+:\d+: .*wrong.*example: the example does not fit its schema/,
    /upstreams\.yaml:\d+:\d+: upstreams\.orders\.live: live keys are answered from the contract/,
    /orders\.yaml:\d+:\d+: .*circle.*: "parent" requires itself, so no valid value .* 501\. Make "parent" optional or nullable\./,
  ];
  assert.equal(warnings.length, expected.length, warnings.join('\n'));
  for (const [index, pattern] of expected.entries()) assert.match(warnings[index] ?? '', pattern);
});

it('check refuses a service beside examples, and tunnels without a service', async (test) => {
  const both = await install(test, { live: ['examples:', 'http://orders:3000'] }).run('check');
  assert.equal(both.code, 1);
  assert.match(both.stderr, /upstreams\.orders\.live: .*must not name a service beside examples:/);
  const tunnel = await install(test, { live: 'examples:', tunnels: [{ paths: ['/files/*'] }] }).run('check');
  assert.equal(tunnel.code, 1);
  assert.match(tunnel.stderr, /upstreams\.orders\.tunnels: a tunnel has no contract that could answer for it/);
});

it('doctor warns of live, and accepts test', async (test) => {
  const { run } = install(test, { live: 'examples:' });
  const checksOf = async ({ stdout }: { stdout: string }) =>
    (JSON.parse(stdout) as { checks: { check: string; verdict: string }[] }).checks;
  const find = (checks: readonly { check: string }[]) =>
    checks.find(({ check }) => check.startsWith('upstream orders'));
  const warned = find(await checksOf(await run('doctor', '--json')));
  assert.deepEqual(
    [warned?.check, (warned as { verdict?: string }).verdict],
    ['upstream orders examples:orders', 'warn'],
  );
  const onTest = install(test, { live: 'http://127.0.0.1:1', test: 'examples:' });
  const checks = await checksOf(await onTest.run('doctor', '--json'));
  assert.equal(checks.find(({ check }) => check.endsWith('examples:orders'))?.verdict, 'ok');
});

it('upstreams try requires a service', async (test) => {
  const { code, stderr } = await install(test, { live: 'examples:' }).run('upstreams', 'try', 'orders');
  assert.equal(code, 2);
  assert.match(stderr, /answered for from its contract: name a service with --target/);
});

it('explain shows that the contract answered, or would', async (test) => {
  const { gateway, call } = await startPlanned({ environment: { KEY_PEPPER: PEPPER } });
  test.after(gateway.stop);
  const { headers } = await call('GET /v1/orders');
  const { stories, run } = explainer(gateway);
  const [story] = await stories(String(headers['x-request-id']), '--log', logFileOf(test, gateway));
  assert.match(JSON.stringify(story), /answered from the contract of orders/);
  const { out } = await run('--request', 'GET /v1/orders', '--org', 'org_test');
  assert.match(out, /would be answered from the contract of orders/);
});

it('a start warns of live keys that get examples, in one line of the log, and of test keys in the greeting only', async (test) => {
  const started = async (entries: object) => {
    const running = await install(test, entries).start();
    await running.stop();
    const lines = running
      .standardOutput()
      .split('\n')
      .filter((line) => line.startsWith('{'));
    const log = lines.map((line) => JSON.parse(line)).filter(({ level, msg }) => level >= 40 && /contract/.test(msg));
    return { log, told: running.standardError() };
  };
  const onTest = await started({ live: 'http://127.0.0.1:1', test: 'examples:' });
  assert.deepEqual(onTest.log, []);
  assert.match(onTest.told, /^examples {7}orders \(test\): answered from the contract, without a service$/m);
  const onBoth = await started({ live: 'examples:', test: 'examples:' });
  assert.deepEqual(
    onBoth.log.map(({ upstreams }) => upstreams),
    [['orders']],
  );
  assert.match(onBoth.told, /^examples {7}orders \(live and test\): answered .*; not for production$/m);
});

it('several processes answer alike, and the start names the upstream', async (test) => {
  const installation = install(test, { live: 'examples:' });
  const running = await installation.start();
  test.after(() => running.stop());
  assert.match(running.standardError(), /examples {7}orders \(live\): answered from the contract, without a service/);
  await installation.run('orgs', 'create', '--id', 'org_acme', '--name', 'Acme', '--tier', 'standard');
  const { stdout } = await installation.run(
    ...['keys', 'create', '--org', 'org_acme', '--mode', 'live', '--scopes', '*', '--json'],
  );
  const Authorization = `Bearer ${JSON.parse(stdout).key}`;
  const other = await startPlanned();
  test.after(other.gateway.stop);
  const { status, body } = await ask(running.port, requestOf('GET /v1/orders/ord_9', { Authorization }));
  assert.equal(status, 200);
  assert.equal(String((await other.call('GET /v1/orders/ord_9')).body), String(body));
});
