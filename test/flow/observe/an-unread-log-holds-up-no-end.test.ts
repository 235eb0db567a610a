// Standard output is not read any more, or its disk is full. The gateway serves, and every way to end it ends it: SIGTERM, an uncaught
// error, a failed start; one process or several; with standard error unread too. What could not be written is told where there is room.

import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, it, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { environmentOf, writeConfiguration } from '../../support/configuration.ts';
import { ask, requestOf } from '../../support/connection.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { freePort } from '../../support/free-port.ts';
import { createInstallation, executable } from '../../support/process.ts';
import { startRedis } from '../../support/redis.ts';
import { thingsAt } from '../../support/things.ts';
import { LIMIT_RUNS } from '../../unit/limits/scenarios.ts';

/** An end that takes longer never comes. */
const PATIENCE = { timeout: 60_000 };
const directory = temporaryDirectory();
const preload = (file: string) => `--import=${new URL(file, import.meta.url).href}`;
const installation = createInstallation({
  ...environmentOf(directory),
  NODE_OPTIONS: `${preload('unread-output.ts')} ${preload('../workers/thrown-on-signals.ts')}`,
  NEVER_OPENS: join(directory, 'never-opens'),
});

writeConfiguration(directory, { ...thingsAt('http://127.0.0.1:9'), gateway: { timeouts: { drainMs: 200 } } });
execFileSync('mkfifo', [join(directory, 'never-opens')]);
const redis = await startRedis();
after(async () => {
  installation.remove();
  await redis.stop();
});

interface Unread {
  readonly child: ChildProcess;
  readonly port: number;
  readonly adminPort: number;
  /** What standard error takes, if it is read. */
  errors(): string;
  /** Everything in the pipe that nothing has read. */
  left(): string;
  ended: Promise<[number | null, string | null]>;
}

interface UnreadOptions {
  /** Descriptors that are full, with commas between. */
  readonly unread?: string;
  readonly output?: string;
  readonly environment?: Readonly<Record<string, string>>;
}

/** Starts a gateway whose standard output is a pipe that has a reader, which reads nothing. Resolves when it serves. */
async function startUnread(test: TestContext, options: UnreadOptions = {}): Promise<Unread> {
  const { unread = '1', output, environment } = options;
  const pipe = join(directory, `pipe-${test.name.replaceAll(/\W+/g, '-')}`);
  execFileSync('mkfifo', [pipe]);
  const held = openSync(pipe, constants.O_RDWR | constants.O_NONBLOCK);
  const fd = output === undefined ? openSync(pipe, 'w') : openSync(output, 'w');
  const [port, adminPort] = [await freePort(), await freePort()];
  const child = spawn(executable, ['start'], {
    env: {
      ...installation.environment,
      PORT: `${port}`,
      ADMIN_PORT: `${adminPort}`,
      UNREAD: unread,
      GATEWAY_DATA: `${pipe}-data`,
      ...environment,
    },
    stdio: ['ignore', fd, unread.includes('2') ? fd : 'pipe'],
  });
  closeSync(fd);
  let errors = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    errors += chunk;
  });
  const ended = once(child, 'exit') as Unread['ended'];
  test.after(() => {
    child.kill('SIGKILL');
    closeSync(held);
  });
  const isReady = () => fetch(`http://127.0.0.1:${adminPort}/readyz`).then(({ status }) => status === 200);
  let isOver = false;
  void ended.then(() => {
    isOver = true;
  });
  while (!isOver && !(await isReady().catch(() => false))) await sleep(50);
  const bytes = Buffer.alloc(2_000_000);
  return { child, port, adminPort, errors: () => errors, left: () => leftIn(held, bytes), ended };
}

function leftIn(fd: number, bytes: Buffer): string {
  let length = 0;
  try {
    for (let count = 1; count > 0; length += count) count = readSync(fd, bytes, length, 65_536, null);
  } catch {
    // It is empty.
  }
  return bytes.toString('latin1', 0, length);
}

async function refuse({ port }: Unread): Promise<void> {
  assert.equal((await ask(port, requestOf('GET /v1/nothing'))).status, 404);
}

/** Each case starts a gateway, so `npm test` tries every other one. */
const inFull = LIMIT_RUNS > 1 ? it : it.skip;

