// The event streams and WebSockets that are open under a session. They are closed when the session ends.

import type { EndReason, Session } from '../store/session-store.ts';

/** `expired`: the idle or absolute end of the session has come, or the store has lost the session. */
export type WatchedEnd = EndReason | 'expired';

interface WatchedSession {
  session: Session;
  readonly listeners: Set<(reason: WatchedEnd) => void>;
}

export interface WatchedSessions {
  /** Returns a function that ends the watch. */
  add(session: Session, listener: (reason: WatchedEnd) => void): () => void;
  /** Calls every listener of a session, once. */
  end(id: string, reason: WatchedEnd): void;
  all(): readonly Session[];
  /** Takes a later state of the session from the store. */
  update(session: Session): void;
  size(): number;
}

export function createWatchedSessions(): WatchedSessions {
  const byId = new Map<string, WatchedSession>();
  return {
    add(session, listener) {
      const watched = byId.get(session.id) ?? { session, listeners: new Set() };
      byId.set(session.id, watched);
      watched.listeners.add(listener);
      return () => {
        watched.listeners.delete(listener);
        if (watched.listeners.size === 0 && byId.get(session.id) === watched) byId.delete(session.id);
      };
    },
    end(id, reason) {
      const listeners = byId.get(id)?.listeners ?? [];
      byId.delete(id);
      for (const listener of listeners) listener(reason);
    },
    all: () => [...byId.values()].map(({ session }) => session),
    update(session) {
      const watched = byId.get(session.id);
      if (watched !== undefined) watched.session = session;
    },
    size: () => byId.size,
  };
}
