// A test's own servers are closed after it, also when it fails half-way.

import { afterEach } from 'node:test';

export interface Closable {
  stop?(): Promise<unknown>;
  close?(): Promise<unknown>;
  destroy?(): void;
}

/** Registers the hook for a file or a suite; pass everything that is started through the function it answers. */
export function closesAfterEach(): <T extends Closable>(started: T | Promise<T>) => Promise<T> {
  const open: Closable[] = [];
  afterEach(async () => {
    for (const it of open.splice(0).reverse()) {
      if (it.stop) await it.stop();
      else if (it.close) await it.close();
      else it.destroy?.();
    }
  });
  return async function start(started) {
    const it = await started;
    open.push(it);
    return it;
  };
}
