// Ends the streams and WebSockets of sessions that have expired, or that the store has lost. The store is read before each end, because
// another instance may know of a later use, and because the store cannot announce the end of a session that it has lost.

import type { Session } from '../store/session-store.ts';
import type { WatchedSessions } from './watched-sessions.ts';

/** The number of sessions that seem to have expired and are looked up in the store at a time. */
const LOOKED_UP = 20;

interface ExpiredWatchesOptions {
  readonly watched: WatchedSessions;
  /** Whether the session has not ended, as far as this process knows. */
  isAlive(session: Session): boolean;
  /** Whether the store has the session. Rejects if the store cannot be reached. */
  isStored(session: Session): Promise<boolean>;
}

export class ExpiredWatches {
  readonly #options: ExpiredWatchesOptions;
  /** Watched sessions that the store may have lost. */
  #doubted = new Set<Session>();
  #isLookingUp = false;

  constructor(options: ExpiredWatchesOptions) {
    this.#options = options;
  }

  /** Call it for a session that the store may have lost. */
  doubt(session: Session): void {
    this.#doubted.add(session);
  }

  /** Call it when the store was replaced. Makes a new set, because a look-up in progress may have read the former store. */
  doubtAll(): void {
    this.#doubted = new Set(this.#options.watched.all());
  }

  async end(): Promise<void> {
    if (this.#isLookingUp) return;
    this.#isLookingUp = true;
    const { watched, isAlive, isStored } = this.#options;
    const doubted = this.#doubted;
    const expired = watched.all().filter((session) => !isAlive(session));
    try {
      for (const session of [...expired.slice(0, LOOKED_UP), ...doubted]) {
        if (!(await isStored(session))) watched.end(session.id, 'expired');
        doubted.delete(session);
      }
    } catch {
      // The store cannot be reached. The next poll starts from the beginning.
    }
    this.#isLookingUp = false;
  }
}
