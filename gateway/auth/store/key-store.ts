// The methods of the key store, independent of the implementation. Every method settles within a bounded time. If the store cannot be
// reached, the method rejects; it does not hang. Every change writes its audit row in the same transaction.

import type { Organization } from '../../exchange/caller.ts';
import type { Awaitable } from '../../shared/awaitable.ts';
import type { KeyAndOwner, KeyPatch, StoredKey } from './stored-key.ts';

/** File of the embedded store, in the data directory. Commands need its name without loading SQLite. */
export const KEY_STORE_FILE = 'gateway.db';

export type ChangeKind =
  | 'organization.created'
  | 'organization.tier_changed'
  /** The contacts of an organization have changed, perhaps with its tier. */
  | 'organization.changed'
  | 'organization.suspended'
  | 'organization.resumed'
  /** Many new organizations with their keys, as one row. */
  | 'organizations.seeded'
  /** Many records of an export, as one row. */
  | 'records.imported'
  | 'key.created'
  /** The name, the scopes, the addresses or the expiry of a key have changed. */
  | 'key.changed'
  | 'key.rotated'
  | 'key.revoked'
  | AppendedKind;

/** The kinds of changes of which the key store contains only the row of the audit log. */
export type AppendedKind =
  /** The counters of an organization were reset. Running gateways read it from the change stream. */
  | 'limits.reset'
  /** The refused credential of an upstream is sent again. */
  | 'upstream.retried'
  /** An operator has silenced the alerts about causes until a time, or has ended a silence. */
  | 'alerts.silenced'
  /** An operator has ended the session of a person. */
  | 'session.ended'
  /** The configuration files, which this store does not contain, have changed. */
  | 'configuration.changed';

/** The author of a change: a name, or a name with the id of the request. */
export type Author =
  | string
  | {
      readonly by: string;
      readonly requestId: string | undefined;
      /**
       * The id of the author's organization; undefined for operators. This organization may read in the audit log which of its keys made
       * the change.
       */
      readonly organization?: string | undefined;
    };

export type OrganizationPatch = Partial<Pick<Organization, 'tier' | 'contacts'>>;

/**
 * Conditions that are checked in the transaction of a change. If one does not hold, the change throws ConditionFailed and writes nothing.
 */
export interface Conditions {
  /** Keys as they were read. They must not have changed since, except for their last use. */
  readonly keys?: readonly StoredKey[] | undefined;
  /** Organizations as they were read. They must not have changed since. */
  readonly organizations?: readonly Organization[] | undefined;
  /** For a revocation: requires that another key can replace this key (`takesPlaceOf`), or that this key no longer works. */
  readonly leavesAnother?: boolean | undefined;
  /** The maximum number of keys that the organization may have after a creation or rotation. */
  readonly most?: KeysMost | undefined;
}

export interface KeysMost {
  /** The most keys that work. */
  readonly working: number;
  /**
   * The largest number of keys, including revoked and expired keys, because these stay in the store, and a creation may have to read all
   * keys.
   */
  readonly records: number;
}

export class ConditionFailed extends Error {
  readonly condition: keyof Conditions;

  constructor(condition: keyof Conditions) {
    super(`The condition on ${condition} does not hold.`);
    this.condition = condition;
  }
}

/** One row of the audit log, which is also the change stream that running gateways follow. */
export interface KeyStoreChange {
  /** Increases in commit order, so that a reader never misses a change. */
  readonly sequence: number;
  readonly atMs: number;
  readonly by: string;
  readonly kind: ChangeKind;
  readonly organization: string | undefined;
  readonly key: string | undefined;
  /** `before` and `after` contain the members that the change has set. `request_id` is present if a request made the change. */
  readonly details: Readonly<Record<string, unknown>>;
}

interface Changes {
  /** The highest sequence number in the log. */
  readonly latest: number;
  /** Oldest first. */
  readonly changes: readonly KeyStoreChange[];
}

export interface OrganizationRecords {
  /** Returns false if the id is taken. */
  create(organization: Organization, author: Author, conditions?: Conditions): Awaitable<boolean>;
  get(id: string): Awaitable<Organization | undefined>;
  /** Returns organizations in the order of their ids, only with ids above `after`, and at most `limit` results. */
  list(filter?: { readonly after?: string | undefined; readonly limit?: number }): Awaitable<readonly Organization[]>;
  /** Yields all organizations in pages, because a million would not fit into memory. Records written during the scan may be left out. */
  scan(): AsyncIterable<readonly Organization[]>;
  /** Yields organizations by id in pages, only with ids above `after`. */
  inOrder(after?: string): AsyncIterable<readonly Organization[]>;
  /** This method and the two below return the updated organization; undefined for an unknown id. They write nothing if nothing changes. */
  change(
    id: string,
    patch: OrganizationPatch,
    author: Author,
    conditions?: Conditions,
  ): Awaitable<Organization | undefined>;
  suspend(id: string, author: Author, conditions?: Conditions): Awaitable<Organization | undefined>;
  resume(id: string, author: Author, conditions?: Conditions): Awaitable<Organization | undefined>;
}

export interface KeyFilter {
  readonly organization?: string | undefined;
  /** The id of a key. Only later keys are read. */
  readonly after?: string | undefined;
}

