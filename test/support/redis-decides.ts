// Tests of exact counts in Redis, through whole gateways: on a busy machine it may answer too late, and then the outage policy decides.

import type { TestGateway } from './gateway.ts';

/** Then the assertions of the test tell what is wrong. */
const ROUNDS_MAX = 10;
/** How many requests the outage policy had decided when the last round ended. */
const decidedBefore = new WeakMap<TestGateway, number>();

export interface Round<T> {
  readonly gateways: readonly TestGateway[];
  readonly outcome: T;
}

/** Plays rounds, each on counters of its own, until Redis alone has decided in one; that one's outcome. */
export async function untilRedisDecides<T>(play: (round: number) => Promise<Round<T>>): Promise<T> {
  for (let round = 1; ; round += 1) {
    const { gateways, outcome } = await play(round);
    const late = await Promise.all(gateways.map(decidedLocally));
    if (late.every((count) => count === 0) || round === ROUNDS_MAX) return outcome;
  }
}

/** How many requests it has decided by its outage policy since the last round. */
async function decidedLocally(gateway: TestGateway): Promise<number> {
  const text = await (await fetch(`${gateway.adminUrl}/metrics`)).text();
  const series = /^gateway_rate_limit_decisions_by_source_total\{source="(?:local|allow|refuse)"\} (\d+)$/gm;
  const count = [...text.matchAll(series)].reduce((sum, [, one]) => sum + Number(one), 0);
  const since = count - (decidedBefore.get(gateway) ?? 0);
  decidedBefore.set(gateway, count);
  return since;
}
