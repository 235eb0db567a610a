// Time that passes without being waited for: a process that stands still cannot miss the moment between two deadlines.

import type { TestContext } from 'node:test';

/**
 * Sets the monotonic clock of this process forward by these milliseconds, until the test has ended. Less than a minute at a time: the
 * overload control takes a skip for a delay of the event loop.
 */
export function createSkip(context: TestContext): (ms: number) => void {
  const now = performance.now.bind(performance);
  let skippedMs = 0;
  context.mock.method(performance, 'now', () => now() + skippedMs);
  return (ms) => {
    skippedMs += ms;
  };
}
