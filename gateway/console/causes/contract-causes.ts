// Pure: finds upstreams whose answers break their contract although clients get them, from the counts of the last minute. Answers that the
// contract refuses are failed requests.

import { answersIn, figuresOf } from '../history/figures.ts';
import { type About, type FoundCause, failureCause, warningCause } from './cause.ts';
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
  const byUpstream = Map.groupBy(brokenOperations(present), ({ upstream }) => upstream);
  return [...byUpstream].map(([upstream, same]) => {
    const about = { topic: 'contract', name: upstream } as const;
    return contractCause(about, same, present.failureCodes, wasFailure(about));
  });
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
  about: About & { readonly name: string },
  same: readonly Broken[],
  known: FailureCodes,
  wasFailure: boolean,
): FoundCause {
  const upstream = about.name;
  const [first] = same as readonly [Broken, ...Broken[]];
  const what =
    same.length === 1 ? `${first.name} of ${upstream}` : `Upstream ${upstream}, with ${same.length} of its operations,`;
  const sumOf = (of: 'requests' | 'broken') => same.reduce((sum, one) => sum + one[of], 0);
  const figures = { requests: sumOf('requests'), broken: sumOf('broken') };
  const examples = same.flatMap(({ name, latest: { requests, broken } }) => {
    const passed = known.get(name)?.passed;
    const isMostly = wasFailure || broken >= FAILURE_SHARE * requests;
    const isFailure = isMostly && UNREADABLE.test(passed?.violation ?? '');
    return passed === undefined ? [] : [{ ...passed, isFailure }];
  });
  const example = examples.find(({ isFailure }) => isFailure) ?? examples[0];
  const types = new Set(examples.map(({ violation }) => typesIn(violation)));
  return (example?.isFailure ? failureCause : warningCause)(
    about,
    telling`${what} breaks its contract${types.size === 1 ? String([...types][0]) : ''}: ${count('broken')} of ${count('requests')} answers in the last minute.`,
    `Its clients get these answers as they are${example === undefined ? '' : `: ${example.violation}`}.`,
    {
      title: `${what} breaks its contract.`,
      since: examples.flatMap(({ since }) => since ?? []).sort()[0],
      runbook: 'GatewayAnswersBreakContract',
      ...(example && { next: `bin/gateway explain ${example.requestId}` }),
      details:
        same.length === 1
          ? `#/operations/${encodeURIComponent(first.name)}`
          : `#/upstreams/${encodeURIComponent(upstream)}`,
      figures,
      upstream,
      operations: same.map(({ name }) => name),
    },
  );
}

/** Returns the type that came and the declared type, if these are what breaks the contract. */
function typesIn(violation: string): string {
  const [, came, declared] = OTHER_TYPE.exec(violation) ?? [];
  return came === undefined ? '' : ` (${came}, not ${declared})`;
}
