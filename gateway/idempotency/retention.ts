// How long finished requests are kept, and how much one organization may store. Without a bound, one client could fill the disk, or the
// Redis in which keys are revoked.
//
// Stored bytes are counted in spans: a span begins with the first answer and ends when that answer expires. Everything stored in a span has
// expired when the next span ends, so that at most twice the bound is stored at any time.

/** Bytes of a finished request besides its record: digests, names, indexes. */
export const SLOT_BYTES = 256;

/** Above the bound, only the fact that the request was done is kept, for this long, and it is not counted. */
export const FULL_RETAIN_MS = 600_000;

export interface Retention {
  /** How long an answer can be replayed. */
  readonly retainMs: number;
  /** Bytes that one organization may store in a span, in both modes together. */
  readonly organizationBytesMax: number;
}

/** How long a request is kept whose answer exceeded the bound. */
export function withoutRoomMs({ retainMs }: Retention): number {
  return Math.min(retainMs, FULL_RETAIN_MS);
}
