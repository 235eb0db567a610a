// Writes notes of the gateway itself to the audit log, beside the notes of operators.

import type { KeyStore } from '../auth/store/key-store.ts';
import type { Log } from '../observe/log/log.ts';

/**
 * Returns a function that writes a note with the name of this instance. The function never rejects; a failure of the store is logged.
 *
 * @param what the name of the noted event in the log line of a failure
 */
export function createAuditNote(
  { audit }: Pick<KeyStore, 'audit'>,
  { logger }: Pick<Log, 'logger'>,
  what: string,
  instance: string,
) {
  return async function note(by: string, details: Readonly<Record<string, unknown>>): Promise<void> {
    try {
      await audit.append('configuration.changed', by, { ...details, instance });
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      logger.error({ reason, ...details }, `${what} could not be written to the audit log`);
    }
  };
}
