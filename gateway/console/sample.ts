// Types of the counts of one process, and the difference between two samples.

/** All values are counted since the process started. */
export interface Sample {
  readonly operations: readonly OperationCounts[];
  readonly refusals: readonly RefusalCount[];
  readonly organizations: readonly OrganizationNearLimit[];
}

export interface OperationCounts {
  /** Method and path template, or `unmatched`. */
  readonly name: string;
  /** Exchanges by duration: one count per bucket, and one for longer durations. */
  readonly buckets: readonly number[];
  /** The same exchanges by status: below 300, 3xx, 4xx, 5xx. */
  readonly classes: readonly number[];
}

export interface RefusalCount {
  readonly stage: string;
  readonly code: string;
  readonly count: number;
}

/** An organization that came near one of its limits, or exceeded it, in the last minutes. */
export interface OrganizationNearLimit {
  readonly organization: string;
  readonly tier: string;
  readonly policy: string;
  readonly limit: number;
  readonly window_seconds: number;
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
  /** Values: the buckets, then the classes of status. */
  readonly operations: readonly Increase[];
  /** Name: stage and code. One value. */
  readonly refusals: readonly Increase[];
}

/** Returns a function that computes what each sample of one process adds to the previous one. Leaves out unchanged series. */
export function createDifference(): (sample: Sample) => Increases {
  const operations = createIncrease();
  const refusals = createIncrease();
  return (sample) => ({
    operations: sample.operations.flatMap(({ name, buckets, classes }) => operations(name, [...buckets, ...classes])),
    refusals: sample.refusals.flatMap(({ stage, code, count }) => refusals(`${stage} ${code}`, [count])),
  });
}

function createIncrease(): (name: string, values: readonly number[]) => Increase[] {
  const known = new Map<string, readonly number[]>();
  return (name, values) => {
    const before = known.get(name);
    const increase = values.map((value, index) => Math.max(0, value - (before?.[index] ?? 0)));
    known.set(name, values);
    return increase.some((value) => value > 0) ? [{ name, values: increase }] : [];
  };
}
