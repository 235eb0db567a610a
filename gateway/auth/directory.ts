// Who a presented key stands for: remembered, followed through changes, and still answered for a while when the store is away.
// Throws api_key_malformed, and auth_unavailable when it cannot know.

import { GatewayError } from '../errors.ts';
import type { Awaitable, Caller, Organization } from '../exchange.ts';
import { type DigestOf, parseApiKey } from './api-key.ts';
import type { KnownCaller } from './caller-cache.ts';
import { createChangeFollower } from './change-follower.ts';
import { parseAuthorization } from './credentials.ts';
import { createIdentityCache } from './identity-cache.ts';
import { createInstanceReports } from './instance-reports.ts';
import { createKeyUses } from './key-uses.ts';
import { createLookUp } from './look-up.ts';
import type { KeyStore, KeyStoreChange } from './store/store.ts';

export interface DirectoryOptions {
  readonly store: Pick<KeyStore, 'keys' | 'organizations' | 'audit' | 'instances'>;
  readonly digestOf: DigestOf;
  /** Where this gateway runs, as the store lists it. */
  readonly host: string;
  readonly pid: number;
  now(): number;
  /** Most callers remembered, and most organizations. */
  readonly positiveMax: number;
  /** Most keys remembered as standing for nobody. */
  readonly negativeMax: number;
  readonly pollMs?: number;
  /** How long known callers are let in while the store is away. */
  readonly graceMs?: number;
  /** Every change of the store, after what it makes out of date was dropped here. */
  readonly onChange?: (change: KeyStoreChange) => void;
  /** The store cannot be read any more, for this reason; or it can again. */
  readonly onHealth?: (reason: string | undefined) => void;
  /** What the store has is not what it had: it was wiped, restored, or has lost its latest changes. */
  readonly onReplaced?: () => void;
}

export interface DirectoryStatus {
  readonly store: 'reachable' | 'failing';
  /** Why it is failing, for operators only. */
  readonly reason: string | undefined;
  readonly readAtMs: number;
  /** While failing: until when known callers are let in. */
  readonly graceEndsAtMs: number | undefined;
  /** Id by which the store knows this gateway. */
  readonly instance: string;
  /** Every change up to this sequence number is in force here; undefined: the store was not read yet. */
  readonly position: number | undefined;
  /** Why the store takes no writes, such as that of a replica or of a full one, for operators only. */
  readonly writeFailure: string | undefined;
  readonly callers: number;
  readonly absences: number;
  readonly organizations: number;
  readonly unwrittenUses: number;
}

export interface Directory {
  /** The same object for the same key until something about it changes; undefined: no such key. Throws api_key_malformed. */
  callerOf(key: string): Awaitable<Caller | undefined>;
  /** The same object until something about the organization changes; undefined: there is none. Throws auth_unavailable. */
  organizationOf(id: string): Awaitable<Organization | undefined>;
  /** Whether an Authorization header is known to be good, without asking the store. */
  isKnown(authorization: string | undefined): boolean;
  status(): DirectoryStatus;
  /** Stops following, says goodbye to the store and writes the uses noted so far. The store stays open. */
  close(): Promise<void>;
}

export function createDirectory(options: DirectoryOptions): Directory {
  const { store, digestOf, host, pid, now, pollMs = 250, graceMs = 15 * 60_000 } = options;
  const memory = createIdentityCache(options);
  const { callers } = memory;
  const uses = createKeyUses({ keys: store.keys, now });
  const reports = createInstanceReports({ instances: store.instances, host, pid, startedAtMs: now(), graceMs });
  const follower = createChangeFollower({
    audit: store.audit,
    pollMs,
    now,
    onChange(change) {
      memory.forget(change);
      options.onChange?.(change);
    },
    onReset(isFirst) {
      memory.forgetAll();
      if (!isFirst) options.onReplaced?.();
    },
    onPolled,
    onHealth: options.onHealth,
  });
  const lookUpKey = createLookUp({ follower, learn: memory.learnKey });
  const lookUpOrganization = createLookUp({ follower, learn: memory.learnOrganization });
  const withinGrace = () => follower.failure() === undefined || now() - follower.readAtMs() <= graceMs;

  function onPolled(): void {
    // Everything out of date was dropped by now: once a position is reported, no later request is let in by what was before it.
    const position = follower.position();
    if (position !== undefined) reports.noteRead(position);
    void uses.writeSome();
  }

  function use(known: KnownCaller | undefined): Caller | undefined {
    if (known !== undefined) known.usedAtMs = uses.note(known.caller.subject, known.usedAtMs);
    return known?.caller;
  }

  /** While the store is away nobody is looked up, so that nobody waits for it. */
  function requireStore(): void {
    const cause = follower.failure();
    if (cause !== undefined) throw new GatewayError('auth_unavailable', { cause });
  }

  return {
    callerOf(key) {
      const keyHash = callers.hashOf(key);
      const known = callers.find(keyHash);
      if (known !== undefined && withinGrace()) return use(known);
      // What is remembered had the form of a key when it first came; looking at that costs half a microsecond.
      if (parseApiKey(key) === undefined) throw new GatewayError('api_key_malformed');
      // Before the absences: a key that is remembered as absent may have been made since the stream was last read.
      requireStore();
      if (callers.isAbsent(keyHash)) return undefined;
      const found = lookUpKey(keyHash, () => store.keys.findByDigest(digestOf(key)));
      return found instanceof Promise ? found.then(use) : use(found);
    },
    organizationOf(id) {
      const known = memory.organization(id);
      if (known !== undefined && withinGrace()) return known;
      requireStore();
      return lookUpOrganization(id, () => store.organizations.get(id));
    },
    isKnown(authorization) {
      const credentials = parseAuthorization(authorization);
      if (credentials?.scheme !== 'bearer') return false;
      const caller = callers.find(callers.hashOf(credentials.value))?.caller;
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
        ...memory.sizes(),
        unwrittenUses: uses.pending(),
      };
    },
    async close() {
      follower.stop();
      await Promise.all([reports.close(), uses.writeAll()]);
    },
  };
}

function isGood({ revoked, expiresAtMs, organization }: Caller, nowMs: number): boolean {
  return !revoked && expiresAtMs > nowMs && organization?.state === 'active';
}
