// Notes organizations that came near one of their limits, or exceeded it, in the last quarter of an hour. Requests of other organizations
// are not noted. A few hundred organizations are kept. Beyond them, the organization that has had no note for the longest time is dropped.

import type { LimitState } from '../../exchange/findings.ts';
import type { Trail } from '../../exchange/trail.ts';
import { MINUTE_MS } from '../../shared/durations.ts';
import type { OrganizationNearLimit } from '../history/sample.ts';

/** Outcome of a request that found little or nothing left. */
export type LimitPressure = 'near' | 'refused' | 'shadow_refused';

/** The source of decisions against the share of one instance, while Redis is away. */
const SHARE = 'local';
const KEPT_MAX = 300;
const REPORTED_MAX = 20;
const MINUTES = 15;
/** How long an organization is kept after it was last near a limit. */
export const NOTED_MS = MINUTES * MINUTE_MS;

interface Entry {
  readonly organization: string;
  readonly policy: string;
  name: string | undefined;
  tier: string;
  limit: number;
  windowSeconds: number;
  /** Whether the limit is the share of one instance. */
  isShare: boolean;
  remaining: number;
  lastRefused?: OrganizationNearLimit['last_refused'];
  lastAtMs: number;
  /** The counts of the last minutes. The index of a minute is its number modulo MINUTES. */
  readonly counts: Record<LimitPressure, Uint32Array>;
}

export class NearLimit {
  readonly #now: () => number;
  readonly #entries = new Map<string, Entry>();
  /** The number of entries of each organization with entries. */
  readonly #entriesOf = new Map<string, number>();

  /** @param now epoch milliseconds that never decrease */
  constructor(now: () => number) {
    this.#now = now;
  }

  /**
   * Notes a request. `eased` means that enough of the limit remained, or that another limit is in force, which replaces the noted limit.
   */
  note(trail: Trail, state: LimitState, pressure: LimitPressure | 'eased'): void {
    if (pressure === 'eased') {
      this.#ease(trail, state);
      return;
    }
    const { caller, limitSource } = trail;
    const isShare = limitSource === SHARE;
    const { policy, limit, windowSeconds, remaining } = state;
    const { id = 'anonymous', name, tier = '' } = caller?.organization ?? {};
    const nowMs = this.#now();
    const entry = this.#entryOf(id, policy, nowMs);
    forget(entry, nowMs);
    Object.assign(entry, { name, tier, limit, windowSeconds, isShare, remaining, lastAtMs: nowMs });
    if (pressure === 'refused')
      entry.lastRefused = {
        at: new Date(nowMs).toISOString(),
        limit,
        window_seconds: windowSeconds,
        ...(isShare && { is_share: true }),
      };
    const counts = entry.counts[pressure];
    const minute = Math.floor(nowMs / MINUTE_MS) % MINUTES;
    counts[minute] = (counts[minute] as number) + 1;
  }

