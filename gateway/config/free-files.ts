// Tells a lack of file descriptors from mistakes in files. Without a file descriptor, an existing file seems to be missing.

import { closeSync, openSync } from 'node:fs';
import { ConfigError } from '../shared/mistakes.ts';

/** More file descriptors than loading a configuration uses at a time. */
const NEEDED = 16;
const LACKING = /\b(EMFILE|ENFILE)\b/;

export class OutOfFiles extends Error {
  constructor(options?: ErrorOptions) {
    super(
      'no file descriptor is left, so no file can be read: raise the limit (ulimit -n, LimitNOFILE), or lower connections.max',
      options,
    );
  }
}

/** Whether an error is the lack of file descriptors, of the process or of the system. */
export function isOutOfFiles(error: unknown): boolean {
  return LACKING.test((error as NodeJS.ErrnoException).code ?? '');
}

/** Loads. Rejects with OutOfFiles, and not with mistakes, where file descriptors are lacking. */
export async function withFreeFiles<T>(load: () => Promise<T>): Promise<T> {
  requireFreeFiles();
  try {
    return await load();
  } catch (error) {
    if (isOutOfFiles(error)) throw new OutOfFiles({ cause: error });
    if (!(error instanceof ConfigError)) throw error;
    if (error.mistakes.some(({ reason }) => LACKING.test(reason))) throw new OutOfFiles({ cause: error });
    // Some readers only say that a file cannot be read, so the number of free file descriptors is checked here.
    requireFreeFiles();
    throw error;
  }
}

function requireFreeFiles(): void {
  if (!areFilesFree(NEEDED)) throw new OutOfFiles();
}

/** Whether the process may open this many files now. */
export function areFilesFree(count: number): boolean {
  const opened: number[] = [];
  try {
    while (opened.length < count) opened.push(openSync('/dev/null', 'r'));
    return true;
  } catch (error) {
    return !isOutOfFiles(error);
  } finally {
    for (const descriptor of opened) closeSync(descriptor);
  }
}
