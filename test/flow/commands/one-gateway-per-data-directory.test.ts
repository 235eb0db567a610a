// Without Redis, a second gateway does not start on the data directory of another; commands work there all the same, and a gateway that
// was killed leaves nothing that keeps the next one from starting.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { writeConfiguration } from '../../support/gateway.ts';
import { createInstallation, type Installation, type Running } from '../../support/process.ts';
import { thingsAt } from '../../support/things.ts';
import { type FakeUpstream, startUpstream } from '../../support/upstream.ts';

const directory = mkdtempSync(join(tmpdir(), 'gateway-one-'));
let upstream: FakeUpstream;
before(async () => {
  upstream = await startUpstream((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  });
  writeConfiguration(directory, thingsAt(upstream.url));
});
after(async () => {
  await upstream.close();
  rmSync(directory, { recursive: true });
});

function install(environment: Record<string, string> = {}): Installation {
  return createInstallation({
    ...environment,
    GATEWAY_CONFIG: join(directory, 'config'),
    GATEWAY_CONTRACTS: join(directory, 'openapi'),
  });
}

const installation = install();
let first: Running;
before(async () => {
  first = await installation.start();
});
after(() => {
  first.child.kill('SIGKILL');
  installation.remove();
});

test('a second gateway gives the reason why it does not start, while commands work', async () => {
  const second = await installation.run('start');
  assert.equal(second.code, 1);
  assert.match(second.stderr, /Another gateway runs on the data directory \S+data: without Redis, each of them/);

  const made = await installation.run('orgs', 'create', '--id', 'org_a', '--name', 'A', '--tier', 'standard');
  assert.equal(made.code, 0, made.stderr);
  const key = await installation.run('keys', 'create', '--org', 'org_a', '--mode', 'live', '--scopes', '*', '--json');
  assert.equal(key.code, 0, key.stderr);
  const authorization = `Bearer ${JSON.parse(key.stdout).key}`;
  const answer = await fetch(`http://127.0.0.1:${first.port}/v1/things`, { headers: { authorization } });
  assert.equal(answer.status, 200);
  await answer.text();
});

test('a gateway on data of its own whose port is taken reports it in one sentence, and ends with 1', async (t) => {
  const other = install({ PORT: String(first.port) });
  t.after(() => other.remove());
  const { code, stderr } = await other.run('start');
  assert.equal(code, 1);
  assert.match(stderr, /Cannot listen on 127\.0\.0\.1:\d+: something else listens there\./);
});

test('neither a gateway that was killed nor one that ended keeps the next one from starting', async () => {
  const ended = once(first.child, 'exit');
  first.child.kill('SIGKILL');
  await ended;
  const next = await installation.start();
  assert.equal(await next.stop(), 0);
  first = await installation.start();
  assert.equal(await first.stop(), 0);
});
