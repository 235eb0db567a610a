// Pure: finds out whether most requests are refused before their organization is known, from the counts of the last minute.

import { figuresOf } from '../history/figures.ts';
import type { PresentCounts } from '../history/history-counts.ts';
import { type FoundCause, failureCause, warningCause } from './cause.ts';
import type { PresentTraffic } from './present.ts';
import { count, telling } from './telling.ts';

const REQUESTS_MIN = 20;
/** The smallest share of refused requests that is a cause. */
const SHARE = 0.5;
/**
 * The smallest share that is a failure instead of a warning. Unknown callers add requests to the usual requests and do not replace them, so
 * at this share the usual requests are refused, too.
 */
const NEARLY_ALL = 0.9;
/** A greater share in the hour before shows that such a share is usual for this gateway. */
const USUAL_SHARE = 0.1;

/**
 * Returns a cause if most requests are refused before their organization is known, but few were in the hour before. For example, the
 * gateway refuses every customer after the key store was wiped or restored.
 *
 * @param lasts whether the cause lasts already, so that the hour before is not compared, because it includes the outage
 */
export function unknownCallers({ bounds, operations, organizations }: PresentTraffic, lasts: boolean): FoundCause[] {
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
  const before = lasts ? '' : `, ${Math.round((100 * hour.refused) / hour.requests)} % in the hour before`;
  const make = minute.refused >= NEARLY_ALL * minute.requests ? failureCause : warningCause;
  return [
    make(
      { topic: 'unknown callers' },
      telling`Most requests are refused before their organization is known: ${count('refused')} of ${count('requests')} in the last minute${before}.`,
      'Their clients get 401, or 429 when they repeat it. A key store that was wiped or restored does not know their keys.',
      {
        title: 'Most requests are refused before their organization is known.',
        runbook: 'GatewayManyAuthenticationFailures',
        details: '#/requests?status=refused',
        figures: { requests: minute.requests, refused: minute.refused },
        extent: { of: 'unknown callers', names: [], span: 'minute' },
      },
    ),
  ];
}
