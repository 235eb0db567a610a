// Runs the steps of the Dockerfile without a container engine: a production-only installation in a tree that cannot be written to, by
// an account that owns nothing, from the first health check over a request to SIGTERM. Ends with 1 as soon as a step does not hold.

import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { chmodSync, chownSync, copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { type LaidOut, layOut, makeReadOnly, makeWritable } from './lay-out.ts';

const run = promisify(execFile);
const PATIENCE_MS = 120_000;
const NOBODY = 65_534;
const isRoot = process.getuid?.() === 0;

const directory = mkdtempSync(join(tmpdir(), 'gateway-image-'));
chmodSync(directory, 0o755);
let started: ChildProcess | undefined;
try {
  await tryImage();
} catch (error) {
  process.stderr.write(`try-image: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
} finally {
  started?.kill('SIGKILL');
  makeWritable(directory);
  rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
}

async function tryImage(): Promise<void> {
  const path = bringNode();
  const built = await layOut(join(directory, 'stages'), path);
  const { image } = built;
  say(`laid out ${image.workDirectory}, with the packages of production only`);

  const top = built.at('/');
  makeReadOnly(top);
  for (const volume of image.volumes) giveAway(built.at(volume));
  const environment = await environmentOf(built, path);
  await expectReadOnly(built, environment);
  say('nothing of it can be written to');

  const { child, ended, output } = start(built, environment);
  await until(async () => {
    if (child.exitCode !== null) throw new Error(`It ended with ${child.exitCode}:\n${output()}`);
    return (await passes(image.healthCheck, built, environment)) ? true : undefined;
  });
  say('the health check passes');

  const curl = await until(async () => /curl '([^']+)' -H 'Authorization: ([^']+)'/.exec(output()) ?? undefined);
  const { port } = new URL(curl[1] ?? '');
  const url = (curl[1] ?? '').replace(`localhost:${port}`, `127.0.0.1:${environment.PORT}`);
  const answer = await fetch(url, { headers: { authorization: curl[2] ?? '' } });
  if (answer.status !== 200) throw new Error(`A request was answered with ${answer.status}: ${await answer.text()}`);
  say('a request is answered with 200');

  child.kill('SIGTERM');
  const code = await ended;
  if (code !== 0) throw new Error(`SIGTERM ended it with ${code}:\n${output()}`);
  if (await passes(image.healthCheck, built, environment))
    throw new Error('The health check passes without a gateway.');
  say('SIGTERM ends it with 0, and the health check fails');
}

/** The image has Node 24 on its PATH: so has this one, wherever others can read it. */
function bringNode(): string {
  const place = join(directory, 'node');
  mkdirSync(place);
  copyFileSync(process.execPath, join(place, 'node'));
  chmodSync(join(place, 'node'), 0o755);
  return `${place}:${process.env.PATH ?? ''}`;
}

function giveAway(volume: string): void {
  chmodSync(volume, 0o700);
  if (isRoot) chownSync(volume, NOBODY, NOBODY);
}

/** That of the Dockerfile, its volumes where they are here, on ports that are free. Nothing of this process's own gets in. */
async function environmentOf({ image, at }: LaidOut, path: string): Promise<Record<string, string>> {
  const own = Object.entries(image.environment).map(([name, value]) => [
    name,
    image.volumes.some((volume) => value.startsWith(volume)) ? at(value) : value,
  ]);
  const [PORT = '', ADMIN_PORT = ''] = (await Promise.all([freePort(), freePort()])).map(String);
  return { ...Object.fromEntries(own), PATH: path, HOST: '127.0.0.1', PORT, ADMIN_PORT };
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** The same command line for an account that owns nothing: `nobody`, if this one may choose. */
function asNobody([file = '', ...args]: readonly string[]): [string, string[]] {
  const account = ['--reuid', String(NOBODY), '--regid', String(NOBODY), '--clear-groups', '--no-new-privs'];
  return isRoot ? ['setpriv', [...account, file, ...args]] : [file, args];
}

async function expectReadOnly({ image, at }: LaidOut, env: Record<string, string>): Promise<void> {
  for (const place of [image.workDirectory, join(image.workDirectory, 'config')]) {
    const [file, args] = asNobody(['touch', at(join(place, 'written'))]);
    const wasWritten = await run(file, args, { env }).then(
      () => true,
      () => false,
    );
    if (wasWritten) throw new Error(`${place} can be written to.`);
  }
}

function start({ image, at }: LaidOut, env: Record<string, string>) {
  const [file, args] = asNobody(image.command);
  const child = spawn(file, args, { cwd: at(image.workDirectory), env, stdio: ['ignore', 'pipe', 'pipe'] });
  started = child;
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (text += chunk));
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  return { child, ended, output: () => text };
}

async function passes(command: readonly string[], { image, at }: LaidOut, env: Record<string, string>) {
  const [file, args] = asNobody(command);
  return run(file, args, { env, cwd: at(image.workDirectory) }).then(
    () => true,
    () => false,
  );
}

async function until<T>(ask: () => Promise<T | undefined>): Promise<T> {
  const endsAt = performance.now() + PATIENCE_MS;
  while (performance.now() < endsAt) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    await sleep(200);
  }
  throw new Error('It took too long.');
}

function say(what: string): void {
  process.stdout.write(`${what}\n`);
}
