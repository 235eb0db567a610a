// An uncaught exception: one line about it, everything logged before it written, and an end with code 1. The exceptions are thrown in the
// real processes, on signals handled by a module loaded beside the gateway.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { ask, requestOf } from '../../support/connection.ts';
import { writeConfiguration } from '../../support/gateway.ts';
import { createInstallation, type Running } from '../../support/process.ts';
import { startRedis, type TestRedis } from '../../support/redis.ts';
import { thingsAt } from '../../support/things.ts';
import { eventually, type WorkerStatus } from './several.ts';

const makesMistakes = `
process.on('SIGWINCH', () => { throw new TypeError('thrown for a test'); });
process.on('SIGPWR', () => { Promise.reject(new TypeError('rejected for a test')); });
`;

let directory: string;
let redis: TestRedis;
before(async () => {
  directory = mkdtempSync(join(tmpdir(), 'gateway-crash-'));
  writeFileSync(join(directory, 'mistakes.mjs'), makesMistakes);
  writeConfiguration(directory, thingsAt('http://127.0.0.1:9'));
  redis = await startRedis();
});
after(async () => {
  await redis.stop();
  rmSync(directory, { recursive: true });
});

async function startWith(environment: Record<string, string>) {
  const installation = createInstallation({
    GATEWAY_CONFIG: join(directory, 'config'),
    GATEWAY_CONTRACTS: join(directory, 'openapi'),
    NODE_OPTIONS: `--import=${pathToFileURL(join(directory, 'mistakes.mjs')).href}`,
    ...environment,
  });
  const running = await installation.start();
  return { ...running, remove: installation.remove };
}

const linesOf = (running: Running) =>
  running
    .output()
    .split('\n')
    .filter((line) => line.startsWith('{') && line.endsWith('}'))
    .map((line) => JSON.parse(line) as { level: number; status?: number; err?: { message: string; stack: string } });
const fatalLinesOf = (running: Running) => linesOf(running).filter(({ level }) => level === 60);

describe('an uncaught exception', () => {
  it('ends a single process with 1', async () => {
    const gateway = await startWith({});
    const ended = new Promise((resolve) => gateway.child.once('close', resolve));
    const { status } = await ask(gateway.port, requestOf('GET /v1/nothing'));
    assert.equal(status, 404);
    gateway.child.kill('SIGWINCH');
    assert.equal(await ended, 1);
    const [fatal, ...others] = fatalLinesOf(gateway);
    assert.deepEqual([fatal?.err?.message, others], ['thrown for a test', []]);
    assert.match(fatal?.err?.stack ?? '', /\n +at /);
    assert.ok(
      linesOf(gateway).some((line) => line.status === 404),
      'buffered lines are written',
    );
    gateway.remove();
  });

  it('ends a worker, which is replaced, or a primary with 1, and its workers with it', async () => {
    const gateway = await startWith({ WORKERS: '2', REDIS_URL: redis.url });
    const ended = new Promise((resolve) => gateway.child.once('close', resolve));
    const workers = async () => {
      const answer = await fetch(`http://127.0.0.1:${gateway.adminPort}/status`);
      return ((await answer.json()) as { workers: WorkerStatus[] }).workers;
    };
    const [first, second] = await workers();
    process.kill(first?.pid as number, 'SIGPWR');
    const after = await eventually(async () => {
      const now = await workers();
      return now[0]?.restarts === 1 && now;
    });
    assert.equal(after[1]?.pid, second?.pid);
    await eventually(() => fatalLinesOf(gateway).length === 1);
    gateway.child.kill('SIGWINCH');
    // Its output is closed when the workers, who share it, are gone.
    assert.equal(await ended, 1);
    const told = fatalLinesOf(gateway).map(({ err }) => err?.message);
    assert.deepEqual(told, ['rejected for a test', 'thrown for a test']);
    gateway.remove();
  });
});
