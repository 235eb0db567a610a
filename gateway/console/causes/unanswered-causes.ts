// Pure: finds upstreams that do not answer. If a service accepts requests and never answers, no request fails before its deadline, so such
// a service is found by requests that wait for it longer than usual.

import { figuresOf, longestMs, quantileMs } from '../history/figures.ts';
import {
  type About,
  type FoundCause,
  failureCause,
  SILENT,
  type StatusForCauses,
  type UpstreamReport,
} from './cause.ts';
import type { PresentTraffic } from './present.ts';
import { count, duration, telling } from './telling.ts';

type Row = NonNullable<UpstreamReport['unanswered']>[number];

const REQUESTS_MIN = 3;
/** An operation that answers faster than this is late when it has not answered for LATE_MS. */
const SLOWER = 4;
const LATE_MS = 5000;
/** For an operation whose usual durations are not known. */
const LATE_UNKNOWN_MS = 10_000;
const COMPARED_REQUESTS_MIN = 20;
const PART = 0.9;

interface UnansweredRequests {
  readonly upstream: string;
  readonly mode: string;
  /** The operations whose requests wait for longer than usual. */
  readonly late: readonly Row[];
}

interface UnansweredOptions {
  /** Whether another cause says that the upstream fails. */
  hasFailed(upstream: string): boolean;
  /**
   * Whether the cause with this subject was there before, and was made here. The hour before then includes the outage, and is not compared.
   */
  wasSilent(about: About): boolean;
}

export function unansweredIn(
  { upstreams = {} }: Pick<StatusForCauses, 'upstreams'>,
  present: PresentTraffic,
  { hasFailed, wasSilent }: UnansweredOptions,
): UnansweredRequests[] {
  const all = Object.entries(upstreams).flatMap(([upstream, { unanswered = [] }]) =>
    [...Map.groupBy(unanswered, ({ mode = 'live' }) => mode)].map(([mode, rows]) => {
      const isLate = ({ operation, oldest_ms: ageMs }: Row) =>
        ageMs >= (wasSilent(failingTarget({ upstream, mode })) ? LATE_MS : lateMs(operation, present));
      return { upstream, mode, late: rows.filter(isLate) };
    }),
  );
  return all.filter(({ upstream, late }) => requestsIn(late) >= REQUESTS_MIN && !hasFailed(upstream));
}

export function unansweredCause(silent: UnansweredRequests, nowMs: number): FoundCause {
  const { upstream, late } = silent;
  const [first, ...others] = late as [Row, ...Row[]];
  const what = others.length === 0 ? `${first.operation} of ${upstream}` : `Upstream ${upstream}`;
  const of = others.length === 0 ? '' : ` with ${late.length} of its operations`;
  const requests = requestsIn(late);
  const oldestMs = Math.max(...late.map(({ oldest_ms: ms }) => ms));
  return failureCause(
    failingTarget(silent),
    telling`${what} does not answer: ${count('requests')} requests wait${of}, the oldest for ${duration('oldest_ms')}.`,
    'The service has these requests and has not begun to answer. Each gets 504 upstream_timeout when its time is over.',
    {
      title: `${what} does not answer.`,
      fault: SILENT,
      since: new Date(nowMs - oldestMs).toISOString(),
      runbook: 'GatewayTargetDown',
      details: `#/upstreams/${encodeURIComponent(upstream)}`,
      figures: { requests, oldest_ms: oldestMs },
    },
  );
}

/**
 * Returns the subject of the cause of a failing target, because the first requests that end in a timeout turn the same outage into that
 * cause.
 */
function failingTarget({ upstream, mode }: Pick<UnansweredRequests, 'upstream' | 'mode'>): About {
  return { topic: 'upstream', name: upstream, detail: mode };
}

/** Whether a cause is about requests that wait. */
export function isOfUnanswered({ figures }: FoundCause): boolean {
  return figures?.oldest_ms !== undefined;
}

function requestsIn(rows: readonly Row[]): number {
  return rows.reduce((sum, { requests }) => sum + requests, 0);
}

/**
 * Returns the age from which on a request of the operation is late; Infinity for an operation that usually takes longer than can be
 * counted.
 */
function lateMs(operation: string, { bounds, operations, usualMs }: PresentTraffic): number {
  const hour = operations.find(({ name }) => name === operation)?.hour;
  if (hour === undefined || figuresOf(bounds, hour).requests < COMPARED_REQUESTS_MIN) return LATE_UNKNOWN_MS;
  const usual = usualMs(operation) ?? quantileMs(bounds, hour, PART) ?? 0;
  return usual >= longestMs(bounds) ? Number.POSITIVE_INFINITY : Math.max(LATE_MS, SLOWER * usual);
}
