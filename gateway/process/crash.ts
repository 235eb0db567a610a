// Handles uncaught errors. The process logs the error and ends. After an uncaught error, the memory of the process may be inconsistent, so
// it is safer that the primary or a supervisor starts a new process.

import type { Log } from '../observe/log/log.ts';
import { tellAtEnd } from '../observe/log/standard-output.ts';
import type { HostProcess } from './host-process.ts';

/**
 * Ends the process on an uncaught error. Flushes the log, writes one fatal line, and exits with code 1. If standard output does not take
 * the line, writes the error to standard error.
 */
export function endOnCrash(
  { onCrash, exit }: Pick<HostProcess, 'onCrash' | 'exit'>,
  log: Pick<Log, 'logger' | 'flush'>,
): void {
  onCrash((thrown) => {
    try {
      // This comes first, because the log drops lines while too many wait, and would drop the fatal line.
      log.flush();
      const error = errorOf(thrown);
      log.logger.fatal({ err: error }, 'uncaught error: this process ends');
      if (!log.flush()) tellAtEnd(`gateway: uncaught error: ${error.stack}\n`);
    } finally {
      exit(1);
    }
  });
}

/** Returns the thrown value as an Error. */
function errorOf(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}
