// `gateway start` as a stranger meets it: it runs, it greets people on standard error and logs JSON on standard output, the printed line
// works as pasted, another start on its data is refused while it runs, and keeps everything afterwards.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { promisify } from 'node:util';
import { writeConfiguration } from '../../support/configuration.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { freePort } from '../../support/free-port.ts';
import { startInProcess, tryStartInProcess } from '../../support/in-process.ts';
import { createInstallation, type Installation, type Running } from '../../support/process.ts';

const shell = promisify(execFile);

/** Runs the printed command line in a shell, as if pasted. */
async function paste(stderr: string): Promise<{ status: number; body: { data: { id: string }[] } }> {
  const line = /curl .*/.exec(stderr)?.[0] ?? '';
  const { stdout } = await shell('bash', ['-c', `${line} -s -w '\\n%{http_code}'`]);
  const [body = '', status] = stdout.split('\n');
  return { status: Number(status), body: JSON.parse(body) };
}

const until = async (holds: () => Promise<boolean>, withinMs: number) => {
  const end = performance.now() + withinMs;
  while (performance.now() < end) {
    if (await holds()) return true;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return false;
};

async function turns(count: number): Promise<void> {
  for (let i = 0; i < count; i++) await turn();
}

describe('gateway start on the sandbox', () => {
  const adminPort = freePort();
  const directory = temporaryDirectory();
  let installation: Installation;
  let environmentOfOthers: Record<string, string>;
  let gateway: Running;
  let started: Running | undefined;
  let headers: { authorization: string };
  let pasted: Awaited<ReturnType<typeof paste>>;
  before(async () => {
    installation = createInstallation({ ADMIN_PORT: String(await adminPort) });
    // What comes after the first start is about its data, so one contract is enough.
    const upstreams = {
      platform: { contracts: ['v1/customers.yaml'], live: 'sandbox:platform', test: 'sandbox:platform' },
    };
    writeConfiguration(directory, { upstreams });
    environmentOfOthers = { ...installation.environment, ADMIN_PORT: '0', GATEWAY_CONFIG: join(directory, 'config') };
  });
  after(() => {
    // Of a test that failed.
    started?.child.kill('SIGKILL');
    installation.remove();
  });

  it('is ready when its demo data can be read, and no earlier', async () => {
    const starting = installation.start();
    const readiness = `http://127.0.0.1:${await adminPort}/readyz`;
    const isReady = () =>
      fetch(readiness).then(
        ({ ok }) => ok,
        () => false,
      );
    assert.ok(await until(isReady, 120_000));
    // Output printed before this point is there and is read in the next turns.
    const printed = await Promise.race([starting, turns(5)]);
    gateway = await starting;
    started = gateway;
    assert.ok(printed, 'ready, and nothing printed');
    headers = { authorization: `Bearer ${/sk_test_\w+/.exec(gateway.output())?.[0]}` };
    pasted = await paste(gateway.standardError());
    assert.equal(pasted.status, 200);
    assert.equal(pasted.body.data.length, 3);
  });

  it('greets on standard error with addresses that answer', async () => {
    const { port } = gateway;
    const greeting = gateway.standardError();
    // The check of the same files counts in the same words.
    const { stdout } = await installation.run('check');
    const [, size] = /^No mistakes[^:]*: (.*), from /m.exec(stdout) ?? [];
    assert.match(size ?? '', /^\d+ operations in \d+ contracts \(and \d+ of the gateway itself\)$/);
    for (const line of [
      `gateway        http://127.0.0.1:${port}   ${size}`,
      `documentation  http://127.0.0.1:${port}/docs`,
      `console        http://127.0.0.1:${gateway.adminPort}/`,
      `health         http://127.0.0.1:${gateway.adminPort}/readyz`,
    ])
      assert.ok(greeting.split('\n').includes(line), `${line}\n${greeting}`);
    for (const url of greeting.match(/http:\S+(?=\n)/g) ?? []) assert.equal((await fetch(url)).status, 200, url);
  });

  it('has its own contract on the host of the API', async () => {
    const answer = await fetch(`http://127.0.0.1:${gateway.port}/gateway/v1/organization`);
    assert.equal(answer.status, 401);
  });

  it('has at least 250 customers in the demo organization, so that paging is real', async () => {
    let count = 0;
    let cursor = '';
    do {
      const answer = await fetch(`http://127.0.0.1:${gateway.port}/v1/customers?limit=100${cursor}`, { headers });
      const page = (await answer.json()) as { data: unknown[]; cursor: string | null };
      count += page.data.length;
      cursor = page.cursor === null ? '' : `&cursor=${page.cursor}`;
    } while (cursor !== '');
    assert.ok(count >= 250, `${count} customers`);
  });

  it('honours changes made by commands within a second', async () => {
    const command = (words: string) => installation.run(...words.split(' '));
    const status = async (key: string) =>
      (
        await fetch(`http://127.0.0.1:${gateway.port}/v1/customers?limit=1`, {
          headers: { authorization: `Bearer ${key}` },
        })
      ).status;
    const created = await command('orgs create --id org_acme --name Acme --tier premium --json');
    assert.equal(JSON.parse(created.stdout).id, 'org_acme');
    const issued = await command('keys create --org org_acme --mode live --scopes * --json');
    const { id, key } = JSON.parse(issued.stdout);
    assert.match(key, /^sk_live_[0-9A-Za-z]{38}$/);
    assert.equal(await status(key), 200, 'a new key works at once');

    await installation.run('orgs', 'suspend', 'org_acme');
    assert.ok(await until(async () => (await status(key)) === 403, 5000), 'suspended within a second');
    await installation.run('orgs', 'resume', 'org_acme');
    assert.ok(await until(async () => (await status(key)) === 200, 5000), 'resumed within a second');
    await installation.run('keys', 'revoke', id, '--json');
    assert.ok(await until(async () => (await status(key)) === 401, 5000), 'revoked within a second');

    const audit = JSON.parse((await installation.run('audit', '--org', 'org_acme', '--json')).stdout) as {
      kind: string;
    }[];
    const kinds = [
      'key.revoked',
      'organization.resumed',
      'organization.suspended',
      'key.created',
      'organization.created',
    ];
    assert.deepEqual(
      audit.map(({ kind }) => kind),
      kinds,
    );
  });

  it('is not disturbed by a second start on its data, which is refused', async () => {
    const refused = await tryStartInProcess({ ...environmentOfOthers, PORT: String(gateway.port) });
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /Another gateway runs on the data directory \S+data: without Redis, each of them/);
    // The second start has issued no key in place of the first one's, and `--wait` does not wait for it.
    assert.equal((await paste(gateway.standardError())).status, 200);
    for (const command of ['suspend', 'resume']) {
      const done = await installation.run('orgs', command, 'org_demo', '--wait');
      assert.deepEqual([done.code, done.stderr], [0, '']);
    }
  });

  it('finishes the request in flight on SIGTERM', async () => {
    const url = `http://127.0.0.1:${gateway.port}/v1/customers?limit=100`;
    const ask = () => Promise.all(Array.from({ length: 20 }, async () => (await fetch(url, { headers })).json()));
    // A client that is still connecting is not in flight: from here on, connections exist.
    await ask();
    const answers = ask();
    await new Promise((resolve) => setTimeout(resolve, 15));
    const closed = once(gateway.child, 'close');
    const code = await gateway.stop();
    assert.equal(code, 0);
    await closed;
    for (const page of (await answers) as { data?: unknown[]; error?: { code: string } }[]) {
      assert.ok(page.data?.length === 100 || page.error?.code === 'gateway_shutting_down');
    }
  });

  it('has printed nothing but JSON lines to standard output, and no key', () => {
    const output = gateway.standardOutput();
    assert.ok(output.endsWith('\n'));
    const lines = output
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    assert.ok(lines.some(({ msg, status }) => msg === 'exchange' && status === 200));
    assert.ok(lines.some(({ msg }) => msg === 'draining'));
    assert.ok(lines.every((line) => !('admin_port' in line)));
    assert.ok(!output.includes('sk_test_'), 'the key is shown on standard error only');
  });

  it('keeps its data and its key over a second start, which prints a working line again', async () => {
    const second = await startInProcess(environmentOfOthers);
    try {
      const line = await paste(second.stderr);
      assert.equal(line.status, 200);
      assert.deepEqual(
        line.body.data.map(({ id }) => id),
        pasted.body.data.map(({ id }) => id),
      );
      const { status } = await fetch(`http://127.0.0.1:${second.port}/v1/customers`, { headers });
      assert.equal(status, 200, 'the key of the first start works for its 24 hours');
    } finally {
      await second.stop();
    }
  });
});
