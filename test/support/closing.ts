// Closes what a test file has opened, also when a test or its preparation fails half-way.

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

/** The same for things that all tests of the file or suite share. */
export function closesAfterAll(): Start {
  return closedBy(after);
}

function closedBy(hook: (close: () => Promise<void>) => void): Start {
  const open: Closable[] = [];
  hook(async () => {
    for (const it of open.splice(0).reverse()) {
      // What has both closes more than it stops.
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
