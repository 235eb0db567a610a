// The audit log for operators, and the events of one organization: its part of the log, and the deprecated operations that it calls.

import type { KeyStoreChange } from '../auth/store/key-store.ts';
import type { UsedOperation } from '../versions/report.ts';
import type { AdministrationDeps } from './deps.ts';

interface AuditListing {
  readonly organization: string | undefined;
  /** Epoch milliseconds, included. */
  readonly fromMs: number | undefined;
  /** Changes with this sequence number and higher ones are left out. */
  readonly before: number | undefined;
  readonly most: number;
}

/** Lists the changes, newest first. */
export async function listAudit(
  { store }: Pick<AdministrationDeps, 'store'>,
  { organization, fromMs, before, most }: AuditListing,
): Promise<readonly KeyStoreChange[]> {
  return store.audit.list({ organization, sinceMs: fromMs, before, limit: most });
}

interface OwnChange {
  readonly kind: 'change';
  readonly atMs: number;
  readonly change: KeyStoreChange;
  /** Whether a key or token of the organization has made the change. */
  readonly isOwn: boolean;
}

interface DeprecationInUse {
  readonly kind: 'deprecation';
  /** The day from which the operation is deprecated. It may be in the future. */
  readonly atMs: number;
  readonly use: UsedOperation;
}

/** The position of a reader in the list of changes, and in the list of deprecations. The two positions are independent. */
export interface EventPlace {
  /** Sequence number of the last change. */
  readonly change?: number | undefined;
  /** Day and id of the last operation. */
  readonly deprecation?: readonly [atMs: number, operation: string] | undefined;
}

/** An event, with the place behind it. */
export interface PlacedEvent {
  readonly event: OwnChange | DeprecationInUse;
  readonly place: EventPlace;
}

interface EventListing {
  readonly organization: string;
  readonly behind: EventPlace;
  readonly most: number;
}

/**
 * Returns the events, newest first. While the store of deprecated calls cannot be reached, deprecations are left out, so that changes can
 * still be read. Deprecations appear again afterwards.
 */
export async function listEvents(
  { store, deprecatedUses }: Pick<AdministrationDeps, 'store' | 'deprecatedUses'>,
  listing: EventListing,
): Promise<PlacedEvent[]> {
  async function changesOf({ organization, behind, most }: EventListing): Promise<OwnChange[]> {
    const changes = await store.audit.list({ organization, before: behind.change, limit: most });
    return changes.map((change) => {
      const isOwn = change.details.by_organization === organization;
      return { kind: 'change', atMs: change.atMs, change, isOwn };
    });
  }

  async function deprecationsOf({ organization, behind }: EventListing): Promise<DeprecationInUse[]> {
    const found = await deprecatedUses(organization).catch(() => []);
    return found
      .flatMap(({ operations }) => operations)
      .map((use): DeprecationInUse => ({ kind: 'deprecation', atMs: Date.parse(use.deprecation.deprecated), use }))
      .filter((one) => isBehind(behind.deprecation, one))
      .sort((one, other) => other.atMs - one.atMs || (idOf(one) < idOf(other) ? 1 : -1));
  }
  const [changes, deprecations] = await Promise.all([changesOf(listing), deprecationsOf(listing)]);
  const merged: PlacedEvent[] = [];
  let place = listing.behind;
  while (merged.length < listing.most) {
    const event = isLater(deprecations[0], changes[0]) ? deprecations.shift() : changes.shift();
    if (event === undefined) break;
    place = event.kind === 'change' ? { ...place, change: event.change.sequence } : withDeprecation(place, event);
    merged.push({ event, place });
  }
  return merged;
}

function withDeprecation(place: EventPlace, event: DeprecationInUse): EventPlace {
  return { ...place, deprecation: [event.atMs, idOf(event)] };
}

function isLater(deprecation: DeprecationInUse | undefined, change: OwnChange | undefined): boolean {
  return deprecation !== undefined && (change === undefined || deprecation.atMs >= change.atMs);
}

function isBehind(place: EventPlace['deprecation'], event: DeprecationInUse): boolean {
  if (place === undefined) return true;
  const [atMs, operation] = place;
  return event.atMs < atMs || (event.atMs === atMs && idOf(event) < operation);
}

function idOf({ use }: DeprecationInUse): string {
  return use.deprecation.operation.id;
}
