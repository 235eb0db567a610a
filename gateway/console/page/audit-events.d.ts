// The types of audit-events.js, which `gateway audit` uses, too.

/** The members of a change that are read here. */
interface RecordedChange {
  readonly at: string;
  readonly kind: string;
  readonly details: Readonly<Record<string, unknown>>;
}

export function joinChanges<Change extends RecordedChange>(changes: readonly Change[]): Change[];
