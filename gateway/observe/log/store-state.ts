// Logs when a store can no longer be reached, and when it can be reached again.

import type { Log } from './log.ts';

/**
 * @param of what the store has, as log lines call it
 * @param levelOfUp the level of the line about a store that can be reached; `debug` if its first use is such a change, too
 */
export function logStoreState(
  { logger }: Pick<Log, 'logger'>,
  of: string,
  levelOfUp: 'info' | 'debug' = 'info',
): (state: { readonly state: string }) => void {
  return (state) => logger[state.state === 'up' ? levelOfUp : 'error'](state, `the store of ${of} changed its state`);
}
