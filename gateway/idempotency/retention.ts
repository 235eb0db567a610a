// How long finished requests are remembered, and how much one organization may have stored of them. Without a bound, one client could
// fill the disk, or the Redis in which keys are revoked.
//
// What is stored is counted in spans: one begins with the first answer and ends when that is no longer kept. Whatever was stored in a
// span is over when the next one ends, so that at any moment at most twice the bound is stored.

/** What a finished request takes besides its record: digests, names, indexes. */
export const SLOT_BYTES = 256;

/** Beyond the bound nothing is kept but that the request was done, and that for so long only: it is not counted. */
export const FULL_RETAIN_MS = 600_000;

export interface Retention {
  /** How long an answer can be given again. */
  readonly retainMs: number;
  /** What one organization may store in a span, both modes together. */
  readonly organizationBytesMax: number;
}

/** How long a request is remembered whose answer went over the bound. */
export function withoutRoomMs({ retainMs }: Retention): number {
  return Math.min(retainMs, FULL_RETAIN_MS);
}
