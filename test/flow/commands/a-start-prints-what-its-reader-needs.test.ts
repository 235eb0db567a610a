// What `gateway start` prints besides log lines in JSON, which a-started-gateway.test.ts reads: its ports with --json, the commands for a
// first key, and readable lines on a terminal.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { it, type TestContext } from 'node:test';
import { writeConfiguration } from '../../support/configuration.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { type GatewayOptions, issueKeyIn } from '../../support/gateway.ts';
import { startInProcess } from '../../support/in-process.ts';
import { createInstallation, executable, type Installation } from '../../support/process.ts';
import { thingsAt } from '../../support/things.ts';

function installationOf(t: TestContext, options: GatewayOptions): Installation {
  const directory = temporaryDirectory();
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

it('"gateway start --json" adds its ports; without an organization, the greeting has the commands for a first key', async (t) => {
  const live = 'http://127.0.0.1:9';
  const installation = installationOf(t, thingsAt(live, { test: live }));
  const gateway = await startInProcess(installation.environment);
  const commands = gateway.stderr.match(/(?<=^ {2}bin\/gateway ).*$/gm) ?? [];
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
  const told = linesOf(gateway.stdout).filter((line) => 'admin_port' in line);
  assert.deepEqual(told, [{ port, admin_port }]);
});

it('"gateway start" on a terminal prints readable lines, and ends silently with Ctrl-C', async (t) => {
  const { environment } = installationOf(t, thingsAt('http://127.0.0.1:9'));
  const { key } = await issueKeyIn(environment);
  // `script` runs it on a terminal of its own, and types what it reads.
  const child = spawn('script', ['-qefc', `exec ${executable} start`, '/dev/null'], {
    env: { ...environment, NO_COLOR: '1' },
  });
  t.after(() => child.kill('SIGKILL'));
  let output = '';
  const printed = new Promise<RegExpExecArray>((resolve) => {
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk;
      const found = /^gateway +(http:\S+)[\s\S]*^health .*\r\n/m.exec(output);
      if (found) resolve(found);
    });
  });
  const [greeting, url = ''] = await printed;
  const { status } = await fetch(`${url}/v1/things`, { headers: { authorization: `Bearer ${key}` } });
  assert.equal(status, 502, 'the upstream is not there');
  while (!output.includes('req_')) await once(child.stdout, 'data');
  child.stdin.write('\u0003');
  const [code] = await once(child, 'close');
  assert.equal(code, 0);
  const [exchange = '', ...rest] = output
    .slice(output.indexOf(greeting) + greeting.length)
    .trim()
    .split('\r\n')
    // This machine may allow few open files.
    .filter((line) => !line.includes('open files'));
  assert.match(
    exchange,
    /^\d\d:\d\d:\d\d\.\d{3} 502 GET {4}\/v1\/things upstream_unreachable at forward \d+\.\d ms org_test req_\w+$/,
  );
  assert.deepEqual(rest.join('').replace('^C', ''), '');
});

it('"gateway start" prints its addresses above the log if both go to one terminal', async (t) => {
  const { environment } = installationOf(t, thingsAt('http://127.0.0.1:9'));
  // So few that the gateway warns of it.
  const command = `ulimit -n 400 && exec "${executable}" start 2>&1`;
  const child = spawn('sh', ['-c', command], { env: environment });
  t.after(() => child.kill('SIGKILL'));
  let output = '';
  for await (const chunk of child.stdout) {
    output += chunk;
    if (output.includes('"check":"open files"')) break;
  }
  assert.match(output, /^gateway +http:\S+[\s\S]*^health .*\n[\s\S]*^\{.*"check":"open files"/m);
});

it('"gateway start" on the sandbox ends with what to do, without a warning about open files; the curl line ends its answer with a line break', async (t) => {
  const upstreams = {
    platform: { contracts: ['v1/customers.yaml'], live: 'sandbox:platform', test: 'sandbox:platform' },
  };
  const { environment } = installationOf(t, { upstreams });
  const child = spawn('sh', ['-c', `ulimit -n 400 && exec "${executable}" start 2>&1`], { env: environment });
  t.after(() => child.kill('SIGKILL'));
  let output = '';
  for await (const chunk of child.stdout) {
    output += chunk;
    if (output.includes('/docs#key=')) break;
  }
  assert.match(output, /^health +\S+\n\nThe gateway forwards/m);
  assert.match(output, /^ {2}curl '\S+' -H 'Authorization: Bearer \S+' -w '\\n'$/m);
  assert.doesNotMatch(output, /^\{/m);
});
