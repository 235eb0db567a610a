// The programs that tests start, and the wait until they are installed: the tests that need none of them run meanwhile.

import { accessSync, constants, existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** A program that is not there. The Debian package has its name. */
export interface Needed {
  readonly what: string;
  readonly program: string;
  readonly remedy: string;
}

const NEEDED: readonly Needed[] = [
  {
    what: 'a Redis server',
    program: 'redis-server',
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

const POLL_MS = 50;

/** Returns the needed programs that are not on the PATH. With REDIS_URL, no program is needed for Redis. */
export function neededPrograms(): Needed[] {
  return NEEDED.filter(
    ({ program }) => !isOnPath(program) && !(program === 'redis-server' && process.env.REDIS_URL !== undefined),
  );
}

/** Resolves when no program is being installed: when the file that TEST_PROVIDING names is gone. */
export async function programsProvided(): Promise<void> {
  const { TEST_PROVIDING: mark } = process.env;
  while (mark !== undefined && existsSync(mark)) await sleep(POLL_MS);
}

function isOnPath(program: string): boolean {
  return (process.env.PATH ?? '').split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
