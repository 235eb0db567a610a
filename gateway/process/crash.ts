// Handles uncaught errors: the process logs the error and ends. Its memory may be inconsistent by then, so a restart by the primary or a
// supervisor serves clients better than going on.

import type { Log } from '../observe/log/log.ts';
import { tellAtEnd } from '../observe/log/standard-output.ts';
import type { HostProcess } from './host-process.ts';

/**
 * On an uncaught error: flushes the log, writes one fatal line, and exits with code 1. If standard output does not take the line, writes
 * the error to standard error.
 */
export function endOnCrash(
  { onCrash, exit }: Pick<HostProcess, 'onCrash' | 'exit'>,
  log: Pick<Log, 'logger' | 'flush'>,
): void {
  onCrash((thrown) => {
    try {
      // First, because the line would find no room behind many that wait.
      log.flush();
      const error = errorOf(thrown);
      log.logger.fatal({ err: error }, 'uncaught error: this process ends');
      if (!log.flush()) tellAtEnd(`gateway: uncaught error: ${error.stack}\n`);
    } finally {
      exit(1);
    }
  });
}

/** Wraps thrown values that are not errors. */
function errorOf(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}
