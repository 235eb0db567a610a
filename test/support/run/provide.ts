// Makes sure that the tests can have a real Redis (REDIS_URL, else a redis-server on the PATH, else the Debian package) and a real ACME
// server (pebble on the PATH, else the Debian package). Ends with an error that says how to get one; tests are never skipped for lack of
// it.

import { spawnSync } from 'node:child_process';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { type Needed, neededPrograms } from './programs.ts';

const POLICY = '/usr/sbin/policy-rc.d';

function apt(...args: readonly string[]): void {
  const { status, error, stdout, stderr } = spawnSync('apt-get', args, {
    encoding: 'utf8',
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  });
  if (status === 0) return;
  throw new Error(`apt-get ${args.join(' ')} failed.\n${error?.message ?? `${stdout}${stderr}`}`);
}

/**
 * Installs the packages without letting them start a service: Debian runs policy-rc.d first, and 101 means no. The machine is one for
 * tests: nothing waits until the disk has the files.
 */
function install(packages: readonly string[]): void {
  const ownPolicy = !existsSync(POLICY);
  if (ownPolicy) writeFileSync(POLICY, '#!/bin/sh\nexit 101\n', { mode: 0o755 });
  try {
    apt('update', '-o', 'Acquire::Languages=none');
    apt('install', '-y', '--no-install-recommends', '-o', 'Dpkg::Options::=--force-unsafe-io', ...packages);
  } finally {
    if (ownPolicy) rmSync(POLICY);
  }
}

function provide(missing: readonly Needed[]): void {
  const names = missing.map(({ program }) => program);
  if (names.length > 0 && process.getuid?.() === 0 && existsSync('/etc/debian_version')) {
    console.log(`The tests need the Debian packages ${names.join(' and ')}: installing them (no service is started).`);
    install(names);
  }
  for (const { program, what, remedy } of neededPrograms())
    throw new Error(`There is no ${program} on the PATH. The tests need ${what}: ${remedy}`);
}

try {
  provide(neededPrograms());
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
