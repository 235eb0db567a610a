// docs/first-steps.md, step by step: in a copy of the repository without packages or data, on other ports. Prints how long it took.

import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type Block, blocksOf } from '../support/deploy/pages.ts';
import { temporaryDirectory } from '../support/directory.ts';
import { freePort } from '../support/free-port.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const PATIENCE_MS = 600_000;

describe('docs/first-steps.md', () => {
  const directory = temporaryDirectory();
  const running: ChildProcess[] = [];
  let blocks: Block[];
  let environment: Record<string, string | undefined>;
  let printed = '';

  const moved = new Map<string, string>();
  const move = (text: string) => [...moved].reduce((rest, [from, to]) => rest.replaceAll(from, to), text);
  const blockWith = (what: RegExp) => {
    const found = blocks.find(({ text, lead }) => what.test(text) || what.test(lead));
    assert.ok(found, `no block with ${what}`);
    return move(found.text);
  };
  const shell = (script: string) =>
    promisify(execFile)('bash', ['-ec', script], { cwd: directory, env: environment, timeout: PATIENCE_MS });
  function startInBackground(script: string): void {
    const child = spawn('bash', ['-ec', script], { cwd: directory, env: environment, detached: true });
    running.push(child);
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (printed += chunk));
  }

  before(async () => {
    const kept = (file: string) => !/^(node_modules|data|\.git)(\/|$)/.test(relative(root, file));
    cpSync(root, directory, { recursive: true, filter: kept });
    const [port, adminPort, servicePort] = await Promise.all([freePort(), freePort(), freePort()]);
    moved.set('localhost:3000', `localhost:${servicePort}`);
    moved.set('PORT=3000', `PORT=${servicePort}`);
    const { GATEWAY_CONFIG: _1, GATEWAY_CONTRACTS: _2, GATEWAY_DATA: _3, REDIS_URL: _4, ...rest } = process.env;
    environment = { ...rest, PORT: String(port), ADMIN_PORT: String(adminPort) };
    blocks = blocksOf('docs/first-steps.md');
  });
  after(async () => {
    for (const child of running) {
      if (child.exitCode !== null || child.pid === undefined) continue;
      const ended = once(child, 'exit');
      // The whole group: npm and the shell it starts are in between.
      process.kill(-child.pid, 'SIGTERM');
      await Promise.race([ended, sleep(20_000, undefined, { ref: false })]);
    }
  });

  it('leads to a first answer, with the line that is printed', async (test) => {
    const startedAt = performance.now();
    startInBackground(blockWith(/npm ci/));
    const line = await until(() => /^ +(curl .*)$/m.exec(printed)?.[1]);
    const { stdout } = await shell(`${line} -s -w '\\n%{http_code}'`);
    const [body = '', status] = stdout.split('\n');
    assert.equal(status, '200');
    assert.equal(JSON.parse(body).data.length, 3);
    test.diagnostic(`first 200 after ${Math.round((performance.now() - startedAt) / 1000)} s`);
  });

  it('leads to a service behind the gateway', async (test) => {
    const startedAt = performance.now();
    startInBackground(blockWith(/inventory\.js$/m));
    writeFileSync(join(directory, 'openapi/inventory.yaml'), blockWith(/`openapi\/inventory\.yaml`/));
    const upstreams = join(directory, 'config/upstreams.yaml');
    const entry = blockWith(/below the line `upstreams:`/);
    writeFileSync(upstreams, readFileSync(upstreams, 'utf8').replace(/^upstreams:\n/m, entry));
    const { stdout: routes } = await shell(blockWith(/^bin\/gateway check/m));
    assert.match(routes, /\/v1\/items/);

    const requests = blockWith(/^curl -i/m);
    const { stdout } = await shell(`${blockWith(/^bin\/gateway orgs/m)}\n${requests}`);
    const expected = [...requests.matchAll(/# (\d{3})$/gm)].map(([, status]) => status);
    assert.equal(expected.length, 5);
    assert.deepEqual(
      [...stdout.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => status),
      expected,
    );
    assert.match(stdout, /"items":\[\{"id":"item_1","name":"bolt","quantity":3\}\]/);
    test.diagnostic(`own backend after ${Math.round((performance.now() - startedAt) / 1000)} s`);
  });

  async function until<T>(ask: () => T | undefined): Promise<T> {
    const endsAt = performance.now() + PATIENCE_MS;
    for (;;) {
      const answer = ask();
      if (answer !== undefined) return answer;
      const isOver = performance.now() > endsAt || running.some(({ exitCode }) => exitCode !== null);
      if (isOver) throw new Error(`It never came:\n${printed}`);
      await sleep(50);
    }
  }
});
