// The session cache of this process. It also contains the uses of sessions that are not written to the store yet.

import { LRUCache } from 'lru-cache';
import { USE_GRAIN } from '../store/record.ts';
import type { Session } from '../store/session-store.ts';

/** While the store rejects writes, the oldest uses are dropped. */
const UNWRITTEN_MAX = 50_000;
/**
 * Maximum number of hashes without a session that are remembered. Such a hash never gets a session, because each login draws a new hash.
 */
const ABSENT_MAX = 10_000;

/** A cached session with its uses. It is one object, because each request reads all members. */
export interface KnownSession {
  session: Session;
  usedAtMs: number;
  /** The time of the last use that is stored, or will be stored. */
  notedAtMs: number;
}

interface KnownSessions {
  get(hash: string): KnownSession | undefined;
  isAbsent(hash: string): boolean;
  /** Stores a session, unless the cache contains a later generation of it. Returns the entry. */
  put(session: Session): KnownSession;
  putAbsent(hash: string): void;
  /** Whether, as far as this process knows, neither the absolute end nor the idle end of the session has come. */
  isAlive(session: Session, nowMs: number): boolean;
  noteUse(known: KnownSession, nowMs: number): void;
  /** Returns some uses that must be written, by hash. */
  unwritten(most: number): ReadonlyMap<string, number>;
  noteWritten(uses: ReadonlyMap<string, number>): void;
  forget(hash: string): void;
  /**
   * Forgets everything. Call it when the store was replaced, because the new store may lack sessions, or contain sessions that have ended.
   */
  forgetAll(): void;
  size(): number;
}

/** @param max sessions in memory */
export function createKnownSessions(max: number): KnownSessions {
  const known = new LRUCache<string, KnownSession>({ max });
  const absent = new LRUCache<string, true>({ max: ABSENT_MAX });
  const unwritten = new Map<string, number>();
  const usedAtMs = (session: Session) => Math.max(session.usedAtMs, known.get(session.hash)?.usedAtMs ?? 0);

  return {
    get: (hash) => known.get(hash),
    isAbsent: (hash) => absent.has(hash),
    put(session) {
      const { hash } = session;
      const present = known.get(hash);
      if (present === undefined) {
        const added = toKnown(session);
        known.set(hash, added);
        return added;
      }
      present.usedAtMs = Math.max(present.usedAtMs, session.usedAtMs);
      if (session.generation > present.session.generation) present.session = session;
      return present;
    },
    putAbsent: (hash) => void absent.set(hash, true),
    isAlive: (session, nowMs) => isKnownAlive({ session, usedAtMs: usedAtMs(session) }, nowMs),
    noteUse(used, nowMs) {
      const { hash, idleMs } = used.session;
      used.usedAtMs = nowMs;
      if (nowMs - used.notedAtMs < Math.min(USE_GRAIN.most, USE_GRAIN.part * idleMs)) return;
      used.notedAtMs = nowMs;
      if (unwritten.size >= UNWRITTEN_MAX) unwritten.delete(unwritten.keys().next().value ?? '');
      unwritten.set(hash, Math.floor(nowMs));
    },
    unwritten(most) {
      const some = new Map<string, number>();
      for (const [hash, atMs] of unwritten) {
        if (some.size === most) break;
        some.set(hash, atMs);
      }
      return some;
    },
    noteWritten(uses) {
      for (const [hash, atMs] of uses) if (unwritten.get(hash) === atMs) unwritten.delete(hash);
    },
    forget: (hash) => void known.delete(hash),
    forgetAll() {
      known.clear();
      absent.clear();
    },
    size: () => known.size,
  };
}

export function toKnown(session: Session): KnownSession {
  return { session, usedAtMs: session.usedAtMs, notedAtMs: session.usedAtMs };
}

/** Returns the same as `isAlive`, for a caller that already has the known session. */
export function isKnownAlive(
  { session, usedAtMs }: Pick<KnownSession, 'session' | 'usedAtMs'>,
  nowMs: number,
): boolean {
  return nowMs < session.endsAtMs && nowMs < usedAtMs + session.idleMs;
}
