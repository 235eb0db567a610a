// A sandbox as a process of its own, started as a gateway starts it, on a directory of the test's.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { type ClientRequest, get } from 'node:http';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { temporaryDirectory } from '../../support/directory.ts';
import { createGatewayKey, type GatewayKey, ISSUER } from './platform.ts';

const MAIN = new URL('../../../sandbox/main.ts', import.meta.url).pathname;

export interface Installation {
  readonly directory: string;
  readonly key: GatewayKey;
  /** Has the sandbox trust other keys, as the gateways do that hand over from one key to the next. */
  trust(...keys: readonly GatewayKey[]): void;
  announcement(): { pid: number; services: { platform: number } } | undefined;
  start(env?: Readonly<Record<string, string>>): RunningSandbox;
}

interface RunningSandbox {
  readonly child: ChildProcess;
  readonly ready: Promise<{ ready: true; services: { platform: number } }>;
  /** Exit code or signal, and the text of the error stream. */
  readonly ended: Promise<{ code: number | null; signal: string | null; log: string }>;
}

export async function install(context: TestContext): Promise<Installation> {
  const directory = temporaryDirectory();
  const key = await createGatewayKey();
  const children: ChildProcess[] = [];
  context.after(() => {
    for (const child of children) child.kill('SIGKILL');
  });
  function trust(...keys: readonly GatewayKey[]): void {
    writeFileSync(join(directory, 'jwks.json'), JSON.stringify({ keys: keys.flatMap(({ jwks }) => jwks.keys) }));
  }
  trust(key);
  return {
    directory,
    key,
    trust,
    announcement() {
      const path = join(directory, 'sandbox.json');
      return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : undefined;
    },
    start(env = {}) {
      const running = run(directory, env);
      children.push(running.child);
      return running;
    },
  };
}

function run(directory: string, env: Readonly<Record<string, string>>): RunningSandbox {
  const child = fork(MAIN, {
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    env: {
      // Compiled code is kept as under a gateway.
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      SANDBOX_DATA: directory,
      SANDBOX_ISSUER: ISSUER,
      SANDBOX_CURSOR_SECRET: 'only for tests',
      SANDBOX_LEASE_GRACE_MS: '150',
      ...env,
    },
  });
  let log = '';
  child.stderr?.on('data', (chunk) => {
    log += chunk;
  });
  const ready = once(child, 'message').then(([message]) => message);
  const ended = once(child, 'close').then(([code, signal]) => ({ code, signal, log }));
  return { child, ready, ended };
}

/** Keeps the process alive until the lease is destroyed. */
export async function lease(port: number): Promise<ClientRequest> {
  const request = get({ port, path: '/_sandbox/lease', agent: false });
  request.on('error', () => {});
  const [response] = await once(request, 'response');
  if (response.statusCode !== 200) throw new Error(`the lease was answered ${response.statusCode}`);
  response.resume();
  response.on('error', () => {});
  return request;
}
