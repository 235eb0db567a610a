// What a key store does, whatever it is built on. Types only.
// Every method settles within a bounded time: a store that is away rejects, it does not hang. Every change writes its audit row in the same transaction.

import type { Awaitable, Mode, Organization } from '../../exchange.ts';

/** What is kept about a key; the key itself is not. */
export interface StoredKey {
  readonly id: string;
  readonly digest: string;
  /** Id of the organization. */
  readonly organization: string;
  readonly mode: Mode;
  readonly name: string;
  readonly scopes: readonly string[];
  /** Addresses and CIDR ranges it may be used from; empty: any. */
  readonly allowedCidrs: readonly string[];
  readonly prefix: string;
  readonly lastFour: string;
  readonly createdAtMs: number;
  readonly createdBy: string;
  readonly expiresAtMs: number | undefined;
  readonly revokedAtMs: number | undefined;
  readonly revokedBy: string | undefined;
  readonly revokedReason: string | undefined;
  readonly lastUsedAtMs: number | undefined;
  /** Id of the key that took over in a rotation; this one then ends when the overlap does. */
  readonly replacedBy: string | undefined;
}

export interface KeyAndOwner {
  readonly key: StoredKey;
  readonly organization: Organization;
}

export type ChangeKind =
  | 'organization.created'
  | 'organization.tier_changed'
  | 'organization.suspended'
  | 'organization.resumed'
  /** Many organizations with their keys at once, as one row. */
  | 'organizations.seeded'
  /** Many records at once from an export, as one row. */
  | 'records.imported'
  | 'key.created'
  | 'key.rotated'
  | 'key.revoked'
  /** What an organization had spent of its limits was forgotten. */
  | 'limits.reset'
  | 'configuration.changed';

/** One row of the audit log, which is also the stream that running gateways follow. */
export interface KeyStoreChange {
  /** Grows by the order of commits, so that a reader never misses one. */
  readonly sequence: number;
  readonly atMs: number;
  readonly by: string;
  readonly kind: ChangeKind;
  readonly organization: string | undefined;
  readonly key: string | undefined;
  readonly details: Readonly<Record<string, unknown>>;
}

export interface Changes {
  /** The highest sequence number there is. */
  readonly latest: number;
  /** Oldest first. */
  readonly changes: readonly KeyStoreChange[];
}

export interface OrganizationRecords {
  /** False if the id is taken. */
  create(organization: Organization, by: string): Awaitable<boolean>;
  get(id: string): Awaitable<Organization | undefined>;
  list(): Awaitable<readonly Organization[]>;
  /** All of them in pages, so that a million fit; what is written meanwhile may or may not be among them. */
  scan(): AsyncIterable<readonly Organization[]>;
  /** These three answer the organization as it is afterwards, undefined if there is none; without a difference nothing is written. */
  setTier(id: string, tier: string, by: string): Awaitable<Organization | undefined>;
  suspend(id: string, by: string): Awaitable<Organization | undefined>;
  resume(id: string, by: string): Awaitable<Organization | undefined>;
}

export interface KeyRecords {
  /** False if its organization does not exist. */
  create(key: StoredKey): Awaitable<boolean>;
  get(id: string): Awaitable<StoredKey | undefined>;
  findByDigest(digest: string): Awaitable<KeyAndOwner | undefined>;
  list(filter?: { readonly organization?: string | undefined }): Awaitable<readonly StoredKey[]>;
  /** All of them in pages, oldest first; what is written meanwhile may or may not be among them. */
  scan(): AsyncIterable<readonly StoredKey[]>;
  /** The key as it is afterwards, undefined if there is none; a key revoked before stays as it was. */
  revoke(id: string, by: string, reason: string | undefined): Awaitable<StoredKey | undefined>;
  /**
   * Creates the successor and lets the key end at `endsAtMs`, or when it would have ended anyway if that is sooner. The key as it is
   * afterwards; undefined, with nothing written, if there is none or if it is revoked, expired or replaced already.
   */
  rotate(id: string, successor: StoredKey, endsAtMs: number): Awaitable<StoredKey | undefined>;
  /** Key id → epoch milliseconds. Never waits for another writer: rejects, and the caller tries again later. */
  noteUses(uses: ReadonlyMap<string, number>): Awaitable<void>;
}

export interface AuditFilter {
  readonly organization?: string | undefined;
  readonly sinceMs?: number | undefined;
  readonly limit: number;
}

export interface AuditLog {
  /** Newest first. */
  list(filter: AuditFilter): Awaitable<readonly KeyStoreChange[]>;
  /** Notes a change that is kept elsewhere: the configuration files. */
  append(by: string, details: Readonly<Record<string, unknown>>): Awaitable<void>;
  /** Notes that the limits of an organization were reset; running gateways read it here. */
  appendReset(organization: string, by: string): Awaitable<void>;
  since(sequence: number, limit: number): Awaitable<Changes>;
  /**
   * Calls back soon after a change was written, where the store can announce it; answers how to stop that. An announcement may be
   * lost, so whoever needs every change reads `since` as well.
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
  /** Every change up to this sequence number is in force there. */
  readonly position: number;
  /** For so long after its last report it may let known callers in without having heard of later changes. */
  readonly graceMs: number;
}

export interface InstanceRecords {
  /** Writes or renews the report. Never waits for another writer: rejects, and the caller tries again later. */
  report(instance: Instance): Awaitable<void>;
  /** The goodbye of one that ends: nobody has to wait for it any more. */
  remove(id: string): Awaitable<void>;
  /** With the milliseconds since each last report, by the store's clock. One that has been silent for longer than its grace is left out. */
  list(): Awaitable<readonly (Instance & { readonly silentMs: number })[]>;
}

/** How many records were new. */
export interface Imported {
  readonly organizations: number;
  readonly keys: number;
}

export interface KeyStore {
  readonly organizations: OrganizationRecords;
  readonly keys: KeyRecords;
  readonly audit: AuditLog;
  readonly instances: InstanceRecords;
  /** Which key_pepper the store was made with: what createSqliteStore or createRedisStore was given. */
  readonly pepperFingerprint: string;
  /** All or nothing, in one transaction and one audit row. */
  seed(organizations: readonly Organization[], keys: readonly StoredKey[], by: string): Awaitable<void>;
  /**
   * Adds what is not there yet, in one transaction and one audit row; what is there stays as it is, so that an old export revives
   * nothing that was revoked since. Rejects, with nothing written, if the organization of a key is neither there nor among these.
   */
  import(organizations: readonly Organization[], keys: readonly StoredKey[], by: string): Awaitable<Imported>;
  close(): Awaitable<void>;
}
