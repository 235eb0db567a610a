// Runs before the tests and makes sure that they can have a real Redis: REDIS_URL, else a redis-server on the PATH, else the
// Debian package. Ends with an error that says how to get one; tests are never skipped for lack of it.

import { spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';

const REMEDY =
  'The tests need a Redis server: put redis-server (7.0 or later) on the PATH, for example with ' +
  '"sudo apt-get install redis-server" or "brew install redis", or set REDIS_URL to a server the tests may use.';

const POLICY = '/usr/sbin/policy-rc.d';

function onPath(program: string): boolean {
  return (process.env.PATH ?? '').split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

function run(program: string, args: readonly string[]): void {
  const { status, error, stdout, stderr } = spawnSync(program, args, {
    encoding: 'utf8',
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  });
  if (status === 0) return;
  throw new Error(`${program} ${args.join(' ')} failed.\n${error?.message ?? `${stdout}${stderr}`}`);
}

/** Installs the package without letting it start a service: Debian runs policy-rc.d first, and 101 means no. */
function installPackage(): void {
  const ownPolicy = !existsSync(POLICY);
  if (ownPolicy) writeFileSync(POLICY, '#!/bin/sh\nexit 101\n', { mode: 0o755 });
  try {
    run('apt-get', ['update']);
    run('apt-get', ['install', '-y', '--no-install-recommends', 'redis-server']);
  } finally {
    if (ownPolicy) rmSync(POLICY);
  }
}

function provideRedis(): void {
  if (process.env.REDIS_URL || onPath('redis-server')) return;
  if (process.getuid?.() === 0 && existsSync('/etc/debian_version')) {
    console.log('The tests need a Redis server: installing the Debian package redis-server (no service is started).');
    installPackage();
    if (onPath('redis-server')) return;
  }
  throw new Error('There is no redis-server on the PATH.');
}

try {
  provideRedis();
} catch (error) {
  console.error(`${error instanceof Error ? error.message : error}\n${REMEDY}`);
  process.exitCode = 1;
}
