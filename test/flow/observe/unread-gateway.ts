// A gateway whose standard output nothing reads, in a process.

import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { after, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { environmentOf, writeConfiguration } from '../../support/configuration.ts';
import { ask, requestOf } from '../../support/connection.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { freePort } from '../../support/free-port.ts';
import { createInstallation, executable } from '../../support/process.ts';
import { thingsAt } from '../../support/things.ts';

/** An end that takes longer never comes. */
export const PATIENCE = { timeout: 60_000 };
const directory = temporaryDirectory();
const preload = (file: string) => `--import=${new URL(file, import.meta.url).href}`;
const installation = createInstallation({
  ...environmentOf(directory),
  NODE_OPTIONS: `${preload('unread-output.ts')} ${preload('../workers/thrown-on-signals.ts')}`,
  NEVER_OPENS: join(directory, 'never-opens'),
});

writeConfiguration(directory, { ...thingsAt('http://127.0.0.1:9'), gateway: { timeouts: { drainMs: 200 } } });
execFileSync('mkfifo', [join(directory, 'never-opens')]);
after(() => installation.remove());

export interface Unread {
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
export async function startUnread(test: TestContext, options: UnreadOptions = {}): Promise<Unread> {
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

export async function refuse({ port }: Unread): Promise<void> {
  assert.equal((await ask(port, requestOf('GET /v1/nothing'))).status, 404);
}
