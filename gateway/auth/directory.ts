// Maps presented keys to callers. Caches callers, drops a caller when it changes, and accepts cached callers for a while when the store
// cannot be reached. Throws api_key_malformed. Throws auth_unavailable if neither the store nor the cache can be used.

import { GatewayError } from '../catalogue/errors.ts';
import type { Caller, Organization } from '../exchange/caller.ts';
import { type Awaitable, andThen } from '../shared/awaitable.ts';
import { type Machine, REAL_MACHINE } from '../shared/machine.ts';
import { ChangeFollower } from '../shared/stores/change-follower.ts';
import { createLookUp, type LookUp } from '../shared/stores/look-up.ts';
import { type DigestOf, parseApiKey } from './api-key.ts';
import { parseAuthorization } from './credentials.ts';
import { createEmptiness, type Emptiness } from './emptiness.ts';
import { IdentityCache, type IdentityCacheOptions, type KnownCaller } from './identity-cache.ts';
import { InstanceReports } from './instance-reports.ts';
import { createKeyUses, type KeyUses } from './key-uses.ts';
import type { KeyStore, KeyStoreChange } from './store/key-store.ts';
import type { KeyAndOwner } from './store/stored-key.ts';

interface DirectoryOptions extends IdentityCacheOptions {
  readonly store: Pick<KeyStore, 'keys' | 'organizations' | 'audit' | 'instances'>;
  readonly digestOf: DigestOf;
  /** The host name of this gateway, for the list of instances in the store. */
  readonly host: string;
  readonly pid: number;
  now(): number;
  readonly pollMs?: number;
  /** How long cached callers are accepted while the store cannot be reached. */
  readonly graceMs?: number;
  /** Called for every change in the store, after the cache entries that it affects were dropped. */
  readonly onChange?: (change: KeyStoreChange) => void;
  /** Called with the reason when the store can no longer be read, and with undefined when it can be read again. */
  readonly onHealth?: (reason: string | undefined) => void;
  /** Called when the contents of the store were replaced, because it was wiped, restored, or has lost its latest changes. */
  readonly onReplaced?: () => void;
  readonly machine?: Machine;
}

export interface DirectoryStatus {
  readonly store: 'reachable' | 'failing';
  /** Reason of the failure, for operators only. */
  readonly reason: string | undefined;
  readonly readAtMs: number;
  /** While failing: epoch milliseconds until which cached callers are accepted. */
  readonly graceEndsAtMs: number | undefined;
  /** Id of this gateway in the store. */
  readonly instance: string;
  /** Every change up to this sequence number is in force here; undefined before the first read. */
  readonly position: number | undefined;
  /** Reason why the store rejects writes (it is a replica, or full), for operators only; undefined while it accepts them. */
  readonly writeFailure: string | undefined;
  /**
   * Epoch milliseconds at which the store was found to be replaced by a store without organizations; undefined once it contains an
   * organization.
   */
  readonly emptiedAtMs: number | undefined;
  readonly callers: number;
  readonly absences: number;
  readonly organizations: number;
  readonly unwrittenUses: number;
}

export class Directory {
  readonly #options: DirectoryOptions;
  readonly #graceMs: number;
  readonly #machine: Machine;
  readonly #cache: IdentityCache;
  readonly #uses: KeyUses;
  readonly #reports: InstanceReports;
  readonly #follower: ChangeFollower<KeyStoreChange>;
  readonly #lookUpKey: LookUp<KeyAndOwner, KnownCaller>;
  readonly #lookUpOrganization: LookUp<Organization, Organization>;
  readonly #emptiness: Emptiness;

