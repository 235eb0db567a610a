// Finds sessions for requests, from a cache, with tokens that are refreshed in time. If a session ends on any instance, this process drops
// it within a second, or accepts no cached session if it cannot read the ends.

import { type Awaitable, andThen } from '../../shared/awaitable.ts';
import { type Machine, REAL_MACHINE } from '../../shared/machine.ts';
import { ChangeFollower } from '../../shared/stores/change-follower.ts';
import { createLookUp, type LookUp } from '../../shared/stores/look-up.ts';
import { type ProviderRefreshes, type RefreshedSession, Refresher } from '../refresh/refresher.ts';
import type { EndReason, ProviderLogout, Session, SessionEnd, SessionStore } from '../store/session-store.ts';
import { ExpiredWatches } from './expired-watches.ts';
import { createKnownSessions, isKnownAlive, type KnownSession, toKnown } from './known-sessions.ts';
import { createRecentEnds } from './recent-ends.ts';
import { createStoreClock, type StoreClock } from './store-clock.ts';
import { createTimelyReads, type TimelyReads } from './timely-reads.ts';
import { createWatchedSessions, type WatchedEnd } from './watched-sessions.ts';

const POLL_MS = 250;
/** Number of uses that are written at a time. */
const BATCH = 200;

interface LiveSessionsOptions extends ProviderRefreshes {
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

/** Follows the ends from its creation on; the timers do not keep the process alive. */
export class LiveSessions {
  readonly #options: LiveSessionsOptions;
  readonly #store: SessionStore;
  readonly #machine: Machine;
  readonly #clock: StoreClock;
  readonly #known: ReturnType<typeof createKnownSessions>;
  readonly #watched = createWatchedSessions();
  readonly #recentEnds: ReturnType<typeof createRecentEnds>;
  readonly #follower: ChangeFollower<SessionEnd>;
  readonly #lookUp: LookUp<Session, KnownSession>;
  readonly #reads: TimelyReads;
  readonly #expired: ExpiredWatches;
  readonly #refresher: Refresher;
  #isWriting = false;

