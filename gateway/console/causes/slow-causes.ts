// Finds operations that have become slow, by the counts of the last minute, so that the durations equal the durations of the charts. An
// operation is compared with its own past, because an operation that always takes long is not slow.

import { SLOW_MIN_MS } from '../../shared/durations.ts';
import { upstreamCommand } from '../../shared/next-command.ts';
import { figuresOf, quantileMs } from '../history/figures.ts';
import { type About, atMost, type FoundCause, warningCause } from './cause.ts';
import type { PresentTraffic } from './present.ts';
import { estimateText, serviceTimes } from './service-times.ts';
import { count, type Telling, telling } from './telling.ts';

/** The operations that are slow, with their usual durations. */
interface SlowMemory {
  readonly usualMs: PresentTraffic['usualMs'];
  /** Remembers the operations that are slow now, and forgets the others. */
  note(slow: readonly Slow[], nowMs: number): void;
}

export interface Slow {
  readonly name: string;
  readonly upstream: string | undefined;
  /** The 90th percentiles of the last seconds, and of the time before. */
  readonly nowMs: number;
  readonly beforeMs: number;
  /** Whether the last seconds are as usual. */
  readonly isRecovering: boolean;
}

/**
 * An operation is slow if the 90th percentile of its durations is at least SLOW_MIN_MS, and this many times the percentile of the hour
 * before.
 */
const SLOWER = 4;
/**
 * A slow operation is treated as slow down to this lower factor. With one factor for both, the cause would come and go with each sample.
 */
const STILL_SLOWER = 2;
/** With fewer requests, a single late one is the 90th percentile, and soon after a start the first ones say little about the usual. */
const SLOW_REQUESTS_MIN = 10;
const COMPARED_REQUESTS_MIN = 50;
/** A duration that has lasted for this time is the usual duration. */
const USUAL_AFTER_MS = 6 * 3_600_000;
const PART = 0.9;

/**
 * Creates the memory. It keeps the usual durations, because the hour before soon includes the slow time, and the cause would end too early.
 */
export function createSlowMemory(): SlowMemory {
  const known = new Map<string, { readonly beforeMs: number; readonly sinceMs: number }>();
  return {
    usualMs: (operation) => known.get(operation)?.beforeMs,
    note(slow, nowMs) {
      const names = new Set(slow.map(({ name }) => name));
      for (const { name, beforeMs } of slow) if (!known.has(name)) known.set(name, { beforeMs, sinceMs: nowMs });
      for (const [name, { sinceMs }] of known)
        if (!names.has(name) || nowMs - sinceMs >= USUAL_AFTER_MS) known.delete(name);
    },
  };
}

/** Returns the operations that have become slow, or are still slow, in the counts of the last minute. */
export function slowIn({ bounds, operations, upstreamOf, usualMs }: Omit<PresentTraffic, 'failureCodes'>): Slow[] {
  return operations.flatMap(({ name, minute, latest, recent = latest, hour }): Slow[] => {
    const usual = usualMs(name);
    if (usual === undefined && figuresOf(bounds, hour).requests < COMPARED_REQUESTS_MIN) return [];
    const beforeMs = usual ?? quantileMs(bounds, hour, PART) ?? 0;
    const isSlow = (ms: number) => ms >= SLOW_MIN_MS && ms >= (usual === undefined ? SLOWER : STILL_SLOWER) * beforeMs;
    const lately = figuresOf(bounds, latest).requests;
    const minuteMs = quantileMs(bounds, minute, PART) ?? 0;
    // A service that has become slow answers fewer requests, so for half a minute the fast answers before outweigh the slow ones.
    const isClear = figuresOf(bounds, recent).requests >= SLOW_REQUESTS_MIN;
    const latestMs = quantileMs(bounds, isClear ? recent : latest, PART) ?? minuteMs;
    const nowMs = lately >= SLOW_REQUESTS_MIN ? latestMs : minuteMs;
    const one = { name, upstream: upstreamOf(name), nowMs, beforeMs };
    if (lately > 0 && !isSlow(latestMs))
      return usual !== undefined && isSlow(minuteMs) ? [{ ...one, nowMs: latestMs, isRecovering: true }] : [];
    const isEnough = figuresOf(bounds, minute).requests >= SLOW_REQUESTS_MIN;
    return isEnough && isSlow(nowMs) ? [{ ...one, isRecovering: false }] : [];
  });
}

