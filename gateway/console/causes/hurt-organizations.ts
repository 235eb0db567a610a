// Finds the organizations whose requests suffer from a cause, in recent log lines. The counts know either the operation or the organization
// of a request, and not both. Lines are read only while a cause lasts.

import { MINUTE_MS, SLOW_MIN_MS } from '../../shared/durations.ts';
import type { ExchangeFilter, ExchangeLine } from '../../shared/questions/exchange-filter.ts';
import type { About, FoundCause } from './cause.ts';

/** Maximum number of causes whose lines are read at a time, because each read goes through all kept lines. */
const CAUSES_MAX = 5;
const LINES_MAX = 200;

const FAILED = { status: '5xx' } as const;
const LATE = { durationMinMs: SLOW_MIN_MS } as const;

/** The requests that suffer from causes of a topic. Callers of lost keys are not known, and other causes concern no requests. */
const SUFFERING: Partial<Record<About['topic'], (name: string | undefined) => Omit<ExchangeFilter, 'limit'>>> = {
  redis: () => FAILED,
  stores: () => FAILED,
  errors: () => FAILED,
  upstream: (upstream) => ({ upstream, ...FAILED }),
  'operations of': (upstream) => ({ upstream, ...FAILED }),
  operation: (operation) => ({ operation, ...FAILED }),
  contract: (operation) => ({ operation, status: 'broken' }),
  slow: (operation) => ({ operation, ...LATE }),
  'slow operations of': (upstream) => ({ upstream, ...LATE }),
};

/** Returns the causes with their organizations, the one with the most requests first. */
export function withOrganizations(
  causes: readonly FoundCause[],
  recent: (filter: ExchangeFilter) => Promise<readonly ExchangeLine[]>,
  nowMs: number,
): Promise<FoundCause[]> {
  let reads = 0;
  const found = causes.map(async (cause) => {
    const filter = cause.hasRecovered ? undefined : SUFFERING[cause.about.topic]?.(cause.about.name);
    if (filter === undefined || reads === CAUSES_MAX) return cause;
    reads += 1;
    // If the lines cannot be read, causes name no organizations.
    const lines = await recent({ ...filter, fromMs: nowMs - MINUTE_MS, limit: LINES_MAX }).catch(() => []);
    const organizations = organizationsIn(lines);
    return organizations.length === 0 ? cause : { ...cause, organizations };
  });
  return Promise.all(found);
}

function organizationsIn(lines: readonly ExchangeLine[]): string[] {
  const known = lines.flatMap(({ organization }) => (typeof organization === 'string' ? [organization] : []));
  return [...Map.groupBy(known, (name) => name)]
    .sort(([, one], [, other]) => other.length - one.length)
    .map(([name]) => name);
}
