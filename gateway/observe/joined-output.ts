// Several processes write to one standard output, through the one that holds them: each hands in whatever pieces a pipe delivers, and
// whole lines come out. Written by each on its own, lines would tear: the system keeps only 4 KiB of a write to a pipe together.

import type { Readable } from 'node:stream';
import { pino } from 'pino';

const NEWLINE = 10;

export interface JoinedOutput {
  /** Passes on what a process writes, as fast as the output takes it. Resolves when it has written its last. */
  join(from: Readable): Promise<void>;
  /** One line or more of one's own. */
  write(lines: string): void;
  /** Writes out everything at once. */
  flush(): void;
}

/** Where bytes go. `write` answers false when it is better to wait for `onDrain`. */
export interface ByteSink {
  write(bytes: Buffer): boolean;
  onDrain(handle: () => void): void;
  flush(): void;
}

/** pino's stream: it neither blocks nor loses anything when a pipe is full. */
export function standardOutput(): ByteSink {
  const stream = pino.destination({ dest: 1, sync: false, contentMode: 'buffer' } as Parameters<
    typeof pino.destination
  >[0]);
  return {
    write: (bytes) => stream.write(bytes as unknown as string),
    onDrain: (handle) => void stream.on('drain', handle),
    flush: () => stream.flushSync(),
  };
}

export function createJoinedOutput(sink: ByteSink): JoinedOutput {
  const sources = new Set<Readable>();
  sink.onDrain(() => {
    for (const source of sources) source.resume();
  });

  function write(bytes: Buffer): void {
    if (sink.write(bytes)) return;
    for (const source of sources) source.pause();
  }

  return {
    join(from) {
      let begun: Buffer[] = [];
      sources.add(from);
      from.on('data', (bytes: Buffer) => {
        const end = bytes.lastIndexOf(NEWLINE) + 1;
        if (end > 0) {
          write(begun.length === 0 ? bytes.subarray(0, end) : Buffer.concat([...begun, bytes.subarray(0, end)]));
          begun = [];
        }
        if (end < bytes.length) begun.push(bytes.subarray(end));
      });
      return new Promise((resolve) => {
        from.on('close', () => {
          sources.delete(from);
          // Whoever was killed in the middle of a line must not spoil the next one.
          if (begun.length > 0) write(Buffer.concat([...begun, Buffer.of(NEWLINE)]));
          resolve();
        });
      });
    },
    write: (lines) => write(Buffer.from(lines)),
    flush: sink.flush,
  };
}
