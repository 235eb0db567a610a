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
  /** The state of a type in an account, which changes with every push. */
  stateOf(accountId: string, type: string): string;
}

export function createPushes(): Pushes {
  const listeners = new Set<(accountId: string, type: string, change: StateChange) => void>();
  const states = new Map<string, string>();
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
      const named = `s${state}`;
      states.set(`${accountId} ${type}`, named);
      const change: StateChange = { '@type': 'StateChange', changed: { [accountId]: { [type]: named } } };
      for (const listener of listeners) listener(accountId, type, change);
    },
    stateOf: (accountId, type) => states.get(`${accountId} ${type}`) ?? 's0',
  };
}