export interface KeyRecords {
  /**
   * Returns false if the organization does not exist.
   *
   * @param author the author of the change; without it, the creator of the key
   */
  create(key: StoredKey, author?: Author, conditions?: Conditions): Awaitable<boolean>;
  get(id: string): Awaitable<StoredKey | undefined>;
  findByDigest(digest: string): Awaitable<KeyAndOwner | undefined>;
  list(filter?: { readonly organization?: string | undefined }): Awaitable<readonly StoredKey[]>;
  /**
   * Yields pages of all keys, or of the keys of one organization, oldest first. Records written during the scan may be left out. Yields
   * nothing if `after` is an unknown key.
   */
  scan(filter?: KeyFilter): AsyncIterable<readonly StoredKey[]>;
  /** Returns the updated key; undefined for an unknown id. Writes nothing if nothing changes. */
  change(id: string, patch: KeyPatch, author: Author, conditions?: Conditions): Awaitable<StoredKey | undefined>;
  /** Returns the updated key; undefined for an unknown id. A key that was revoked before stays unchanged. */
  revoke(
    id: string,
    author: Author,
    reason: string | undefined,
    conditions?: Conditions,
  ): Awaitable<StoredKey | undefined>;
  /**
   * Creates the successor and sets the expiry of the key to `endsAtMs`, unless the key expires sooner. Returns the updated key. Returns
   * undefined and writes nothing if the key is unknown, revoked, expired or already replaced.
   */
  rotate(
    id: string,
    successor: StoredKey,
    endsAtMs: number,
    author?: Author,
    conditions?: Conditions,
  ): Awaitable<StoredKey | undefined>;
  /** Takes key ids with epoch milliseconds. Never waits for another writer, but rejects, and the caller retries later. */
  noteUses(uses: ReadonlyMap<string, number>): Awaitable<void>;
}

export interface AuditFilter {
  readonly organization?: string | undefined;
  readonly sinceMs?: number | undefined;
  /** Changes with this sequence number and higher ones are left out. */
  readonly before?: number | undefined;
  readonly limit: number;
}

/** The audit log of the whole gateway. */
export interface AuditLog {
  /** Newest first. */
  list(filter: AuditFilter): Awaitable<readonly KeyStoreChange[]>;
  append(
    kind: AppendedKind,
    author: Author,
    details: KeyStoreChange['details'],
    organization?: string,
  ): Awaitable<void>;
  since(sequence: number, limit: number): Awaitable<Changes>;
  /**
   * Calls back soon after a change was written, if the store can announce it; returns a function that ends the subscription. An
   * announcement may be lost, so a reader that needs every change has to poll `since` as well.
   */
  subscribe(onAnnounced: () => void): () => void;
}

/** A running gateway, as it reports itself. */
export interface Instance {
  readonly id: string;
  readonly host: string;
  readonly pid: number;
  /** Epoch milliseconds. */
  readonly startedAtMs: number;
  /** Every change up to this sequence number is in force on this instance. */
  readonly position: number;
  /**
   * When the change with this sequence number was made, in epoch milliseconds. The time shows whether the store has lost its latest
   * changes, because the number then belongs to another change, or to none.
   */
  readonly changedAtMs?: number | undefined;
  /** How long after its last report the instance may accept cached callers, although it has not read later changes. */
  readonly graceMs: number;
}

export interface InstanceRecords {
  /**
   * Writes or renews the report. Returns the id of the server that took the report: if it differs from the id of the report before,
   * the store may have lost that one. Never waits for another writer, but rejects, and the caller retries later.
   */
  report(instance: Instance): Awaitable<string>;
  /** Removes an instance that shuts down. Commands then no longer wait for it. */
  remove(id: string): Awaitable<void>;
  /**
   * Lists the instances with milliseconds since their last report, by the store's clock. Leaves out instances that have been silent for
   * longer than their grace period.
   */
  list(): Awaitable<readonly (Instance & { readonly silentMs: number })[]>;
}

/** Number of new records. */
export interface ImportCounts {
  readonly organizations: number;
  readonly keys: number;
}

export interface KeyStore {
  readonly organizations: OrganizationRecords;
  readonly keys: KeyRecords;
  readonly audit: AuditLog;
  readonly instances: InstanceRecords;
  /** Fingerprint of the key_pepper that was passed to createSqliteKeyStore or openRedisStore. */
  readonly pepperFingerprint: string;
  /** Adds all records or none, in one transaction and with one audit row. */
  seed(organizations: readonly Organization[], keys: readonly StoredKey[], by: string): Awaitable<void>;
  /**
   * Adds missing records in one transaction and with one audit row. Existing records stay unchanged, so an old export does not restore a
   * revoked key. If the store has lost parts of a record, these parts are added. Rejects and writes nothing if the organization of a key is
   * neither stored nor among the arguments.
   */
  import(organizations: readonly Organization[], keys: readonly StoredKey[], by: string): Awaitable<ImportCounts>;
  /** Rebuilds lost parts of the index. Returns a text for operators that names the missing parts; undefined if none is missing. */
  mend(): Awaitable<string | undefined>;
  close(): Awaitable<void>;
}
