// What a process does about a mistake that nobody caught: it says so and ends. What it holds in memory may be half changed by then, so
// that whoever starts it anew, the primary or a supervisor, does more for clients than going on would.

import type { Log } from '../observe/log.ts';
import type { CommandEnvironment } from './environment.ts';

/** From now on one fatal line tells of it, everything that waits to be logged is written before, and the exit code is 1. */
export function endOnCrash(
  { onCrash, exit }: Pick<CommandEnvironment, 'onCrash' | 'exit'>,
  log: Pick<Log, 'logger' | 'flush'>,
): void {
  onCrash((thrown) => {
    try {
      log.flush();
      log.logger.fatal({ err: errorOf(thrown) }, 'a mistake in the gateway that nobody caught: this process ends');
      log.flush();
    } finally {
      exit(1);
    }
  });
}

/** Anything can be thrown; what is no error is told by its text. */
function errorOf(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}
