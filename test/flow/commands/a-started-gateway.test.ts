// `gateway start` as a stranger meets it: it runs, the printed line works as pasted, a second start keeps everything.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after, before, describe, it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { promisify } from 'node:util';
import { createInstallation, type Installation, type Running } from '../../support/process.ts';
import { freePort } from '../../support/redis.ts';

const shell = promisify(execFile);

/** Runs the printed command line in a shell, as if pasted. */
async function paste(gateway: Running): Promise<{ status: number; body: { data: { id: string }[] } }> {
  const line = /curl .*/.exec(gateway.output())?.[0] ?? '';
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
  let installation: Installation;
  let gateway: Running;
  let started: Running | undefined;
  let headers: { authorization: string };
  let pasted: Awaited<ReturnType<typeof paste>>;
  before(async () => {
    installation = createInstallation({ ADMIN_PORT: String(await adminPort) });
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
    pasted = await paste(gateway);
    assert.equal(pasted.status, 200);
    assert.equal(pasted.body.data.length, 3);
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

  it('is left as it was by a second start on its data, which is refused', async () => {
    const again = createInstallation({ ...installation.environment, ADMIN_PORT: '0', PORT: String(gateway.port) });
    assert.equal((await again.run('start')).code, 1);
    // The second start has issued no key in place of the first one's, and `--wait` does not wait for it.
    assert.equal((await paste(gateway)).status, 200);
    for (const command of ['suspend', 'resume']) {
      const done = await installation.run('orgs', command, 'org_demo', '--wait');
      assert.deepEqual([done.code, done.stderr], [0, '']);
    }
    again.remove();
  });

  it('finishes the request in flight on SIGTERM', async () => {
    const url = `http://127.0.0.1:${gateway.port}/v1/customers?limit=100`;
    const ask = () => Promise.all(Array.from({ length: 20 }, async () => (await fetch(url, { headers })).json()));
    // A client that is still connecting is not in flight: from here on, connections exist.
    await ask();
    const answers = ask();
    await new Promise((resolve) => setTimeout(resolve, 15));
    const code = await gateway.stop();
    assert.equal(code, 0);
    for (const page of (await answers) as { data?: unknown[]; error?: { code: string } }[]) {
      assert.ok(page.data?.length === 100 || page.error?.code === 'gateway_shutting_down');
    }
  });

  it('keeps its data and its key over a second start, which prints a working line again', async () => {
    const second = await installation.start();
    try {
      const again = await paste(second);
      assert.equal(again.status, 200);
      assert.deepEqual(
        again.body.data.map(({ id }) => id),
        pasted.body.data.map(({ id }) => id),
      );
      const { status } = await fetch(`http://127.0.0.1:${second.port}/v1/customers`, { headers });
      assert.equal(status, 200, 'the key of the first start works for its 24 hours');
    } finally {
      await second.stop();
    }
  });
});
