// Pure: finds failing operations, from the counts of the last minute. Each text begins with the operation or upstream at fault, and says
// when it recovers.

import type { Symptom } from '../../shared/contracts/cause.ts';
import { upstreamCommand } from '../../shared/next-command.ts';
import { durationText, firstNames } from '../../shared/text.ts';
import { demandIn, type Figures, figuresOf } from '../history/figures.ts';
import { type About, atMost, type FoundCause, failureCause, warningCause } from './cause.ts';
import type { FailureCodes } from './failure-codes.ts';
import type { PresentTraffic } from './present.ts';
import { type Slow, slowIn } from './slow-causes.ts';
import { count, telling } from './telling.ts';

const FAILURES_MIN = 3;
const FAILED_SHARE = 0.05;
/** From this number on, failing operations of one upstream are one cause. */
const SAME_UPSTREAM_MIN = 3;
const CODES_NAMED_MAX = 2;

interface Failing {
  readonly name: string;
  readonly upstream: string | undefined;
  readonly requests: number;
  readonly failed: number;
  /** Refused with 5xx before they were sent to the service. */
  readonly unserved: number;
  readonly isRecovering: boolean;
}

/** The operations whose error codes a cause names. */
export function namesOfFailing(present: Pick<PresentTraffic, 'bounds' | 'operations' | 'upstreamOf'>): string[] {
  return failingIn(present).map(({ name }) => name);
}

/**
 * @param isTold whether another cause already explains the failures of this upstream
 * @param wasShown whether the cause with this subject was found before; only such a cause is shown as recovering
 */
export function failingOperations(
  present: PresentTraffic,
  isTold: (upstream: string | undefined) => boolean,
  wasShown: (about: About) => boolean,
): FoundCause[] {
  const failing = failingIn(present).filter(({ upstream }) => !isTold(upstream));
  const byUpstream = Map.groupBy(failing, ({ upstream }) => upstream);
  const causes = [...byUpstream].flatMap(([upstream, same]) =>
    upstream !== undefined && same.length >= SAME_UPSTREAM_MIN
      ? [upstreamFails(upstream, same, present.failureCodes)]
      : same.map((one) => operationFails(one, present.failureCodes)),
  );
  const told = causes.filter(({ kind, about }) => kind === 'bad' || wasShown(about));
  return atMost(told, 'operations fail', '#/');
}

function failingIn({
  bounds,
  operations,
  upstreamOf,
}: Pick<PresentTraffic, 'bounds' | 'operations' | 'upstreamOf'>): Failing[] {
  return sufferingIn({ bounds, operations, upstreamOf }, ({ failed }) => failed);
}

/** @param sufferedIn the requests that make an operation one of these */
function sufferingIn(
  { bounds, operations, upstreamOf }: Pick<PresentTraffic, 'bounds' | 'operations' | 'upstreamOf'>,
  sufferedIn: (figures: Figures) => number,
): Failing[] {
  return operations.flatMap(({ name, minute, latest }): Failing[] => {
    const counted = figuresOf(bounds, minute);
    const [requests, suffered] = [demandIn(counted), sufferedIn(counted)];
    if (suffered < FAILURES_MIN || suffered < FAILED_SHARE * requests) return [];
    const { failed, server_errors: errors } = counted;
    const now = figuresOf(bounds, latest);
    const isRecovering = now.requests > 0 && sufferedIn(now) === 0;
    return [{ name, upstream: upstreamOf(name), requests, failed, unserved: errors - failed, isRecovering }];
  });
}

/** Returns the failing operations of an upstream. */
export function failingOf(present: PresentTraffic, upstream: string): Failing[] {
  return failingIn(present).filter((one) => one.upstream === upstream);
}

/**
 * Whether there were requests in the last seconds, and none got a 5xx. After a restart, the last minute may count errors whose cause this
 * process has not seen.
 */
export function isOver({ bounds, operations }: PresentTraffic): boolean {
  const latest = operations.map((one) => figuresOf(bounds, one.latest));
  return latest.some(({ requests }) => requests > 0) && latest.every(({ server_errors: errors }) => errors === 0);
}

/** Sums up the failing operations of an upstream in the last minute; undefined if there are none. */
export function recoveryOf(
  present: PresentTraffic,
  upstream: string,
): (Pick<Failing, 'requests' | 'failed' | 'isRecovering'> & { readonly names: readonly string[] }) | undefined {
  const failing = failingOf(present, upstream);
  if (failing.length === 0) return undefined;
  const sum = (of: (one: Failing) => number) => failing.reduce((total, one) => total + of(one), 0);
  return {
    names: failing.map(({ name }) => name),
    requests: sum(({ requests }) => requests),
    failed: sum(({ failed }) => failed),
    isRecovering: failing.every((one) => one.isRecovering),
  };
}

/**
 * Returns the failing and slow operations of a failing upstream, which its cause names.
 *
 * @param isUnsent whether nothing is sent to the upstream, so that no operation is slow because of the cause
 */