  /** Returns at most 20 organizations, beginning with the most refusals. */
  list(): OrganizationNearLimit[] {
    const nowMs = this.#now();
    return [...this.#entries.values()]
      .map((entry) => {
        forget(entry, nowMs);
        return toPressed(entry);
      })
      .filter(({ near, refused, shadow_refused }) => near + refused + shadow_refused > 0)
      .sort(byPressure)
      .slice(0, REPORTED_MAX);
  }

  #drop(key: string, { organization }: Entry): void {
    this.#entries.delete(key);
    const left = (this.#entriesOf.get(organization) ?? 0) - 1;
    if (left > 0) this.#entriesOf.set(organization, left);
    else this.#entriesOf.delete(organization);
  }

  #entryOf(organization: string, policy: string, nowMs: number): Entry {
    const key = `${policy} ${organization}`;
    let entry = this.#entries.get(key);
    if (entry === undefined) {
      entry = {
        organization,
        policy,
        name: undefined,
        tier: '',
        limit: 0,
        windowSeconds: 0,
        isShare: false,
        remaining: 0,
        lastAtMs: nowMs,
        counts: noCounts(),
      };
      const oldest = this.#entries.entries().next();
      if (this.#entries.size >= KEPT_MAX && !oldest.done) this.#drop(...oldest.value);
      this.#entriesOf.set(organization, (this.#entriesOf.get(organization) ?? 0) + 1);
    } else this.#entries.delete(key);
    // The entry is inserted at the end, because entries are in the order of their last note.
    this.#entries.set(key, entry);
    return entry;
  }

  #ease({ caller, limitSource }: Trail, { policy, limit, windowSeconds, remaining }: LimitState): void {
    const organization = caller?.organization?.id ?? 'anonymous';
    // Most requests end here, because most organizations are not near a limit. Without this line, each request would make and hash the key
    // of an entry.
    if (!this.#entriesOf.has(organization)) return;
    const entry = this.#entries.get(`${policy} ${organization}`);
    if (entry !== undefined) Object.assign(entry, { limit, windowSeconds, remaining, isShare: limitSource === SHARE });
  }
}

/** Merges the entries of several processes for the same organization and limit. The entry with the most refusals comes first. */
export function mergeNearLimit(lists: readonly (readonly OrganizationNearLimit[])[]): OrganizationNearLimit[] {
  const byKey = Map.groupBy(lists.flat(), ({ organization, policy }) => `${policy} ${organization}`);
  const merged = [...byKey.values()].map((same) => {
    const [latest, ...others] = same.toSorted((one, other) => other.last_at.localeCompare(one.last_at)) as [
      OrganizationNearLimit,
      ...OrganizationNearLimit[],
    ];
    const lastRefused = [latest, ...others].find((one) => one.last_refused)?.last_refused;
    const sum = (pressure: LimitPressure) => same.reduce((total, one) => total + one[pressure], 0);
    return {
      ...latest,
      ...(lastRefused && { last_refused: lastRefused }),
      near: sum('near'),
      refused: sum('refused'),
      shadow_refused: sum('shadow_refused'),
    };
  });
  return merged.sort(byPressure).slice(0, REPORTED_MAX);
}

function byPressure(one: OrganizationNearLimit, other: OrganizationNearLimit): number {
  return (
    other.refused - one.refused ||
    other.shadow_refused - one.shadow_refused ||
    other.near - one.near ||
    one.organization.localeCompare(other.organization)
  );
}

function noCounts(): Entry['counts'] {
  return {
    near: new Uint32Array(MINUTES),
    refused: new Uint32Array(MINUTES),
    shadow_refused: new Uint32Array(MINUTES),
  };
}

/** Clears the minutes since the last note, because their counts are from the previous round of the ring. */
function forget({ counts, lastAtMs }: Entry, nowMs: number): void {
  const present = Math.floor(nowMs / MINUTE_MS);
  const last = Math.floor(lastAtMs / MINUTE_MS);
  for (let minute = Math.max(last + 1, present - MINUTES + 1); minute <= present; minute += 1)
    for (const one of Object.values(counts)) one[minute % MINUTES] = 0;
}

function toPressed(entry: Entry): OrganizationNearLimit {
  const sum = (pressure: LimitPressure) => entry.counts[pressure].reduce((total, count) => total + count, 0);
  return {
    organization: entry.organization,
    ...(entry.name && { name: entry.name }),
    tier: entry.tier,
    policy: entry.policy,
    limit: entry.limit,
    window_seconds: entry.windowSeconds,
    ...(entry.isShare && { is_share: true }),
    remaining: entry.remaining,
    ...(entry.lastRefused && { last_refused: entry.lastRefused }),
    near: sum('near'),
    refused: sum('refused'),
    shadow_refused: sum('shadow_refused'),
    last_at: new Date(entry.lastAtMs).toISOString(),
  };
}
