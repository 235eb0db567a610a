// Tests of exact counts in Redis, through whole gateways: on a busy machine it may answer too late, and then the outage policy decides.

import type { TestGateway } from './gateway.ts';

/** After this many rounds, the assertions of the test report the fault. */
const ROUNDS_MAX = 10;
/** The number of requests that the outage policy had decided at the end of the last round. */
const decidedBefore = new WeakMap<TestGateway, number>();

export interface Round<T> {
  readonly gateways: readonly TestGateway[];
  readonly outcome: T;
}

/** Plays rounds, each with new counters, until only Redis has decided in one. Returns the outcome of that round. */
export async function untilRedisDecides<T>(play: (round: number) => Promise<Round<T>>): Promise<T> {
  for (let round = 1; ; round += 1) {
    const { gateways, outcome } = await play(round);
    const late = await Promise.all(gateways.map(decidedLocally));
    if (late.every((count) => count === 0) || round === ROUNDS_MAX) return outcome;
  }
}

/** Returns the number of requests that the gateway has decided by its outage policy since the last round. */
async function decidedLocally(gateway: TestGateway): Promise<number> {
  const text = await (await fetch(`${gateway.adminUrl}/metrics`)).text();
  const series = /^gateway_rate_limit_decisions_by_source_total\{source="(?:local|allow|refuse)"\} (\d+)$/gm;
  const count = [...text.matchAll(series)].reduce((sum, [, one]) => sum + Number(one), 0);
  const since = count - (decidedBefore.get(gateway) ?? 0);
  decidedBefore.set(gateway, count);
  return since;
}
