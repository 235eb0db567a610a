// The sessions of this process: cached, refreshed in time, and dropped within a second of their end anywhere. A process that cannot read
// the ends stops accepting cached sessions after that second.

import type { Awaitable } from '../../shared/awaitable.ts';
import { type Machine, realMachine } from '../../shared/machine.ts';
import { createChangeFollower } from '../../shared/stores/change-follower.ts';
import { createLookUp } from '../../shared/stores/look-up.ts';
import { type Refreshed, Refresher, type RefresherOptions } from '../refresh/refresher.ts';
import type { EndReason, Session, SessionEnd, SessionStore } from '../store/session-store.ts';
import { createKnownSessions, isKnownAlive, type KnownSession, toKnown } from './known-sessions.ts';
import { createRecentEnds } from './recent-ends.ts';
import { createStoreClock } from './store-clock.ts';
import { createWatchedSessions, type Ended } from './watched-sessions.ts';

const POLL_MS = 250;
/**
 * Within this time, every instance knows that a session has ended; an instance that cannot tell asks the store. This is no setting, because
 * it is a promise to operators.
 */
const ENDS_WITHIN_MS = 1000;
/** Uses written at a time. */
const BATCH = 200;
/**
 * How many watched sessions are looked up in the store at a time, when they seem to be idle for too long. Another instance may know of a
 * later use.
 */
const LOOKED_UP = 20;

interface LiveSessionsOptions extends Pick<RefresherOptions, 'redeem' | 'reuseMsOf' | 'discard' | 'onFailure'> {
  readonly store: SessionStore;
  /** Sessions in memory. */
  readonly max: number;
  /** Called with the reason when the store can no longer be read, and with undefined when it can be read again. */
  readonly onHealth?: ((reason: string | undefined) => void) | undefined;
  readonly machine?: Machine | undefined;
}

interface LiveSessionsStatus {
  readonly store: 'reachable' | 'failing';
  /** Reason of the failure, for operators only. */
  readonly reason: string | undefined;
  /** Sessions in memory. */
  readonly known: number;
  readonly refreshing: number;
  /** Sessions with something open. */
  readonly watched: number;
}

export interface LiveSessions extends Pick<SessionStore, 'end' | 'endSubject' | 'endByProvider'> {
  /**
   * Returns the same object until something about the session changes; undefined if it has ended or is unknown. Throws or rejects if it is
   * neither known nor can be read.
   */
  find(hash: string): Awaitable<Session | undefined>;
  /** As `find`, for a request that uses the session: the use is written later, at a coarse grain. */
  use(hash: string): Awaitable<KnownSession | undefined>;
  /** Whether `find` would return it without the store. */
  isKnown(hash: string): boolean;
  /** The session with a living access token; see `Refresher`. */
  fresh(session: Session): Awaitable<Refreshed>;
  /**
   * Calls back once, within a second after the session has ended on any instance; at once if it has ended already. Returns a function that
   * ends the watch.
   */
  onEnded(session: Session, listener: (reason: Ended) => void): () => void;
  status(): LiveSessionsStatus;
  /** Waits for refreshes in progress, and writes uses. Does not close the store. */
  close(): Promise<void>;
}

