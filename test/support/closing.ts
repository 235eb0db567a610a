// Closes everything that a test file has opened, even if a test or its preparation fails.

import { after, afterEach } from 'node:test';

export interface Closable {
  stop?(): unknown;
  close?(): unknown;
  destroy?(): unknown;
}

type Start = <T extends Closable>(opened: T | Promise<T>) => Promise<T>;

/** Call it once in a file or a suite, and pass each thing that a test opens through the returned function. The latest closes first. */
export function closesAfterEach(): Start {
  return closedBy(afterEach);
}

/** Closes things that all tests of a file or suite share, after all tests. */
export function closesAfterAll(): Start {
  return closedBy(after);
}

function closedBy(hook: (close: () => Promise<void>) => void): Start {
  const open: Closable[] = [];
  hook(async () => {
    for (const it of open.splice(0).reverse()) {
      // If it has both, `close` does more than `stop`.
      if (it.close) await it.close();
      else if (it.stop) await it.stop();
      else it.destroy?.();
    }
  });
  return async function start(opened) {
    const it = await opened;
    open.push(it);
    return it;
  };
}
