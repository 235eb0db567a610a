// Maps presented keys to callers: caches them, drops them when they change, and continues to accept them for a while when the store is
// away. Throws api_key_malformed, and auth_unavailable if it can neither read nor remember the key.

import type { Caller, Organization } from '../caller.ts';
import { GatewayError } from '../errors.ts';
import type { Awaitable } from '../shared/awaitable.ts';
import { createChangeFollower } from '../shared/change-follower.ts';
import { createLookUp } from '../shared/look-up.ts';
import { type Machine, realMachine } from '../shared/machine.ts';
import { type DigestOf, parseApiKey } from './api-key.ts';
import { parseAuthorization } from './credentials.ts';
import { createIdentityCache, type IdentityCacheOptions, type KnownCaller } from './identity-cache.ts';
import { createInstanceReports } from './instance-reports.ts';
import { createKeyUses } from './key-uses.ts';
import type { KeyStore, KeyStoreChange } from './store/key-store.ts';

interface DirectoryOptions extends IdentityCacheOptions {
  readonly store: Pick<KeyStore, 'keys' | 'organizations' | 'audit' | 'instances'>;
  readonly digestOf: DigestOf;
  /** Where this gateway runs, as listed in the store. */
  readonly host: string;
  readonly pid: number;
  now(): number;
  readonly pollMs?: number;
  /** How long cached callers are accepted while the store is away. */
  readonly graceMs?: number;
  /** Called for every change in the store, after the cache entries that it affects were dropped. */
  readonly onChange?: (change: KeyStoreChange) => void;
  /** Called with the reason when the store can no longer be read, and with undefined when it can be read again. */
  readonly onHealth?: (reason: string | undefined) => void;
  /** Called when the contents of the store were replaced: it was wiped, restored, or has lost its latest changes. */
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
  readonly callers: number;
  readonly absences: number;
  readonly organizations: number;
  readonly unwrittenUses: number;
}

export interface Directory {
  /**
   * Returns the same object for the same key until its record changes; undefined for an unknown key. Throws api_key_malformed,
   * auth_unavailable.
   */
  callerOf(key: string): Awaitable<Caller | undefined>;
  /** Returns the same object until the organization changes; undefined for an unknown one. Throws auth_unavailable. */
  organizationOf(id: string): Awaitable<Organization | undefined>;
  /** A number that changes with every change in the store; undefined while what was read before may be too old. */
  asOf(): number | undefined;
  /** Whether the credential in an Authorization header is cached and valid. Does not read the store. */
  isKnown(authorization: string | undefined): boolean;
  status(): DirectoryStatus;
  /** Stops following, removes this instance from the store and writes the pending key uses. Does not close the store. */
  close(): Promise<void>;
}

export function createDirectory(options: DirectoryOptions): Directory {
  const { store, digestOf, host, pid, now, pollMs = 250, graceMs = 15 * 60_000, machine = realMachine } = options;
  const { performance } = machine;
  const cache = createIdentityCache(options);
  const uses = createKeyUses({ keys: store.keys, now, machine });
  const reports = createInstanceReports({
    instances: store.instances,
    host,
    pid,
    startedAtMs: now(),
    graceMs,
    machine,
  });
  const follower = createChangeFollower({
    stream: store.audit,
    pollMs,
    now,
    onChange(change) {
      cache.forget(change);
      options.onChange?.(change);
    },
    onReset(isFirst) {
      cache.forgetAll();
      if (!isFirst) options.onReplaced?.();
    },
    onPolled,
    onHealth: options.onHealth,
    machine,
  });
  const lookUpKey = createLookUp({ follower, learn: cache.learnKey, unavailable });
  const lookUpOrganization = createLookUp({ follower, learn: cache.learnOrganization, unavailable });

  function onPolled(): void {
    // All outdated entries have been dropped here: after a position is reported, no later request is accepted by an older record.
    const position = follower.position();
    if (position !== undefined) reports.noteRead(position);
    void uses.writeSome();
  }

  /**
   * Whether cached callers are accepted. This matters while the store can be read, too: after a process stood still, its cache lacks the
   * changes that its next read will bring, and commands no longer wait for that read. Two clocks measure an outage, because the wall clock
   * may be set back.
   */
  function withinGrace(): boolean {
    if (now() - follower.readAtMs() > graceMs) return false;
    return follower.failure() === undefined || performance.now() - follower.readAt() <= graceMs;
  }

  function use(known: KnownCaller | undefined): Caller | undefined {
    if (known !== undefined) known.usedAtMs = uses.note(known.caller.subject, known.usedAtMs);
    return known?.caller;
  }

  /** While the store is away, look-ups fail at once, so that no request waits for it. */
  function requireStore(): void {
    const cause = follower.failure();
    if (cause !== undefined) throw unavailable(cause);
  }

  return {
    callerOf(key) {
      const keyHash = cache.hashOf(key);
      const known = cache.caller(keyHash);
      if (known !== undefined && withinGrace()) return use(known);
      // A cached key had a valid form when it was first presented; checking again would cost half a microsecond.
      if (parseApiKey(key) === undefined) throw new GatewayError('api_key_malformed');
      // Without the store, cached absences prove nothing: the key may have been created since the last change that was read.
      requireStore();
      if (cache.isAbsent(keyHash)) return undefined;
      const found = lookUpKey(keyHash, () => store.keys.findByDigest(digestOf(key)));
      return found instanceof Promise ? found.then(use) : use(found);
    },
    organizationOf(id) {
      const known = cache.organization(id);
      if (known !== undefined && withinGrace()) return known;
      requireStore();
      return lookUpOrganization(id, () => store.organizations.get(id));
    },
    asOf: () => (withinGrace() && follower.position() !== undefined ? cache.changes() : undefined),
    isKnown(authorization) {
      const credentials = parseAuthorization(authorization);
      if (credentials?.scheme !== 'bearer') return false;
      const caller = cache.caller(cache.hashOf(credentials.value))?.caller;
      return caller !== undefined && isGood(caller, now()) && withinGrace();
    },
    status() {
      const failure = follower.failure();
      return {
        store: failure === undefined ? 'reachable' : 'failing',
        reason: failure?.message,
        readAtMs: follower.readAtMs(),
        graceEndsAtMs: failure && follower.readAtMs() + graceMs,
        instance: reports.id,
        position: follower.position(),
        writeFailure: reports.failure(),
        ...cache.sizes(),
        unwrittenUses: uses.pending(),
      };
    },
    async close() {
      follower.stop();
      await Promise.all([reports.close(), uses.writeAll()]);
    },
  };
}

function unavailable(cause: unknown): GatewayError {
  return new GatewayError('auth_unavailable', { cause });
}

function isGood({ revoked, expiresAtMs, organization }: Caller, nowMs: number): boolean {
  return !revoked && expiresAtMs > nowMs && organization?.state === 'active';
}
