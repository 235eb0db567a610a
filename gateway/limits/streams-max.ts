// Pure: how many streams an organization may have open in one process.

import type { Caller } from '../exchange.ts';
import { ANONYMOUS_TIER, type LimitRules } from './charges.ts';

const OPEN_STREAMS_MAX = 100;

export function openStreamsMaxOf(
  { tiers, organizations }: Pick<LimitRules, 'tiers' | 'organizations'>,
  { organization }: Caller,
): number {
  const ownRule = organization && organizations[organization.id];
  return ownRule?.openStreams ?? tiers[organization?.tier ?? ANONYMOUS_TIER]?.openStreams ?? OPEN_STREAMS_MAX;
}
