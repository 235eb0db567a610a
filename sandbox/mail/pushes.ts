// Notifies listeners that an account has changed (RFC 8620, section 7.1).

export interface StateChange {
  readonly '@type': 'StateChange';
  readonly changed: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

export interface Pushes {
  /** The returned function ends it. */
  listen(accountId: string, hear: (type: string, change: StateChange) => void): () => void;
  /** @param type What has changed, as JMAP names it: `Email`, `Mailbox`, … */
  push(accountId: string, type: string): void;
}

export function createPushes(): Pushes {
  const listeners = new Set<(accountId: string, type: string, change: StateChange) => void>();
  let state = 0;
  return {
    listen(own, hear) {
      const listener = (accountId: string, type: string, change: StateChange) => {
        if (accountId === own) hear(type, change);
      };
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    push(accountId, type) {
      state += 1;
      const change: StateChange = { '@type': 'StateChange', changed: { [accountId]: { [type]: `s${state}` } } };
      for (const listener of listeners) listener(accountId, type, change);
    },
  };
}