  constructor(options: LiveSessionsOptions) {
    const { store, max, machine = REAL_MACHINE } = options;
    this.#options = options;
    this.#store = store;
    this.#machine = machine;
    this.#clock = createStoreClock(machine);
    this.#known = createKnownSessions(max);
    this.#recentEnds = createRecentEnds((id, reason) => this.end(id, reason), machine.performance);
    this.#follower = this.#followEnds();
    this.#reads = createTimelyReads({ store, clock: this.#clock, follower: this.#follower, machine });
    this.#lookUp = createLookUp<Session, KnownSession>({
      follower: this.#follower,
      learn: (hash, found, keep) => this.#learn(hash, found, keep),
      unavailable: (cause) => (cause instanceof Error ? cause : new Error(String(cause))),
    });
    this.#expired = new ExpiredWatches({
      watched: this.#watched,
      isAlive: (session) => this.#known.isAlive(session, this.#clock.nowMs()),
      isStored: async ({ hash }) => (await this.#lookUp(hash, () => store.find(hash))) !== undefined,
    });
    this.#refresher = new Refresher({
      ...options,
      end: (session, reason) => this.end(session.id, reason),
      nowMs: this.#clock.nowMs,
      onSuccessor: (session) => {
        if (this.#known.get(session.hash) !== undefined) this.#known.put(session);
        this.#watched.update(session);
      },
      machine,
    });
  }

  #followEnds(): ChangeFollower<SessionEnd> {
    const { ends } = this.#store;
    return new ChangeFollower<SessionEnd>({
      stream: {
        since: (sequence, limit) => this.#clock.reading(() => ends.since(sequence, limit)),
        subscribe: ends.subscribe,
      },
      pollMs: POLL_MS,
      now: this.#machine.now,
      onChange: (end) => this.#drop(end),
      onReset: (isFirst) => {
        this.#known.forgetAll();
        if (isFirst) return;
        this.#recentEnds.repeatAll();
        this.#expired.doubtAll();
      },
      onPolled: () => this.#polled(),
      onHealth: this.#options.onHealth,
      machine: this.#machine,
    });
  }

  /**
   * Returns a session, as the same object until it changes. Returns undefined if the session has ended or is unknown. Throws or rejects if
   * the session is not cached and cannot be read.
   */
  find(hash: string): Awaitable<Session | undefined> {
    const found = this.#cached(hash, this.#clock.nowMs()) ?? this.#notCached(hash);
    return andThen(found, (known) => known?.session);
  }

  /** Finds a session for a request that uses it. The use is written to the store later. */
  use(hash: string): Awaitable<Session | undefined> {
    const atMs = this.#clock.nowMs();
    const cached = this.#cached(hash, atMs);
    if (cached !== undefined) {
      this.#known.noteUse(cached, atMs);
      return cached.session;
    }
    return andThen(this.#notCached(hash), (read) => {
      if (read !== undefined) this.#known.noteUse(read, this.#clock.nowMs());
      return read?.session;
    });
  }

  /** Whether `find` would return the session without reading the store. */
  isKnown(hash: string): boolean {
    return this.#cached(hash, this.#clock.nowMs()) !== undefined;
  }

  /** Returns the session with a valid access token. See `Refresher`. */
  fresh(session: Session): Awaitable<RefreshedSession> {
    return this.#refresher.fresh(session);
  }

  /**
   * Calls back once, within a second after the session has ended on any instance, or at once if it has ended already. Returns a function
   * that ends the watch.
   */
  onEnded(session: Session, listener: (reason: WatchedEnd) => void): () => void {
    const reason = this.#recentEnds.reasonOf(session.id);
    if (reason === undefined) {
      // Its request may have begun before the store was replaced.
      if (this.#known.get(session.hash) === undefined) this.#expired.doubt(session);
      return this.#watched.add(session, listener);
    }
    queueMicrotask(() => listener(reason));
    return () => undefined;
  }

  async end(id: string, reason: EndReason): Promise<Session | undefined> {
    const ended = await this.#store.end(id, reason);
    if (ended !== undefined) this.#drop({ ...ended, reason, atMs: this.#clock.nowMs() });
    return ended;
  }

  async endSubject(provider: string, subject: string, reason: EndReason): Promise<readonly Session[]> {
    const ended = await this.#store.endSubject(provider, subject, reason);
    for (const session of ended) this.#drop({ ...session, reason, atMs: this.#clock.nowMs() });
    return ended;
  }

  async endByProvider(logout: ProviderLogout): Promise<readonly Session[] | undefined> {
    const ended = await this.#store.endByProvider(logout);
    for (const session of ended ?? []) this.#drop({ ...session, reason: 'provider', atMs: this.#clock.nowMs() });
    return ended;
  }

  status(): LiveSessionsStatus {
    const failure = this.#follower.failure();
    return {
      store: failure === undefined ? 'reachable' : 'failing',
      reason: failure?.message,
      known: this.#known.size(),
      refreshing: this.#refresher.running(),
      watched: this.#watched.size(),
    };
  }

  /** Waits for refreshes in progress, and writes uses. Does not close the store. */
  async close(): Promise<void> {
    this.#follower.stop();
    await this.#refresher.close();
    await this.#writeUses();
  }

  #drop({ id, hash, reason, atMs }: Omit<SessionEnd, 'sequence'>): void {
    this.#known.forget(hash);
    this.#recentEnds.note({ id, reason }, this.#clock.nowMs() - atMs);
    this.#watched.end(id, reason);
  }

  #learn(hash: string, found: Session | undefined, keep: boolean): KnownSession | undefined {
    if (found === undefined) {
      this.#known.forget(hash);
      if (keep) this.#known.putAbsent(hash);
      return undefined;
    }
    const learned = keep ? this.#known.put(found) : toKnown(found);
    this.#watched.update(learned.session);
    return this.#known.isAlive(learned.session, this.#clock.nowMs()) ? learned : undefined;
  }

  #polled(): void {
    if (this.#follower.failure() !== undefined) return;
    void this.#recentEnds.repeatSome();
    void this.#writeUses();
    void this.#expired.end();
  }

  async #writeUses(): Promise<void> {
    const uses = this.#known.unwritten(BATCH);
    if (this.#isWriting || uses.size === 0) return;
    this.#isWriting = true;
    try {
      await this.#store.touch(uses);
      this.#known.noteWritten(uses);
    } catch {
      // The store cannot be reached. A later batch repeats the same uses.
    }
    this.#isWriting = false;
  }

  #cached(hash: string, atMs: number): KnownSession | undefined {
    const found = this.#known.get(hash);
    return found !== undefined && this.#reads.mayUseCache() && isKnownAlive(found, atMs) ? found : undefined;
  }

  #notCached(hash: string): Awaitable<KnownSession | undefined> {
    const failure = this.#follower.failure();
    if (failure !== undefined) throw failure;
    if (this.#known.isAbsent(hash)) return undefined;
    return this.#lookUp(hash, () => this.#reads.find(hash));
  }
}