describe('an unread log holds up no end:', { concurrency: 4 }, () => {
  inFull('SIGTERM, and a second one', PATIENCE, async (test) => {
    const gateway = await startUnread(test);
    await refuse(gateway);
    gateway.child.kill('SIGTERM');
    gateway.child.kill('SIGINT');
    assert.deepEqual(await gateway.ended, [0, null]);
    assert.match(gateway.errors(), /\d+ log lines were dropped, because standard output did not take them/);
  });

  it('an uncaught error, with standard error unread too', PATIENCE, async (test) => {
    const gateway = await startUnread(test, { unread: '1,2' });
    await refuse(gateway);
    gateway.child.kill('SIGWINCH');
    assert.deepEqual(await gateway.ended, [1, null]);
  });

  inFull('an unhandled rejection, which standard error has then', PATIENCE, async (test) => {
    const gateway = await startUnread(test);
    await refuse(gateway);
    gateway.child.kill('SIGPWR');
    assert.deepEqual(await gateway.ended, [1, null]);
    assert.match(gateway.errors(), /uncaught error: TypeError: rejected for a test\n +at /);
    assert.match(gateway.errors(), /log lines? (was|were) dropped/);
  });

  inFull('a pipe that another process has made wait', PATIENCE, async (test) => {
    const gateway = await startUnread(test);
    gateway.child.kill('SIGSTKFLT');
    await refuse(gateway);
    await sleep(300);
    await refuse(gateway);
    gateway.child.kill('SIGTERM');
    assert.deepEqual(await gateway.ended, [0, null]);
  });

  it('a thread that waits for a name server or a disk', PATIENCE, async (test) => {
    const gateway = await startUnread(test, { environment: { NEVER_OPENS_THREADS: '3' } });
    gateway.child.kill('SIGPOLL');
    gateway.child.kill('SIGTERM');
    assert.deepEqual(await gateway.ended, [0, null]);
  });

  it('parts that cannot be closed, because every thread waits', PATIENCE, async (test) => {
    const gateway = await startUnread(test, { unread: '', environment: { NEVER_OPENS_THREADS: '4' } });
    gateway.child.kill('SIGPOLL');
    gateway.child.kill('SIGTERM');
    assert.deepEqual(await gateway.ended, [1, null]);
    assert.match(gateway.left(), /"msg":"the gateway ends, although some of its parts are not closed/);
  });

  inFull('a reader that goes on in time has all lines', PATIENCE, async (test) => {
    const gateway = await startUnread(test);
    await refuse(gateway);
    gateway.child.kill('SIGTERM');
    let text = gateway.left();
    const [code] = await gateway.ended;
    text += gateway.left();
    assert.equal(code, 0);
    assert.match(text, /"status":404/);
    assert.match(text, /"msg":"draining"/);
    assert.doesNotMatch(gateway.errors(), /dropped/);
  });

  it('a full disk ends nothing, and the lines are counted', PATIENCE, async (test) => {
    const gateway = await startUnread(test, { unread: '', output: '/dev/full' });
    for (let times = 0; times < 3; times += 1) {
      await refuse(gateway);
      await sleep(150);
    }
    const metrics = await (await fetch(`http://127.0.0.1:${gateway.adminPort}/metrics`)).text();
    assert.match(metrics, /^gateway_log_lines_dropped_total [1-9]/m);
    gateway.child.kill('SIGTERM');
    assert.deepEqual(await gateway.ended, [0, null]);
  });

  inFull('a start that fails', PATIENCE, async (test) => {
    const gateway = await startUnread(test, {
      environment: { PORT: new URL(redis.url).port, WORKERS: '2', REDIS_URL: redis.url },
    });
    assert.deepEqual(await gateway.ended, [1, null]);
    assert.match(gateway.errors(), /something else listens there/);
  });

  it('several workers, of which one dies of an error, and then all are ended', PATIENCE, async (test) => {
    const gateway = await startUnread(test, { environment: { WORKERS: '2', REDIS_URL: redis.url } });
    const workers = async () => {
      const status = await (await fetch(`http://127.0.0.1:${gateway.adminPort}/status`)).json();
      return (status as { workers: { pid: number; restarts: number; state: string }[] }).workers;
    };
    await refuse(gateway);
    process.kill((await workers())[0]?.pid as number, 'SIGWINCH');
    while (
      !(await workers()).every(({ restarts, state }, at) => state === 'serving' && restarts === (at === 0 ? 1 : 0))
    )
      await sleep(100);
    await refuse(gateway);
    gateway.child.kill('SIGTERM');
    assert.deepEqual(await gateway.ended, [0, null]);
    assert.match(gateway.errors(), /gateway: \d+ log lines were dropped/);
  });

  inFull('an uncaught error of the process that holds the workers', PATIENCE, async (test) => {
    const gateway = await startUnread(test, { environment: { WORKERS: '2', REDIS_URL: redis.url } });
    gateway.child.kill('SIGPWR');
    assert.deepEqual(await gateway.ended, [1, null]);
    assert.match(gateway.errors(), /uncaught error: TypeError: rejected for a test/);
  });
});
