// Runs before the tests and makes sure that they can have a real Redis (REDIS_URL, else a redis-server on the PATH, else the Debian
// package) and a real ACME server (pebble on the PATH, else the Debian package). Ends with an error that says how to get one; tests are
// never skipped for lack of it.

import { spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';

interface Needed {
  readonly what: string;
  readonly program: string;
  /** Set if the tests may use another one. */
  readonly given?: string | undefined;
  readonly remedy: string;
}

/** The Debian packages have the names of the programs. */
const needed: readonly Needed[] = [
  {
    what: 'a Redis server',
    program: 'redis-server',
    given: process.env.REDIS_URL,
    remedy:
      'put redis-server (7.0 or later) on the PATH, for example with "sudo apt-get install redis-server" or "brew install redis", or set REDIS_URL to a server the tests may use.',
  },
  {
    what: 'an ACME server',
    program: 'pebble',
    remedy:
      'put pebble and pebble-challtestsrv (2.4.0 or later) on the PATH, for example with "sudo apt-get install pebble".',
  },
];

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
function installPackage(name: string): void {
  const ownPolicy = !existsSync(POLICY);
  if (ownPolicy) writeFileSync(POLICY, '#!/bin/sh\nexit 101\n', { mode: 0o755 });
  try {
    run('apt-get', ['update']);
    run('apt-get', ['install', '-y', '--no-install-recommends', name]);
  } finally {
    if (ownPolicy) rmSync(POLICY);
  }
}

function provide({ what, program, given, remedy }: Needed): void {
  if (given || onPath(program)) return;
  if (process.getuid?.() === 0 && existsSync('/etc/debian_version')) {
    console.log(`The tests need ${what}: installing the Debian package ${program} (no service is started).`);
    installPackage(program);
    if (onPath(program)) return;
  }
  throw new Error(`There is no ${program} on the PATH. The tests need ${what}: ${remedy}`);
}

for (const one of needed) {
  try {
    provide(one);
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}