export function symptomsOf(present: PresentTraffic, upstream: string, isUnsent = false): Symptom[] {
  const failing = sufferingIn(present, ({ server_errors: errors }) => errors).filter(
    (one) => one.upstream === upstream && !one.isRecovering,
  );
  const names = new Set(failing.map(({ name }) => name));
  const isSlow = (one: Slow) => one.upstream === upstream && !one.isRecovering && !names.has(one.name);
  const slow = isUnsent ? [] : slowIn(present).filter(isSlow);
  return [
    ...failing.map(({ name, requests, failed, unserved }) => ({
      ...{ name, requests, failed },
      ...(unserved > 0 && { unserved }),
    })),
    ...slow.map(({ name }) => ({ name, requests: 0, failed: 0 })),
  ];
}

function operationFails({ name, upstream, requests, failed, isRecovering }: Failing, known: FailureCodes): FoundCause {
  const what = upstream === undefined ? name : `${name} of ${upstream}`;
  const details = `#/operations/${encodeURIComponent(name)}`;
  const codes = codesIn([name], known);
  const since = failingSince([name], known);
  return failure({ topic: 'operation', name }, what, {
    names: [name],
    upstream,
    requests,
    failed,
    isRecovering,
    details,
    codes,
    since,
    explained: explanationOf([name], known, upstream),
  });
}

function upstreamFails(upstream: string, failing: readonly Failing[], known: FailureCodes): FoundCause {
  const sum = (of: (one: Failing) => number) => failing.reduce((total, one) => total + of(one), 0);
  const names = failing.map(({ name }) => name);
  const about = { topic: 'operations of', name: upstream } as const;
  return failure(about, `Upstream ${upstream}, with ${failing.length} of its operations,`, {
    names,
    upstream,
    requests: sum(({ requests }) => requests),
    failed: sum(({ failed }) => failed),
    isRecovering: failing.every((one) => one.isRecovering),
    details: `#/upstreams/${encodeURIComponent(upstream)}`,
    codes: codesIn(names, known),
    since: failingSince(names, known),
    explained: explanationOf(names, known, upstream),
  });
}

/** Returns the codes that clients get, as the end of a sentence; empty if no code is known. */
export function codesIn(operations: readonly string[], known: FailureCodes): string {
  const codes = [...new Set(operations.flatMap((name) => known.get(name)?.codes ?? []))];
  return codes.length === 0 ? '' : `: ${firstNames(codes, CODES_NAMED_MAX)}`;
}

/** Says which time was over for requests to an upstream, as a sentence; empty if none was. */
export function timeoutIn(present: PresentTraffic, upstream: string): string {
  const timeouts = failingOf(present, upstream).map(({ name }) => present.failureCodes.get(name)?.timeout);
  const [setting, ms] = timeouts.find((one) => one !== undefined)?.split(' ') ?? [];
  return setting === undefined ? '' : ` ${setting} is ${durationText(Number(ms))}.`;
}

/** Returns when the first of their failed requests ended. */
function failingSince(operations: readonly string[], known: FailureCodes): string | undefined {
  return operations.flatMap((name) => known.get(name)?.since ?? []).sort()[0];
}

interface Failure extends Omit<Failing, 'name' | 'unserved'> {
  readonly names: readonly string[];
  readonly details: string;
  readonly codes: string;
  readonly since: string | undefined;
  readonly explained: Explained;
}

interface Explained {
  readonly consequence: string;
  readonly runbook: string;
  readonly next: string | undefined;
}

/** Returns why operations fail, as their latest failed requests tell. */
function explanationOf(operations: readonly string[], known: FailureCodes, upstream: string | undefined): Explained {
  const failures = operations.flatMap((name) => known.get(name) ?? []);
  const next = upstreamCommand(upstream);
  const [lacking] = failures.flatMap((one) => one.lacking ?? []);
  if (lacking !== undefined)
    return {
      consequence: `Its clients get these errors, because ${lacking}.`,
      runbook: 'GatewayCredentialMissing',
      next,
    };
  const [broken] = failures.flatMap(({ refused }) => refused ?? []);
  if (broken !== undefined)
    return {
      consequence: `Its clients get these errors, because the answers break the contract: ${broken.violation}.`,
      runbook: 'GatewayAnswersBreakContract',
      next: `bin/gateway explain ${broken.requestId}`,
    };
  const consequence = 'Its clients get these errors. The service did not respond as it should: its own log knows why.';
  return { consequence, runbook: 'GatewayUpstreamErrors', next };
}

function failure(about: About, what: string, failing: Failure): FoundCause {
  const { names, upstream, requests, failed, isRecovering, details, codes, since, explained } = failing;
  const { consequence, runbook, next } = explained;
  const counted = telling`${count('failed')} of ${count('requests')}`;
  const more = {
    title: `${what} fails.`,
    since,
    reason: codes.split(', ', 1)[0],
    runbook,
    next,
    details,
    upstream,
    operations: names,
    // Refusals by the gateway are not counted, because these are responses of services, or their absence.
    figures: { requests, failed },
    extent: { of: 'operations', names, span: 'minute' } as const,
  };
  return isRecovering
    ? warningCause(
        about,
        telling`${what} is recovering: ${counted} failed in the last minute, none in the last 15 seconds.`,
        '',
        { ...more, hasRecovered: true },
      )
    : failureCause(about, telling`${what} fails: ${counted} in the last minute${codes}.`, consequence, more);
}