  constructor(options: DirectoryOptions) {
    const { store, now, graceMs = 15 * 60_000, machine = REAL_MACHINE } = options;
    const cache = new IdentityCache(options);
    this.#options = options;
    this.#graceMs = graceMs;
    this.#machine = machine;
    this.#cache = cache;
    this.#uses = createKeyUses({ keys: store.keys, now, machine });
    this.#emptiness = createEmptiness(store.organizations, now);
    this.#reports = this.#report();
    this.#follower = this.#follow();
    // A look-up that several requests share may be as old as a cached caller, so the same condition holds.
    const lookingUp = { follower: this.#follower, unavailable, mayShare: () => this.#isWithinGrace() };
    this.#lookUpKey = createLookUp<KeyAndOwner, KnownCaller>({
      ...lookingUp,
      learn: (keyHash, found, keep) => cache.learnKey(keyHash, found, keep),
    });
    this.#lookUpOrganization = createLookUp<Organization, Organization>({
      ...lookingUp,
      learn: (id, found, keep) => cache.learnOrganization(id, found, keep),
    });
  }

  #report(): InstanceReports {
    const { store, host, pid, now } = this.#options;
    return new InstanceReports({
      instances: store.instances,
      host,
      pid,
      startedAtMs: now(),
      graceMs: this.#graceMs,
      now,
      // Cached callers count from this read on.
      onListed: () => this.#follower.readNow(),
      machine: this.#machine,
    });
  }

  #follow(): ChangeFollower<KeyStoreChange> {
    const { store, pollMs = 250, now, onChange, onReplaced, onHealth } = this.#options;
    return new ChangeFollower({
      stream: store.audit,
      pollMs,
      now,
      onChange: (change) => {
        this.#cache.forget(change);
        onChange?.(change);
      },
      onReset: (isFirst) => {
        this.#cache.forgetAll();
        if (isFirst) return;
        this.#emptiness.noteReplaced();
        onReplaced?.();
      },
      onPolled: () => this.#onPolled(),
      onHealth,
      machine: this.#machine,
    });
  }

  /**
   * Returns the caller of a key, as the same object until its record changes; undefined if the key is unknown. Throws api_key_malformed,
   * auth_unavailable.
   */
  callerOf(key: string): Awaitable<Caller | undefined> {
    const keyHash = this.#cache.hashOf(key);
    const known = this.#cache.caller(keyHash);
    if (known !== undefined && this.#isWithinGrace()) return this.#use(known);
    // A cached key had a valid form when it was first presented. Another check would cost half a microsecond.
    if (parseApiKey(key) === undefined) throw new GatewayError('api_key_malformed');
    // Without the store, cached absences prove nothing, because the key may have been created since the last change that was read.
    this.#requireStore();
    if (this.#cache.isAbsent(keyHash)) return undefined;
    const { store, digestOf } = this.#options;
    const found = this.#lookUpKey(keyHash, () => store.keys.findByDigest(digestOf(key)));
    return andThen(found, (one) => this.#use(one));
  }

  /** Returns an organization, as the same object until it changes; undefined if it is unknown. Throws auth_unavailable. */
  organizationOf(id: string): Awaitable<Organization | undefined> {
    const known = this.#cache.organization(id);
    if (known !== undefined && this.#isWithinGrace()) return known;
    this.#requireStore();
    return this.#lookUpOrganization(id, () => this.#options.store.organizations.get(id));
  }

  /**
   * Returns a number that changes with every change in the store. If the number has changed, results of `callerOf` and `organizationOf` may
   * be out of date. Returns undefined if the store could not be read for too long.
   */
  asOf(): number | undefined {
    return this.#isWithinGrace() && this.#follower.position() !== undefined ? this.#cache.changes() : undefined;
  }

  /** Whether the credential in an Authorization header is cached and valid. Does not read the store. */
  isKnown(authorization: string | undefined): boolean {
    const credentials = parseAuthorization(authorization);
    if (credentials?.scheme !== 'bearer') return false;
    const caller = this.#cache.caller(this.#cache.hashOf(credentials.value))?.caller;
    return caller !== undefined && isGood(caller, this.#options.now()) && this.#isWithinGrace();
  }

  /** Whether the keys are lost, because the store was replaced and is empty, or has not been checked since. */
  mayLackKeys(): boolean {
    return this.#emptiness.mayLackKeys();
  }

  status(): DirectoryStatus {
    const follower = this.#follower;
    const failure = follower.failure();
    return {
      store: failure === undefined ? 'reachable' : 'failing',
      reason: failure?.message,
      readAtMs: follower.readAtMs(),
      graceEndsAtMs: failure && follower.readAtMs() + this.#graceMs,
      instance: this.#reports.id,
      position: follower.position(),
      writeFailure: this.#reports.failure(),
      emptiedAtMs: this.#emptiness.sinceMs(),
      ...this.#cache.sizes(),
      unwrittenUses: this.#uses.pending(),
    };
  }

  /** Stops following, removes this instance from the store and writes the pending key uses. Does not close the store. */
  async close(): Promise<void> {
    this.#follower.stop();
    await Promise.all([this.#reports.close(), this.#uses.writeAll()]);
  }

  #onPolled(): void {
    // The report says that every change up to this position is in force here, because the cache has dropped every entry that these changes
    // make out of date.
    const position = this.#follower.position();
    if (position !== undefined) this.#reports.noteRead({ position, changedAtMs: this.#follower.last()?.atMs });
    void this.#uses.writeSome();
    void this.#emptiness.check();
  }

  /**
   * Whether requests may use cached callers, because the process has read the changes of the key store within the time of grace.
   *
   * - The wall clock detects that the process was suspended, for example with its machine. A key may have been revoked meanwhile, by a
   *   command that did not wait for this process. The process therefore reads the store before it uses its cache.
   * - The monotonic clock measures an outage of the store, because the wall clock may be set back.
   * - A process that the store does not list, for example after an outage that was longer than the grace, looks each caller up, because no
   *   command waits for it. It does so until it has read the changes that were made before it was listed.
   */
  #isWithinGrace(): boolean {
    const follower = this.#follower;
    if (follower.readAt() < this.#reports.listedSince()) return false;
    if (this.#options.now() - follower.readAtMs() > this.#graceMs) return false;
    return follower.failure() === undefined || this.#machine.performance.now() - follower.readAt() <= this.#graceMs;
  }

  #use(known: KnownCaller | undefined): Caller | undefined {
    if (known !== undefined) known.usedAtMs = this.#uses.note(known.caller.subject, known.usedAtMs);
    return known?.caller;
  }

  /** Throws at once while the store cannot be reached, because no request should wait for the store. */
  #requireStore(): void {
    const cause = this.#follower.failure();
    if (cause !== undefined) throw unavailable(cause);
  }
}

function unavailable(cause: unknown): GatewayError {
  return new GatewayError('auth_unavailable', { cause });
}

function isGood({ revoked, expiresAtMs, organization }: Caller, nowMs: number): boolean {
  return !revoked && expiresAtMs > nowMs && organization?.state === 'active';
}
