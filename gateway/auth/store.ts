// What a key store does, whatever it is built on. Types only.
// Every method settles within a bounded time: a store that is away rejects, it does not hang. Every change writes its audit row in the same transaction.

import type { Awaitable, Mode, Organization } from '../exchange.ts';

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
  | 'key.created'
  | 'key.revoked'
  | 'configuration.changed';

/** One row of the audit log, which is also the stream that running gateways follow. */
export interface Change {
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
  readonly changes: readonly Change[];
}

export interface OrganizationRecords {
  /** False if the id is taken. */
  create(organization: Organization, by: string): Awaitable<boolean>;
  get(id: string): Awaitable<Organization | undefined>;
  list(): Awaitable<readonly Organization[]>;
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
  /** The key as it is afterwards, undefined if there is none; a key revoked before stays as it was. */
  revoke(id: string, by: string, reason: string | undefined): Awaitable<StoredKey | undefined>;
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
  list(filter: AuditFilter): Awaitable<readonly Change[]>;
  /** Notes a change that is kept elsewhere: the configuration files. */
  append(by: string, details: Readonly<Record<string, unknown>>): Awaitable<void>;
  since(sequence: number, limit: number): Awaitable<Changes>;
}

export interface KeyStore {
  readonly organizations: OrganizationRecords;
  readonly keys: KeyRecords;
  readonly audit: AuditLog;
  /** All or nothing, in one transaction and one audit row. */
  seed(organizations: readonly Organization[], keys: readonly StoredKey[], by: string): Awaitable<void>;
  close(): Awaitable<void>;
}
