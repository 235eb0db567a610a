// Who a presented key stands for: remembered, followed through changes, and still answered for a while when the store is away.
// Throws auth_unavailable when it cannot know.

import { GatewayError } from '../errors.ts';
import type { Awaitable, Caller } from '../exchange.ts';
import type { DigestOf } from './api-key.ts';
import { type CallerCache, createCallerCache, type KnownCaller } from './caller-cache.ts';
import { type ChangeFollower, createChangeFollower } from './change-follower.ts';
import { parseAuthorization } from './credentials.ts';
import { createKeyUses, type KeyUses } from './key-uses.ts';
import { createLookUp } from './look-up.ts';
import type { Change, KeyStore } from './store.ts';

export interface DirectoryOptions {
  readonly store: Pick<KeyStore, 'keys' | 'audit'>;
  readonly digestOf: DigestOf;
  now(): number;
  /** Most callers remembered. */
  readonly positiveMax: number;
  /** Most keys remembered as standing for nobody. */
  readonly negativeMax: number;
  readonly pollMs?: number;
  /** How long known callers are let in while the store is away. */
  readonly graceMs?: number;
}

export interface DirectoryStatus {
  readonly store: 'reachable' | 'failing';
  /** Why it is failing, for operators only. */
  readonly reason: string | undefined;
  readonly readAtMs: number;
  /** While failing: until when known callers are let in. */
  readonly graceEndsAtMs: number | undefined;
  readonly callers: number;
  readonly absences: number;
  readonly unwrittenUses: number;
}

export interface Directory {
  /** The same object for the same key until something about it changes; undefined: no such key. Whether it has the form of a key is checked before. */
  callerOf(key: string): Awaitable<Caller | undefined>;
  /** Whether an Authorization header is known to be good, without asking the store. */
  isKnown(authorization: string | undefined): boolean;
  status(): DirectoryStatus;
  /** Stops following and writes the uses noted so far. The store stays open. */
  close(): Promise<void>;
}

export function createDirectory(options: DirectoryOptions): Directory {
  const { store, digestOf, now, positiveMax, negativeMax, pollMs = 250, graceMs = 15 * 60_000 } = options;
  const cache = createCallerCache({ positiveMax, negativeMax });
  const uses = createKeyUses({ keys: store.keys, now });
  const follower = createChangeFollower({
    audit: store.audit,
    pollMs,
    now,
    onChange: (change) => forget(cache, change),
    onReset: cache.dropAll,
    onPolled: () => void uses.writeSome(),
  });
  const lookUp = createLookUp({ keys: store.keys, digestOf, cache, follower });
  const withinGrace = () => follower.failure() === undefined || now() - follower.readAtMs() <= graceMs;

  function use(known: KnownCaller | undefined): Caller | undefined {
    if (known !== undefined) known.usedAtMs = uses.note(known.caller.subject, known.usedAtMs);
    return known?.caller;
  }

  return {
    callerOf(key) {
      const keyHash = cache.hashOf(key);
      const known = cache.find(keyHash);
      if (known !== undefined && withinGrace()) return use(known);
      // Before the absences: a key that is remembered as absent may have been made since the stream was last read.
      const cause = follower.failure();
      if (cause !== undefined) throw new GatewayError('auth_unavailable', { cause });
      if (cache.isAbsent(keyHash)) return undefined;
      const found = lookUp(key, keyHash);
      return found instanceof Promise ? found.then(use) : use(found);
    },
    isKnown(authorization) {
      const credentials = parseAuthorization(authorization);
      if (credentials?.scheme !== 'bearer') return false;
      const caller = cache.find(cache.hashOf(credentials.value))?.caller;
      return caller !== undefined && isGood(caller, now()) && withinGrace();
    },
    status: () => statusOf(cache, follower, uses, graceMs),
    async close() {
      follower.stop();
      await uses.writeAll();
    },
  };
}

function isGood({ revoked, expiresAtMs, organization }: Caller, nowMs: number): boolean {
  return !revoked && expiresAtMs > nowMs && organization?.state === 'active';
}

function statusOf(cache: CallerCache, follower: ChangeFollower, uses: KeyUses, graceMs: number): DirectoryStatus {
  const failure = follower.failure();
  return {
    store: failure === undefined ? 'reachable' : 'failing',
    reason: failure?.message,
    readAtMs: follower.readAtMs(),
    graceEndsAtMs: failure && follower.readAtMs() + graceMs,
    ...cache.sizes(),
    unwrittenUses: uses.pending(),
  };
}

/** Drops exactly what one change makes out of date. */
function forget(cache: CallerCache, { kind, key = '', organization = '' }: Change): void {
  switch (kind) {
    case 'key.created':
      cache.dropAbsences();
      break;
    case 'key.revoked':
      cache.dropKey(key);
      break;
    case 'organization.tier_changed':
    case 'organization.suspended':
    case 'organization.resumed':
      cache.dropOrganization(organization);
      break;
    case 'organization.created':
    case 'configuration.changed':
      break;
    case 'organizations.seeded':
      cache.dropAll();
      break;
    default:
      kind satisfies never;
      // Written by a newer gateway on the same store: it may mean anything.
      cache.dropAll();
  }
}