/**
 * @param isTold whether another cause already explains the state of this upstream
 * @param failing the operations that fail; their causes are of another kind
 * @param waitingAt how many requests wait for a place at an upstream
 */
export function slowOperations(
  present: PresentTraffic,
  isTold: (upstream: string | undefined) => boolean,
  failing: ReadonlySet<string>,
  waitingAt: (upstream: string) => number,
): FoundCause[] {
  const slow = slowIn(present).filter(({ name, upstream }) => !isTold(upstream) && !failing.has(name));
  const causes = [...Map.groupBy(slow, ({ upstream }) => upstream)].flatMap(([upstream, same]) => {
    const waiting = upstream === undefined ? 0 : waitingAt(upstream);
    const wait = upstream === undefined || waiting === 0 ? [] : waitIn(present, upstream);
    return upstream !== undefined && same.length > 1
      ? [upstreamIsSlow(upstream, same, waiting, wait)]
      : same.map((one) => operationIsSlow(one, waiting, wait));
  });
  return atMost(causes, 'operations are slow', '#/');
}

const SLOW_CONSEQUENCE = 'Its clients wait longer; a request that takes too long gets 504 upstream_timeout.';

function operationIsSlow(slow: Slow, waiting: number, wait: Telling): FoundCause {
  const { name, upstream } = slow;
  const what = upstream === undefined ? name : `${name} of ${upstream}`;
  const details = `#/operations/${encodeURIComponent(name)}`;
  return slowCause({ topic: 'slow', name }, slow, {
    ...{ what, title: `${what} is slow.`, of: '', waiting, wait, details },
    operations: [name],
  });
}

/** Several slow operations of one upstream are one cause. */
function upstreamIsSlow(upstream: string, same: readonly Slow[], waiting: number, wait: Telling): FoundCause {
  const lasting = same.filter(({ isRecovering }) => !isRecovering);
  const [worst] = (lasting.length > 0 ? lasting : same).toSorted((one, other) => other.nowMs - one.nowMs) as [Slow];
  return slowCause({ topic: 'slow operations of', name: upstream }, worst, {
    what: `Upstream ${upstream}`,
    title: `Upstream ${upstream} is slow.`,
    many: `, with ${(lasting.length > 0 ? lasting : same).length} of its operations`,
    of: ` of ${worst.name}`,
    waiting,
    wait,
    details: `#/upstreams/${encodeURIComponent(upstream)}`,
    operations: same.map(({ name }) => name),
  });
}

interface SlowTexts {
  readonly what: string;
  readonly title: string;
  readonly many?: string;
  readonly of: string;
  readonly waiting: number;
  readonly wait: Telling;
  readonly details: string;
  readonly operations: readonly string[];
}

function slowCause(
  about: About,
  slow: Slow,
  { what, title, many = '', of, waiting, wait, details, operations }: SlowTexts,
): FoundCause {
  const { nowMs, beforeMs, isRecovering } = slow;
  const figures = { p90_ms: Math.round(nowMs), p90_before_ms: Math.round(beforeMs), waiting };
  const { upstream } = slow;
  const more = {
    title,
    runbook: 'GatewaySlow',
    next: upstreamCommand(upstream),
    details,
    figures,
    upstream,
    operations,
  };
  const most = `9 of 10 responses${of} within about ${estimateText(nowMs)}`;
  return isRecovering
    ? warningCause(
        about,
        `${what} is recovering${many}: ${most} in the last 15 seconds, after a slow time in the last minute.`,
        '',
        { ...more, hasRecovered: true },
      )
    : warningCause(
        about,
        telling`${what} is slow${many}: ${most}, about ${estimateText(beforeMs)} before${wait}.`,
        SLOW_CONSEQUENCE,
        more,
      );
}

/** The durations of operations include the wait for a place, so the text also says how long the service takes. */
function waitIn(present: PresentTraffic, upstream: string): Telling {
  const service = serviceTimes(present, upstream);
  const took = service === undefined ? '' : `, the service takes ${estimateText(service.nowMs)}`;
  return telling`; that includes the wait for a place at ${upstream}: ${count('waiting')} wait now${took}`;
}
