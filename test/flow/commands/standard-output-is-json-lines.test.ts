// `gateway start | jq`: standard output carries log lines in JSON only. Messages for people go to standard error. On a terminal, log lines
// are readable.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { it, type TestContext } from 'node:test';
import { type GatewayOptions, writeConfiguration } from '../../support/gateway.ts';
import { createInstallation, executable, type Installation } from '../../support/process.ts';
import { thingsAt } from '../../support/things.ts';
import { temporaryDirectory } from '../../unit/auth/samples.ts';

function installationOf(t: TestContext, options: GatewayOptions): Installation {
  const directory = temporaryDirectory(t);
  writeConfiguration(directory, options);
  const installation = createInstallation({
    GATEWAY_CONFIG: join(directory, 'config'),
    ...(options.contracts && { GATEWAY_CONTRACTS: join(directory, 'openapi') }),
  });
  t.after(installation.remove);
  return installation;
}

const linesOf = (output: string) =>
  output
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);

it('"gateway start" prints JSON lines to standard output, and the greeting to standard error', async (t) => {
  const gateway = await installationOf(t, {}).start((child) => t.after(() => child.kill('SIGKILL')));
  const closed = once(gateway.child, 'close');
  const { port, adminPort } = gateway;
  const greeting = gateway.standardError();
  for (const line of [
    `gateway        http://127.0.0.1:${port}   45 operations`,
    `documentation  http://127.0.0.1:${port}/docs`,
    `console        http://127.0.0.1:${adminPort}/`,
    `health         http://127.0.0.1:${adminPort}/readyz`,
  ])
    assert.ok(greeting.split('\n').includes(line), `${line}\n${greeting}`);
  for (const url of greeting.match(/http:\S+(?=\n)/g) ?? []) assert.equal((await fetch(url)).status, 200, url);
  const [, url = '', authorization = ''] = /^ {2}curl '(\S+)' -H 'Authorization: (Bearer \w+)'$/m.exec(greeting) ?? [];
  assert.equal((await fetch(url, { headers: { authorization } })).status, 200);
  assert.equal(await gateway.stop(), 0);
  await closed;

  const output = gateway.standardOutput();
  assert.ok(output.endsWith('\n'));
  const lines = linesOf(output);
  assert.ok(lines.some(({ msg, status }) => msg === 'exchange' && status === 200));
  assert.ok(lines.some(({ msg }) => msg === 'draining'));
  assert.ok(lines.every((line) => !('admin_port' in line)));
  assert.ok(!output.includes('sk_test_'), 'the key is shown on standard error only');
});

it('"gateway start --json" adds its ports; without an organization, the greeting has the commands for a first key', async (t) => {
  const live = 'http://127.0.0.1:9';
  const installation = installationOf(t, thingsAt(live, { test: live }));
  const gateway = await installation.start((child) => t.after(() => child.kill('SIGKILL')), ['--json']);
  const commands = gateway.standardError().match(/(?<=^ {2}bin\/gateway ).*$/gm) ?? [];
  assert.equal(commands.length, 2);
  const printed: string[] = [];
  for (const command of commands) {
    const { code, stdout } = await installation.run(...command.replaceAll("'", '').split(' '), '--json');
    assert.equal(code, 0, command);
    printed.push(stdout);
  }
  const { key } = JSON.parse(printed[1] ?? '');
  const headers = { authorization: `Bearer ${key}` };
  const { status } = await fetch(`http://127.0.0.1:${gateway.port}/v1/things`, { headers });
  assert.equal(status, 502, 'the key is accepted, the upstream is not there');
  await gateway.stop();
  const { port, adminPort: admin_port } = gateway;
  const told = linesOf(gateway.standardOutput()).filter((line) => 'admin_port' in line);
  assert.deepEqual(told, [{ port, admin_port }]);
});

it('"gateway start" on a terminal prints readable lines, and ends silently with Ctrl-C', async (t) => {
  const { environment } = installationOf(t, {});
  // `script` runs it on a terminal of its own, and types what it reads.
  const child = spawn('script', ['-qefc', `exec ${executable} start`, '/dev/null'], {
    env: { ...environment, NO_COLOR: '1' },
  });
  t.after(() => child.kill('SIGKILL'));
  let output = '';
  const printed = new Promise<RegExpExecArray>((resolve) => {
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk;
      const found = /curl '(\S+)' -H 'Authorization: (Bearer \w+)'/.exec(output);
      if (found) resolve(found);
    });
  });
  const [, url = '', authorization = ''] = await printed;
  assert.equal((await fetch(url, { headers: { authorization } })).status, 200);
  while (!output.includes('req_')) await once(child.stdout, 'data');
  child.stdin.write('\u0003');
  const [code] = await once(child, 'close');
  assert.equal(code, 0);
  const [exchange = '', ...rest] = output
    .slice(output.indexOf(authorization) + authorization.length + 1)
    .trim()
    .split('\r\n');
  assert.match(exchange, /^\d\d:\d\d:\d\d\.\d{3} 200 GET {4}\/v1\/customers \d+\.\d ms org_demo req_\w+$/);
  assert.deepEqual(rest.join('').replace('^C', ''), '');
});
