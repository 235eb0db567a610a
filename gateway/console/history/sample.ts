// Types of the counts of one process, and the difference between two samples.

/** All values are counted since the process started. */
export interface Sample {
  readonly operations: readonly OperationCounts[];
  /** The counts by organization id. */
  readonly organizations: readonly OperationCounts[];
  /** The counts by upstream: the time until it began to respond, and its own statuses. */
  readonly upstreams: readonly OperationCounts[];
  readonly refusals: readonly RefusalCount[];
  /** Organizations near their limits. */
  readonly nearLimits: readonly OrganizationNearLimit[];
}

interface OperationCounts {
  /** The method and path template of an operation, or `unmatched`; for other kinds the id or name. */
  readonly name: string;
  /** Upstream of an operation. */
  readonly upstream?: string;
  /** The exchanges by duration, as one count per bucket, and one for longer durations. */
  readonly buckets: readonly number[];
  /** The same exchanges by status: below 300, 3xx, 4xx, 5xx; then refusals by the gateway, those with 5xx, and broken contracts. */
  readonly classes: readonly number[];
}

interface RefusalCount {
  readonly stage: string;
  readonly code: string;
  readonly count: number;
}

/** An organization that came near one of its limits, or exceeded it, in the last minutes. */
export interface OrganizationNearLimit {
  readonly organization: string;
  /** Absent for anonymous callers, and from an instance of an earlier version. */
  readonly name?: string | undefined;
  readonly tier: string;
  readonly policy: string;
  readonly limit: number;
  readonly window_seconds: number;
  /** The last refused request, with the limit at that time, which may have changed since; undefined if there was no refusal. */
  readonly last_refused?: {
    readonly at: string;
    readonly limit: number;
    readonly window_seconds: number;
    readonly is_share?: true;
  };
  /** Whether the limit is the share of one instance, because Redis was away at its last counted request. */
  readonly is_share?: true;
  /** Units left at its last counted request. */
  readonly remaining: number;
  readonly near: number;
  readonly refused: number;
  /** Admitted only because the limit is not enforced. */
  readonly shadow_refused: number;
  /** ISO 8601, UTC. */
  readonly last_at: string;
}

export interface Increase {
  readonly name: string;
  readonly values: readonly number[];
}

export interface Increases {
  /** The values are the buckets, then the classes of status. */
  readonly operations: readonly Increase[];
  readonly organizations: readonly Increase[];
  readonly upstreams: readonly Increase[];
  /** Name: stage and code. One value. */
  readonly refusals: readonly Increase[];
}

/** Returns a function that computes the increase of each sample of one process over the previous sample. Leaves out unchanged series. */
export function createDifference(): (sample: Sample) => Increases {
  const operations = createIncreases();
  const organizations = createIncreases({ isDropped: true });
  const upstreams = createIncreases();
  const refusals = createIncreases();
  return (sample) => ({
    operations: operations(sample.operations.map(countsOf)),
    organizations: organizations(sample.organizations.map(countsOf)),
    upstreams: upstreams(sample.upstreams.map(countsOf)),
    refusals: refusals(
      sample.refusals.map(({ stage, code, count }) => ({ name: `${stage} ${code}`, values: [count] })),
    ),
  });
}

function countsOf({ name, buckets, classes }: OperationCounts): Increase {
  return { name, values: [...buckets, ...classes] };
}

/**
 * @param options.isDropped whether the process may drop a series and begin it again at zero. A lower sum then means that all counts are
 * new.
 *   Otherwise only the counts that are higher than before are new
 */
function createIncreases({ isDropped } = { isDropped: false }): (counted: readonly Increase[]) => Increase[] {
  let known = new Map<string, readonly number[]>();
  return (counted) => {
    const before = known;
    known = new Map(counted.map(({ name, values }) => [name, values]));
    return counted.flatMap(({ name, values }) => {
      const increase = increaseOf(values, before.get(name), isDropped);
      return increase.some((value) => value > 0) ? [{ name, values: increase }] : [];
    });
  };
}

function increaseOf(
  values: readonly number[],
  before: readonly number[] | undefined,
  isDropped: boolean,
): readonly number[] {
  if (before === undefined || (isDropped && sumOf(values) < sumOf(before))) return values;
  return values.map((value, index) => Math.max(0, value - (before[index] ?? 0)));
}

function sumOf(values: readonly number[]): number {
  return values.reduce((one, other) => one + other, 0);
}
