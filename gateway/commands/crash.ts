// Handles uncaught errors: the process logs the error and ends. Its memory may be inconsistent by then, so a restart by the primary or a
// supervisor serves clients better than going on.

import type { Log } from '../observe/log.ts';
import type { CommandContext } from './context.ts';

/** On an uncaught error: flushes the log, writes one fatal line, and exits with code 1. */
export function endOnCrash(
  { onCrash, exit }: Pick<CommandContext, 'onCrash' | 'exit'>,
  log: Pick<Log, 'logger' | 'flush'>,
): void {
  onCrash((thrown) => {
    try {
      log.flush();
      log.logger.fatal({ err: errorOf(thrown) }, 'uncaught error: this process ends');
      log.flush();
    } finally {
      exit(1);
    }
  });
}

/** Wraps thrown values that are not errors. */
function errorOf(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}
