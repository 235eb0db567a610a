// The type of the input for the search for causes: the counts of the last minute, and facts about their operations.

import type { PresentCounts } from '../history/history-counts.ts';
import type { OrganizationNearLimit } from '../history/sample.ts';
import type { FailureCodes } from './failure-codes.ts';

/** The counts of a gateway, for the search for causes. */
export interface PresentTraffic {
  /** Upper bounds of the duration buckets, in seconds. */
  readonly bounds: readonly number[];
  readonly operations: readonly PresentCounts[];
  readonly organizations: readonly PresentCounts[];
  /** The time until each upstream began to respond, without the wait for a place. */
  readonly upstreams: readonly PresentCounts[];
  readonly nearLimits: readonly OrganizationNearLimit[];
  /** Returns the upstream of an operation; undefined if it is unknown. */
  upstreamOf(operation: string): string | undefined;
  /** The codes of failing operations, and since when they fail; some may be absent. */
  readonly failureCodes: FailureCodes;
  /** Returns the 90th percentile before an operation became slow; undefined if it is not slow. */
  usualMs(operation: string): number | undefined;
}
