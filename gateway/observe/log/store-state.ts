// Logs when a store can no longer be reached, and when it can be reached again.

import type { Log } from './log.ts';

/**
 * @param of the contents of the store, for the log line
 * @param levelOfUp the level of the line about a store that can be reached; `debug` if its first use is treated as a change, too
 */
export function logStoreState(
  { logger }: Pick<Log, 'logger'>,
  of: string,
  levelOfUp: 'info' | 'debug' = 'info',
): (state: { readonly state: string }) => void {
  return (state) => logger[state.state === 'up' ? levelOfUp : 'error'](state, `the store of ${of} changed its state`);
}
