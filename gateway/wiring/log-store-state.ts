// Logs when a store can no longer be reached, and when it can be reached again.

import type { Log } from '../observe/log.ts';

/** @param name of the store, as log lines call it */
export function logStoreState({ logger }: Log, name: string): (state: { readonly state: string }) => void {
  return (state) =>
    logger[state.state === 'up' ? 'info' : 'error'](state, `the store of the ${name} changed its state`);
}
