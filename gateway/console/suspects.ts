// Targets whose last request failed, too few times in a row to be a cause. One failure may be chance, but a reader of states must not take
// such a target for one that works. The page of the console says the same (page/states.js).

import type { UpstreamReport } from './cause.ts';

type Target = NonNullable<UpstreamReport['targets']>[number];

/** The state of a target, for people. */
export function shownState({ state, last_error: error }: Target): string {
  return state === 'healthy' && error ? 'suspect' : state;
}

/** Returns the names of the upstreams with such a target. */
export function suspectsAmong(upstreams: Readonly<Record<string, UpstreamReport>>): string[] {
  const isSuspect = (target: Target) => shownState(target) === 'suspect';
  return Object.keys(upstreams).filter((name) => upstreams[name]?.targets?.some(isSuspect));
}
