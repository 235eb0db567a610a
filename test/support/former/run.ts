// `bin/gateway` of any version as a process: what it prints differs between versions, `start --json` does not.

import { execFile, spawn } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The directory of the present version. */
export const PRESENT = fileURLToPath(new URL('../../../', import.meta.url));

export interface VersionRunning {
  readonly port: number;
  readonly adminPort: number;
  /** Standard error so far. */
  complaints(): string;
  /** Ends it with SIGTERM. Resolves with its exit code. */
  stop(): Promise<number | null>;
  kill(): Promise<void>;
}

export type Environment = Readonly<Record<string, string>>;

/** @param tree where the version lies, with its packages */
export async function startVersion(tree: string, environment: Environment): Promise<VersionRunning> {
  const env = { PATH: process.env.PATH ?? '', HOST: '127.0.0.1', PORT: '0', ADMIN_PORT: '0', ...environment };
  const child = spawn(join(tree, 'bin/gateway'), ['start', '--json'], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const end = () => child.kill('SIGKILL');
  process.once('exit', end);
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  void ended.then(() => process.off('exit', end));
  let head = '';
  let complaints = '';
  child.stderr.on('data', (chunk: Buffer) => (complaints += chunk));
  const ports = await new Promise<RegExpExecArray | undefined>((resolve) => {
    child.stdout.on('data', (chunk: Buffer) => {
      if (head.length > 100_000) return;
      head += chunk;
      const found = /^\{"port":(\d+),.*"admin_port":(\d+)/m.exec(head);
      if (found) resolve(found);
    });
    void ended.then(() => resolve(undefined));
  });
  if (ports === undefined) throw new Error(`The gateway did not start:\n${complaints}`);
  return {
    port: Number(ports[1]),
    adminPort: Number(ports[2]),
    complaints: () => complaints,
    async stop() {
      child.kill('SIGTERM');
      return ended;
    },
    async kill() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/** Runs a command of a version. Resolves with its standard output; rejects with what it complains about. */
export function runVersion(tree: string, environment: Environment, ...args: readonly string[]): Promise<string> {
  const env = { PATH: process.env.PATH ?? '', ...environment };
  return new Promise((resolve, reject) => {
    execFile(join(tree, 'bin/gateway'), [...args], { env }, (error, stdout, stderr) => {
      if (error) reject(new Error(`${args.join(' ')}: ${stderr}${stdout}`));
      else resolve(stdout);
    });
  });
}

/** Makes an organization and a live key with all scopes. Returns the id and the text of the key. */
export async function issueIn(
  tree: string,
  environment: Environment,
  { organization = 'org_acme', tier = 'standard' } = {},
): Promise<{ readonly id: string; readonly key: string }> {
  await runVersion(tree, environment, 'orgs', 'create', '--id', organization, '--name', organization, '--tier', tier);
  return createKey(tree, environment, organization);
}

export async function createKey(tree: string, environment: Environment, organization: string) {
  const flags = ['--org', organization, '--mode', 'live', '--scopes', '*', '--json'];
  return JSON.parse(await runVersion(tree, environment, 'keys', 'create', ...flags)) as { id: string; key: string };
}
