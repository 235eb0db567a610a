// Pure: finds upstreams whose answers break their contract although clients get them, from the counts of the last minute. Answers that the
// contract refuses are failed requests.

import { brokenIn, figuresOf } from '../history/figures.ts';
import { type FoundCause, failureCause, warningCause } from './cause.ts';
import type { FailureCodes } from './failure-codes.ts';
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
  readonly upstream: string | undefined;
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

export function brokenContracts(present: PresentTraffic): FoundCause[] {
  const byUpstream = Map.groupBy(brokenOperations(present), ({ upstream = '' }) => upstream);
  return [...byUpstream].map(([upstream, same]) => contractCause(upstream, same, present.failureCodes));
}

function brokenOperations({
  bounds,
  operations,
  upstreamOf,
}: Pick<PresentTraffic, 'bounds' | 'operations' | 'upstreamOf'>): Broken[] {
  const countsIn = (counts: readonly number[]) => {
    const { requests, refused } = figuresOf(bounds, counts);
    // A broken body stands for the bodies before it that were not checked, of which some may belong to the slot before.
    return { requests: requests - refused, broken: Math.min(brokenIn(bounds, counts), requests - refused) };
  };
  return operations.flatMap(({ name, minute, latest }): Broken[] => {
    const [counted, now] = [countsIn(minute), countsIn(latest)];
    if (counted.broken < BROKEN_MIN || counted.broken < BROKEN_SHARE * counted.requests) return [];
    if (now.requests > 0 && now.broken === 0) return [];
    return [{ name, upstream: upstreamOf(name), ...counted, latest: now.requests > 0 ? now : counted }];
  });
}

function contractCause(upstream: string, same: readonly Broken[], known: FailureCodes): FoundCause {
  const [first] = same as readonly [Broken, ...Broken[]];
  const what =
    same.length === 1 ? `${first.name} of ${upstream}` : `Upstream ${upstream}, with ${same.length} of its operations,`;
  const sumOf = (of: 'requests' | 'broken') => same.reduce((sum, one) => sum + one[of], 0);
  const figures = { requests: sumOf('requests'), broken: sumOf('broken') };
  const [example] = same.flatMap(({ name }) => known.get(name)?.broken ?? []);
  const latest = (of: 'requests' | 'broken') => same.reduce((sum, one) => sum + one.latest[of], 0);
  const isMostly = latest('broken') >= FAILURE_SHARE * latest('requests');
  const isFailure = isMostly && example !== undefined && UNREADABLE.test(example.violation);
  const [, came, declared] = OTHER_TYPE.exec(example?.violation ?? '') ?? [];
  const types = came === undefined || same.length > 1 ? '' : ` (${came}, not ${declared})`;
  return (isFailure ? failureCause : warningCause)(
    { topic: 'contract', name: upstream },
    telling`${what} breaks its contract${types}: ${count('broken')} of ${count('requests')} answers in the last minute.`,
    `Its clients get these answers as they are${example === undefined ? '' : `: ${example.violation}`}.`,
    {
      title: `${what} breaks its contract.`,
      since: same.flatMap(({ name }) => known.get(name)?.since ?? []).sort()[0],
      runbook: 'GatewayAnswersBreakContract',
      ...(example && { next: `bin/gateway explain ${example.requestId}` }),
      details: `#/upstreams/${encodeURIComponent(upstream)}`,
      figures,
    },
  );
}
