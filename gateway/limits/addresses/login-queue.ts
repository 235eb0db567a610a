// A queue of logins for each client address. Only the first login of an address asks repeatedly for a unit of the limits, because many
// waiting logins would otherwise cause many questions.

/** The longest wait of a login, which is longer than an upstream takes to check a password. */
const WAIT_MS = 10_000;
/**
 * The pause before the first login asks again. Asking is necessary, because no instance is told when another instance gives a unit back.
 */
const ASK_EVERY_MS = 100;

interface LoginQueue {
  /** Resolves with the first result of `ask` that is not undefined, or with undefined after the longest wait. Rejects as `ask` does. */
  take<T>(address: string, ask: () => Promise<T | undefined>): Promise<T | undefined>;
  /** Call it when a unit has been given back. The login that has waited longest then asks again at once. */
  askAgain(): void;
}

export function createLoginQueue(): LoginQueue {
  /** The end of the latest wait of each address. */
  const latest = new Map<string, Promise<void>>();
  /** Wakes the waiting logins, in the order in which they began to wait. */
  const waiting = new Set<() => void>();

  function wait(): Promise<void> {
    return new Promise((resolve) => {
      function wake(): void {
        clearTimeout(timer);
        waiting.delete(wake);
        resolve();
      }
      const timer = setTimeout(wake, ASK_EVERY_MS).unref();
      waiting.add(wake);
    });
  }

  async function askUntil<T>(endsAt: number, ask: () => Promise<T | undefined>): Promise<T | undefined> {
    for (;;) {
      const result = await ask();
      if (result !== undefined || performance.now() >= endsAt) return result;
      await wait();
    }
  }

  return {
    async take(address, ask) {
      const endsAt = performance.now() + WAIT_MS;
      const before = latest.get(address);
      const own = Promise.withResolvers<void>();
      latest.set(address, own.promise);
      try {
        await before;
        return await askUntil(endsAt, ask);
      } finally {
        if (latest.get(address) === own.promise) latest.delete(address);
        own.resolve();
      }
    },
    askAgain() {
      const [wake] = waiting;
      wake?.();
    },
  };
}
