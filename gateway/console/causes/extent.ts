// Pure: where the figures of a cause come from, so that they can be read again from the counts of all instances.

import { demandIn, figuresOf } from '../history/figures.ts';
import { type PresentCounts, sum } from '../history/history-counts.ts';
import type { PresentTraffic } from './present.ts';
import type { CauseFigures } from './telling.ts';

export type Extent = CountedExtent | LimitExtent | OtherCauses;

/** The counts of these names in this time are the figures of a cause. */
export interface CountedExtent {
  readonly of: 'operations' | 'organizations' | 'all' | 'unknown callers';
  /** Empty for kinds without names. */
  readonly names: readonly string[];
  readonly span: Span;
}

/** The figures are those of a limit that an organization has nearly used. */
export interface LimitExtent {
  readonly of: 'nearly used';
  readonly organization: string;
  readonly policy: string;
  /** A text that says that a limit is the share of one instance. */
  readonly share: string;
}

/** The figure is the number of causes that are not shown. */
export interface OtherCauses {
  readonly of: 'others';
  /** The ids of these causes. */
  readonly names: readonly string[];
}

type Span = 'minute' | 'latest';

interface CountedRequests {
  readonly requests: number;
  /** Answered with 5xx because the service failed. */
  readonly failed: number;
  readonly refused: number;
}

type Spans = Readonly<Record<Span, CountedRequests>>;

/** The latest counts of one instance, in the form in which instances exchange them. */
export interface Extents {
  readonly operations: Readonly<Record<string, Spans>>;
  readonly organizations: Readonly<Record<string, Spans>>;
  /** All responses of the last minute; refusals are those with 5xx. */
  readonly all: CountedRequests;
  /** All requests, and the refusals before an organization was known. */
  readonly 'unknown callers': Spans;
}

const NONE: CountedRequests = { requests: 0, failed: 0, refused: 0 };

/** @param all the responses of the last minute */
export function extentsIn(
  { bounds, operations, organizations }: Pick<PresentTraffic, 'bounds' | 'operations' | 'organizations'>,
  all: CountedRequests,
): Extents {
  const spansOf = (counted: (span: Span) => CountedRequests): Spans => ({
    minute: counted('minute'),
    latest: counted('latest'),
  });
  const byName = (series: readonly PresentCounts[], of: typeof countedIn) =>
    Object.fromEntries(series.map((one) => [one.name, spansOf((span) => of(bounds, one[span]))]));
  const totalOf = (series: readonly PresentCounts[], span: Span) =>
    series.length === 0 ? NONE : figuresOf(bounds, sum(series.map((one) => one[span])));
  return {
    operations: byName(operations, demandedIn),
    organizations: byName(organizations, countedIn),
    all,
    'unknown callers': spansOf((span) => {
      const { requests, failed, refused } = totalOf(operations, span);
      return { requests, failed, refused: Math.max(0, refused - totalOf(organizations, span).refused) };
    }),
  };
}

/** Returns the counts of an extent over several instances. */
export function countedOver({ of, names, span }: CountedExtent, all: readonly Extents[]): CountedRequests {
  const found = all.flatMap((one): CountedRequests[] => {
    if (of === 'all') return [one.all];
    if (of === 'unknown callers') return [one[of][span]];
    return names.flatMap((name) => one[of][name]?.[span] ?? []);
  });
  return found.reduce(added, NONE);
}

/** Returns the figures with the counts in place of those that are counted. */
export function withCounts(figures: CauseFigures, counted: CountedRequests): CauseFigures {
  const known: CauseFigures = { ...counted };
  return Object.fromEntries(Object.entries(figures).map(([key, value]) => [key, known[key] ?? value]));
}

function countedIn(bounds: readonly number[], counts: readonly number[]): CountedRequests {
  const { requests, failed, refused } = figuresOf(bounds, counts);
  return { requests, failed, refused };
}

/** The requests that a service should have answered. */
function demandedIn(bounds: readonly number[], counts: readonly number[]): CountedRequests {
  const figures = figuresOf(bounds, counts);
  return { ...countedIn(bounds, counts), requests: demandIn(figures) };
}

function added(one: CountedRequests, other: CountedRequests): CountedRequests {
  return {
    requests: one.requests + other.requests,
    failed: one.failed + other.failed,
    refused: one.refused + other.refused,
  };
}
