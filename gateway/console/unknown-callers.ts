// Pure: whether most requests are refused before an organization is known, and were not before: after a key store that was wiped or
// restored, every customer is refused, and nothing else is wrong.

import { type Cause, failureCause, warningCause } from './cause.ts';
import { figuresOf } from './figures.ts';
import type { PresentCounts } from './history.ts';
import type { Present } from './traffic-causes.ts';

const REQUESTS_MIN = 20;
/** From the first share on it is told, from the second on it is a failure: others may add requests to the usual ones, not replace them. */
const SHARE = 0.5;
const NEARLY_ALL = 0.9;
/** A greater share in the hour before is usual here. */
const USUAL_SHARE = 0.1;

/** @param lasts whether the cause was there at the last look: an outage makes its own hour before unusual */
export function unknownCallers({ bounds, operations, organizations }: Present, lasts: boolean): Cause[] {
  const countsIn = (period: 'minute' | 'latest' | 'hour') => {
    const sumOf = (all: readonly PresentCounts[], of: 'requests' | 'refused') =>
      all.reduce((total, one) => total + figuresOf(bounds, one[period])[of], 0);
    const requests = sumOf(operations, 'requests');
    return { requests, refused: Math.max(0, sumOf(operations, 'refused') - sumOf(organizations, 'refused')) };
  };
  const [minute, latest, hour] = [countsIn('minute'), countsIn('latest'), countsIn('hour')];
  if (minute.refused < REQUESTS_MIN || minute.refused < SHARE * minute.requests) return [];
  if (latest.refused < SHARE * latest.requests) return [];
  if (!lasts && (hour.requests < REQUESTS_MIN || hour.refused > USUAL_SHARE * hour.requests)) return [];
  const id = 'unknown callers';
  const before = lasts ? '' : `, ${Math.round((100 * hour.refused) / hour.requests)} % in the hour before`;
  const make = minute.refused >= NEARLY_ALL * minute.requests ? failureCause : warningCause;
  return [
    make(
      id,
      `Most requests are refused before their organization is known: ${minute.refused} of ${minute.requests} in the last minute${before}.`,
      'Their clients get 401, or 429 when they repeat it. A key store that was wiped or restored does not know their keys.',
      {
        title: 'Most requests are refused before their organization is known.',
        runbook: 'GatewayManyAuthenticationFailures',
        details: '#/requests?status=refused',
        figures: { requests: minute.requests, refused: minute.refused },
      },
    ),
  ];
}
