// The limits in force that the documentation shows to clients: tiers that the configuration shows, limits of operations, and sizes.

import type { Configuration } from '../configuration.ts';
import { ANONYMOUS_TIER, extraOf, OPEN_STREAMS_MAX } from '../limits/limit-rules.ts';
import type { PublicLimits } from '../portal/limits-page.ts';

/** Returns the limits that the documentation shows; undefined if the configuration shows no tiers. */
export function publicLimits(
  { gateway, limits }: Configuration['config'],
  contracts: Configuration['contracts'],
): PublicLimits | undefined {
  const { tiers: shown } = gateway.portal;
  if (shown === false) return undefined;
  const operations = contracts.operations.map(({ operation }) => operation);
  const isShown = (name: string) => name !== ANONYMOUS_TIER && (shown === true || shown.includes(name));
  const { [ANONYMOUS_TIER]: anonymous } = limits.tiers;
  return {
    countPer: limits.countPer,
    tiers: Object.entries(limits.tiers)
      .filter(([name, { enforce }]) => isShown(name) && enforce)
      .map(([name, { requests, windowSeconds, openStreams = OPEN_STREAMS_MAX }]) => ({
        name,
        requests,
        windowSeconds,
        openStreams,
      })),
    anonymous: anonymous?.enforce ? anonymous : undefined,
    extra: Object.entries(limits.extra)
      .filter(([, { enforce }]) => enforce)
      .map(([name, { requests, windowSeconds, per }]) => ({
        name,
        requests,
        windowSeconds,
        per,
        operationIds: operations.filter((one) => extraOf(limits, one) === name).map(({ id }) => id),
      })),
    costs: operations
      .map(({ id, cost }) => ({ operationId: id, cost: limits.operations[id]?.cost ?? cost }))
      .filter(({ cost }) => cost > 1),
    streamedOperationIds: operations.filter(({ body }) => body === 'stream').map(({ id }) => id),
    sizes: gateway.limits,
  };
}
