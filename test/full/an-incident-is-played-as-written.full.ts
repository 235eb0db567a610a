// docs/console.md, "Play an incident": each row is done as it is written, on other ports, and the console then names its cause.

import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, readFileSync, symlinkSync } from 'node:fs';
import { join, relative } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type Block, blocksOf } from '../support/deploy/pages.ts';
import { temporaryDirectory } from '../support/directory.ts';
import { freePort } from '../support/free-port.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const PATIENCE_MS = 60_000;
/** The last minute is compared with the time before it. */
const COMPARED_AFTER_MS = 120_000;

describe('the incident of docs/console.md', () => {
  const directory = temporaryDirectory();
  const running = new Map<string, ChildProcess>();
  const moved = new Map<string, string>();
  let blocks: Block[];
  let environment: Record<string, string | undefined>;
  let printed = '';

  const move = (text: string) => [...moved].reduce((rest, [from, to]) => rest.replaceAll(from, to), text);
  const blockWith = (what: RegExp) => move(blocks.find(({ text }) => what.test(text))?.text ?? assert.fail(`${what}`));
  const shell = (script: string) =>
    promisify(execFile)('bash', ['-ec', script], { cwd: directory, env: environment, timeout: PATIENCE_MS });

  function startInShell(name: string, script: string): ChildProcess {
    const child = spawn('bash', ['-ec', `exec ${script}`], { cwd: directory, env: environment, detached: true });
    running.set(name, child);
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => {
        printed += chunk;
      });
    return child;
  }

  async function end(name: string): Promise<void> {
    const child = running.get(name);
    running.delete(name);
    if (child?.pid === undefined || child.exitCode !== null) return;
    const ended = once(child, 'exit');
    process.kill(-child.pid, 'SIGINT');
    await Promise.race([ended, sleep(20_000, undefined, { ref: false })]);
  }

  async function until<T>(ask: () => T | undefined | Promise<T | undefined>): Promise<T> {
    const endsAt = performance.now() + PATIENCE_MS;
    for (;;) {
      const answer = await ask();
      if (answer !== undefined) return answer;
      if (performance.now() > endsAt) throw new Error(`It never came:\n${printed.slice(-4000)}`);
      await sleep(200);
    }
  }

  async function causes(): Promise<string[]> {
    const answer = await fetch(`http://127.0.0.1:${moved.get('9091')}/causes`).catch(() => undefined);
    const report = (await answer?.json()) as { readonly causes: readonly { readonly cause: string }[] } | undefined;
    return (report?.causes ?? []).map(({ cause }) => cause);
  }

  const named = (cause: RegExp) => until(async () => (await causes()).find((one) => cause.test(one)));

  /** Does what the row says, command by command. */
  async function play(row: string): Promise<void> {
    const line = readFileSync(join(root, 'docs/console.md'), 'utf8')
      .split('\n')
      .find((one) => one.startsWith(`| ${row} `));
    assert.ok(line, row);
    for (const [, command = ''] of line.matchAll(/`([^`]+)`/g))
      if (/^\d+$/.test(command)) {
        if (/two minutes/.test(line)) await sleep(COMPARED_AFTER_MS);
        running.get('service')?.stdin?.write(`${command}\n`);
      } else if (/^call \d+$/.test(command)) await shell(`${blockWith(/^call\(\)/)}\n${command}`);
      else if (command.startsWith('sed ')) await shell(`${move(command)}; sleep 2`);
  }

  before(async () => {
    const kept = (file: string) => !/^(node_modules|data|\.git|test|bench|play)(\/|$)/.test(relative(root, file));
    cpSync(root, directory, { recursive: true, filter: kept });
    symlinkSync(join(root, 'node_modules'), join(directory, 'node_modules'));
    for (const port of ['7998', '6399', '8443', '9091']) moved.set(port, String(await freePort()));
    const { GATEWAY_CONFIG: _1, GATEWAY_CONTRACTS: _2, GATEWAY_DATA: _3, REDIS_URL: _4, ...rest } = process.env;
    environment = { ...rest };
    blocks = blocksOf('docs/console.md');
    await shell(blockWith(/^mkdir play/));
    startInShell('service', blockWith(/^node -e/));
    startInShell('redis', blockWith(/^redis-server/));
    await until(() => /Ready to accept connections/.exec(printed)?.[0]);
    startInShell('gateway', `env ${blockWith(/npm start$/m)}`);
    environment.KEY = await until(() => /\bsk_test_[\w-]+/.exec(printed)?.[0]);
  });
  after(async () => {
    for (const name of ['gateway', 'service', 'redis']) await end(name);
  });

  it('names a certificate near its end', async () => {
    await play('a certificate near its end');
    await named(/^The certificate for localhost expires in \d days, at [-\d]+T[\d:.]+Z\.$/);
  });

  it('names a customer over its limit', async () => {
    await play('a customer over its limit');
    await named(/^org_demo is refused for its limit organization, 20 in 60 s/);
  });

  it('names a slow operation', async () => {
    await play('a slow operation');
    await named(/^GET \/v1\/customers of platform is slow: 9 of 10 responses within/);
  });

  it('names a service that does not answer', async () => {
    await play('a service that does not answer');
    await named(/platform does not answer|platform .*(fails|failing)/);
  });

  it('names a dead service', async () => {
    await end('service');
    await play('a dead service');
    await named(/platform \(test\): target .*ECONNREFUSED/);
  });

  it('names a Redis that is gone, until it is back', async () => {
    await end('redis');
    await named(/^Redis 127\.0\.0\.1:\d+ refuses connections\.$/);
    startInShell('redis', blockWith(/^redis-server/));
    await until(async () => ((await causes()).some((one) => one.startsWith('Redis')) ? undefined : true));
  });
});
