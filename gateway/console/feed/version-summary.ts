// Summarizes deprecated operations that are still called. Reading them needs a store, so it happens at intervals, and only while the page
// is open.

export interface VersionSummary {
  readonly since: string;
  /** Those with the most calls first; at most 20. */
  readonly operations: readonly {
    readonly operation: string;
    readonly state: string;
    readonly sunset: string | null;
    readonly calls: number;
    readonly organizations: number;
    readonly last_call_at: string | null;
  }[];
}

/** The part of the admin listener's report that the summary needs. */
interface Report {
  readonly since: string;
  readonly operations: readonly {
    readonly operation: string;
    readonly state: string;
    readonly sunset: string | null;
  }[];
  readonly organizations: readonly {
    readonly operations: readonly {
      readonly operation: string;
      readonly calls: number;
      readonly last_call_at: string;
    }[];
  }[];
}

const RENEWED_AFTER_MS = 60_000;
const REPORTED_MAX = 20;

/** Returns the last summary at once; null before the first summary was read. */
export function createVersionSummary(report: () => Promise<object>, now: () => number): () => VersionSummary | null {
  let known: VersionSummary | null = null;
  let askedAtMs = Number.NEGATIVE_INFINITY;

  async function renew(): Promise<void> {
    try {
      known = summaryOf((await report()) as Report);
    } catch {
      // The previous summary stays valid.
    }
  }

  return () => {
    if (now() - askedAtMs >= RENEWED_AFTER_MS) {
      askedAtMs = now();
      void renew();
    }
    return known;
  };
}

function summaryOf({ since, operations, organizations }: Report): VersionSummary {
  const uses = Map.groupBy(
    organizations.flatMap((organization) => organization.operations),
    ({ operation }) => operation,
  );
  const summed = operations.map(({ operation, state, sunset }) => {
    const own = uses.get(operation) ?? [];
    return {
      operation,
      state,
      sunset,
      calls: own.reduce((sum, { calls }) => sum + calls, 0),
      organizations: own.length,
      last_call_at:
        own
          .map(({ last_call_at }) => last_call_at)
          .sort()
          .at(-1) ?? null,
    };
  });
  return { since, operations: summed.sort((one, other) => other.calls - one.calls).slice(0, REPORTED_MAX) };
}
