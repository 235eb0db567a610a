// Finds the current cause that explains why a request was refused, failed or was slow. Its next step replaces the next step of the request.
// Pure.

import type { Severity } from '../shared/contracts/cause.ts';
import { SLOW_MIN_MS } from '../shared/durations.ts';
import { hasFailed, runbookOf } from '../shared/failed-requests.ts';
import type { LogLine } from './log-line.ts';

/** A cause, as `/causes` lists it. */
export interface PresentCause {
  /** For example `keys lost`; see gateway/console/causes/. */
  readonly id: string;
  readonly severity: Severity;
  readonly cause: string;
  /** ISO 8601. */
  readonly since: string;
  readonly runbook: string | null;
  readonly next: string | null;
}

/** A cause may be found a while after the first request that it made fail. */
const FOUND_AFTER_MS = 60_000;

/** Returns the first cause that explains the request; undefined if none does. */
export function presentCauseOf(line: LogLine, causes: readonly PresentCause[]): PresentCause | undefined {
  const explains = explanationOf(line);
  const beganBefore = Number(line.time) + FOUND_AFTER_MS;
  return causes.find(({ id, since }) => explains(id) && Date.parse(since) <= beganBefore);
}

const KEYS = /^(keys lost|unknown callers)$/;
const STORES = /^(redis|stores|stores disk|keys lost)$/;
const LOAD = /^(loop|shedding)$/;

/** Whether a request was answered, but late. */
export function wasSlow({ code, duration_ms: durationMs }: LogLine): boolean {
  return code === undefined && Number(durationMs) >= SLOW_MIN_MS;
}

/** Whether the cause with an id explains the request. */
function explanationOf(line: LogLine): (id: string) => boolean {
  const { code, stage, organization, upstream, mode, method, route } = line;
  if (code === 'api_key_invalid' || code === 'auth_attempts_limited') return (id) => KEYS.test(id);
  if (code === 'auth_unavailable' || code === 'records_unavailable') return (id) => STORES.test(id);
  if (code === 'gateway_overloaded') {
    const ids = runbookOf(line) === 'GatewayShedding' ? LOAD : STORES;
    return (id) => ids.test(id);
  }
  if (code === 'rate_limited') return (id) => id === 'redis' || id === `organization ${organization}`;
  if (stage !== 'forward' || upstream === undefined) return () => false;
  const ofUpstream = [
    `upstream ${upstream} ${mode}`,
    `upstream ${upstream} credential`,
    `upstream ${upstream} shedding`,
  ];
  if (wasSlow(line)) {
    const ids = [...ofUpstream, `slow operations of ${upstream}`, `slow ${method} ${route}`, 'loop', 'shedding'];
    return (id) => ids.includes(id);
  }
  if (Number(line.status) < 500) return () => false;
  const ofFailures = [`operations of ${upstream}`, `operation ${method} ${route}`];
  const ids = hasFailed(line) ? [...ofUpstream, ...ofFailures] : ofUpstream;
  return (id) => ids.includes(id);
}
