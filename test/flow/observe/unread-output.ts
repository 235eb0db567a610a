// Loaded beside the gateway by tests: fills the descriptors that `UNREAD` names until they take no more, as if a reader had stopped some
// time ago. On SIGSTKFLT standard output becomes a pipe that waits, as a Node process that shares it leaves it; on SIGPOLL some of
// the threads for slow work wait for a file that never opens.

import { open, writeSync } from 'node:fs';

const { UNREAD = '', NEVER_OPENS = '', NEVER_OPENS_THREADS, NODE_UNIQUE_ID } = process.env;
// Workers have a pipe of their own to the primary.
for (const fd of NODE_UNIQUE_ID === undefined ? UNREAD.split(',').filter(Boolean).map(Number) : []) {
  // Has the pipe not wait.
  void (fd === 1 ? process.stdout : process.stderr).writable;
  try {
    for (;;) writeSync(fd, `${'x'.repeat(999)}\n`);
  } catch {
    // It is full.
  }
}
process.on('SIGSTKFLT', () => {
  (process.stdout as unknown as { _handle: { setBlocking(on: boolean): void } })._handle.setBlocking(true);
});
process.on('SIGPOLL', () => {
  for (let threads = 0; threads < Number(NEVER_OPENS_THREADS); threads += 1) open(NEVER_OPENS, 'r', () => undefined);
});