/** Follows the ends at once; the timers do not keep the process alive. */
export function createLiveSessions(options: LiveSessionsOptions): LiveSessions {
  const { store, machine = realMachine } = options;
  const { performance, now } = machine;
  const { nowMs, reading } = createStoreClock(machine);
  const known = createKnownSessions(options.max);
  const watched = createWatchedSessions();
  const recentEnds = createRecentEnds(end, performance);
  let isWriting = false;
  let isLookingUp = false;
  /** Watched sessions that the store may have lost. */
  let doubted = new Set<Session>();

  function drop({ id, hash, reason, atMs }: Omit<SessionEnd, 'sequence'>): void {
    known.forget(hash);
    recentEnds.note({ id, reason }, nowMs() - atMs);
    watched.end(id, reason);
  }

  async function end(id: string, reason: EndReason): Promise<Session | undefined> {
    const ended = await store.end(id, reason);
    if (ended !== undefined) drop({ ...ended, reason, atMs: nowMs() });
    return ended;
  }

  const follower = createChangeFollower<SessionEnd>({
    stream: {
      since: (sequence, limit) => reading(() => store.ends.since(sequence, limit)),
      subscribe: store.ends.subscribe,
    },
    pollMs: POLL_MS,
    now,
    onChange: drop,
    onReset(isFirst) {
      known.forgetAll();
      if (isFirst) return;
      recentEnds.repeatAll();
      doubted = new Set(watched.all());
    },
    onPolled,
    onHealth: options.onHealth,
    machine,
  });
  const lookUp = createLookUp<Session, KnownSession>({
    follower,
    learn(hash, found, keep) {
      if (found === undefined) {
        known.forget(hash);
        if (keep) known.putAbsent(hash);
        return undefined;
      }
      const learned = keep ? known.put(found) : toKnown(found);
      watched.update(learned.session);
      return known.isAlive(learned.session, nowMs()) ? learned : undefined;
    },
    unavailable: (cause) => (cause instanceof Error ? cause : new Error(String(cause))),
  });
  const refresher = new Refresher({
    ...options,
    end: (session, reason) => end(session.id, reason),
    nowMs,
    onSuccessor(session) {
      if (known.get(session.hash) !== undefined) known.put(session);
      watched.update(session);
    },
    machine,
  });

  function onPolled(): void {
    if (follower.failure() !== undefined) return;
    void recentEnds.repeatSome();
    void writeUses();
    void endWatched();
  }

  async function writeUses(): Promise<void> {
    const uses = known.unwritten(BATCH);
    if (isWriting || uses.size === 0) return;
    isWriting = true;
    try {
      await store.touch(uses);
      known.noteWritten(uses);
    } catch {
      // The store is away: a later batch repeats the same uses.
    }
    isWriting = false;
  }

  /**
   * Ends the streams of sessions that have expired, or that the store has lost. The store decides, because another instance may know of a later
   * use. Nothing else would tell of the end of a session that is lost: an end finds no session.
   */
  async function endWatched(): Promise<void> {
    if (isLookingUp) return;
    isLookingUp = true;
    const doubtful = doubted;
    const over = watched.all().filter((session) => !known.isAlive(session, nowMs()));
    try {
      for (const session of [...over.slice(0, LOOKED_UP), ...doubtful]) {
        const { id, hash } = session;
        if ((await lookUp(hash, () => store.find(hash))) === undefined) watched.end(id, 'expired');
        doubtful.delete(session);
      }
    } catch {
      // The store is away: the next poll begins again.
    }
    isLookingUp = false;
  }

  /**
   * Whether the ends were read recently enough to accept cached sessions. Both clocks have to agree, because the monotonic clock stands
   * still while the machine sleeps, and the wall clock may be set. If the wall clock was set back, the answer is no.
   */
  function withinGrace(): boolean {
    const sinceReadMs = now() - follower.readAtMs();
    return sinceReadMs >= 0 && sinceReadMs <= ENDS_WITHIN_MS && performance.now() - follower.readAt() <= ENDS_WITHIN_MS;
  }

  function cached(hash: string, atMs: number): KnownSession | undefined {
    const found = known.get(hash);
    return found !== undefined && withinGrace() && isKnownAlive(found, atMs) ? found : undefined;
  }

  function notCached(hash: string): Awaitable<KnownSession | undefined> {
    const failure = follower.failure();
    if (failure !== undefined) throw failure;
    if (known.isAbsent(hash)) return undefined;
    return lookUp(hash, () => store.find(hash));
  }

  function used(found: KnownSession | undefined): KnownSession | undefined {
    if (found !== undefined) known.noteUse(found, nowMs());
    return found;
  }

  return {
    find(hash) {
      const found = cached(hash, nowMs()) ?? notCached(hash);
      return found instanceof Promise ? found.then((late) => late?.session) : found?.session;
    },
    use(hash) {
      const atMs = nowMs();
      const found = cached(hash, atMs);
      if (found !== undefined) {
        known.noteUse(found, atMs);
        return found;
      }
      const read = notCached(hash);
      return read instanceof Promise ? read.then(used) : used(read);
    },
    isKnown: (hash) => cached(hash, nowMs()) !== undefined,
    fresh: (session) => refresher.fresh(session),
    onEnded(session, listener) {
      const reason = recentEnds.reasonOf(session.id);
      if (reason === undefined) {
        // Its request may have begun before the store was replaced.
        if (known.get(session.hash) === undefined) doubted.add(session);
        return watched.add(session, listener);
      }
      queueMicrotask(() => listener(reason));
      return () => undefined;
    },
    end,
    async endSubject(provider, subject, reason) {
      const ended = await store.endSubject(provider, subject, reason);
      for (const session of ended) drop({ ...session, reason, atMs: nowMs() });
      return ended;
    },
    async endByProvider(logout) {
      const ended = await store.endByProvider(logout);
      for (const session of ended ?? []) drop({ ...session, reason: 'provider', atMs: nowMs() });
      return ended;
    },
    status() {
      const failure = follower.failure();
      return {
        store: failure === undefined ? 'reachable' : 'failing',
        reason: failure?.message,
        known: known.size(),
        refreshing: refresher.running(),
        watched: watched.size(),
      };
    },
    async close() {
      follower.stop();
      await refresher.close();
      await writeUses();
    },
  };
}
