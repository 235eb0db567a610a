// Pure: finds operations whose answers break their contract although clients get them, from the counts of the last minute. Answers that the
// contract refuses are failed requests.

import { answersIn, figuresOf } from '../history/figures.ts';
import { type About, atMost, type FoundCause, failureCause, warningCause } from './cause.ts';
import type { BrokenAnswer } from './failure-codes.ts';
import type { PresentTraffic } from './present.ts';
import { count, telling } from './telling.ts';

const BROKEN_MIN = 3;
const BROKEN_SHARE = 0.05;
/**
 * From this share on, answers that clients cannot read are a failure. Contracts are often wrong about members of answers, so these are a
 * warning.
 */
const FAILURE_SHARE = 0.5;
/** The texts of gateway/contract/ about answers in another form, such as a page of HTML. */
const UNREADABLE = /^status \d+ with |^the body is not JSON$/;
const OTHER_TYPE = /^status \d+ with (.+?); the contract declares (?!none;)(.+?);/;

interface Broken {
  readonly name: string;
  readonly upstream: string;
  readonly requests: number;
  readonly broken: number;
  /**
   * The same of the last seconds, in which the first failure is not outweighed by the answers before it; of the minute if there are none.
   */
  readonly latest: { readonly requests: number; readonly broken: number };
}

/** The operations whose answers break their contract, and whose lines name an example. */
export function namesOfBroken(present: Pick<PresentTraffic, 'bounds' | 'operations' | 'upstreamOf'>): string[] {
  return brokenOperations(present).map(({ name }) => name);
}

/** @param wasFailure whether the cause with this subject was a failure before. It does not become a warning while it ends */
export function brokenContracts(present: PresentTraffic, wasFailure: (about: About) => boolean): FoundCause[] {
  const causes = brokenOperations(present).map((one) => {
    const about = { topic: 'contract', name: one.name } as const;
    return contractCause(about, one, present.failureCodes.get(one.name)?.passed, wasFailure(about));
  });
  const failures = causes.filter(({ kind }) => kind === 'bad');
  return atMost(
    [...failures, ...causes.filter(({ kind }) => kind !== 'bad')],
    'operations break their contract',
    '#/requests?status=broken',
  );
}

function brokenOperations({
  bounds,
  operations,
  upstreamOf,
}: Pick<PresentTraffic, 'bounds' | 'operations' | 'upstreamOf'>): Broken[] {
  const countsIn = (counts: readonly number[]) => answersIn(figuresOf(bounds, counts));
  return operations.flatMap(({ name, minute, latest, recent = latest }): Broken[] => {
    const [counted, now] = [countsIn(minute), countsIn(latest)];
    if (counted.broken < BROKEN_MIN || counted.broken < BROKEN_SHARE * counted.requests) return [];
    if (now.requests > 0 && now.broken === 0) return [];
    const upstream = upstreamOf(name);
    // After a restart, the upstream of an operation is known from its first request on.
    if (upstream === undefined) return [];
    const seconds = countsIn(recent);
    return [{ name, upstream, ...counted, latest: seconds.requests > 0 ? seconds : counted }];
  });
}

function contractCause(
  about: About,
  { name, upstream, requests, broken, latest }: Broken,
  example: BrokenAnswer | undefined,
  wasFailure: boolean,
): FoundCause {
  const what = `${name} of ${upstream}`;
  const isMostly = wasFailure || latest.broken >= FAILURE_SHARE * latest.requests;
  const isFailure = isMostly && UNREADABLE.test(example?.violation ?? '');
  return (isFailure ? failureCause : warningCause)(
    about,
    telling`${what} breaks its contract${typesIn(example?.violation)}: ${count('broken')} of ${count('requests')} answers in the last minute.`,
    `Its clients get these answers as they are${example === undefined ? '' : `: ${example.violation}`}.`,
    {
      title: `${what} breaks its contract.`,
      since: example?.since,
      runbook: 'GatewayAnswersBreakContract',
      ...(example && { next: `bin/gateway explain ${example.requestId}` }),
      details: `#/operations/${encodeURIComponent(name)}`,
      figures: { requests, broken },
      upstream,
    },
  );
}

/** Returns the type that came and the declared type, if these are what breaks the contract. */
function typesIn(violation = ''): string {
  const [, came, declared] = OTHER_TYPE.exec(violation) ?? [];
  return came === undefined ? '' : ` (${came}, not ${declared})`;
}
