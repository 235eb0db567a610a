// Reads and writes the file of the history in the data directory. The file has at most 6 MiB and is replaced as a whole.

import { readFileSync } from 'node:fs';
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

export interface HistoryFile {
  /** Returns the bytes of the file; undefined if there is no file. */
  read(): Buffer | undefined;
  /** Replaces the file. Never rejects, because a lost history is no reason for a failure. Does not create the directory. */
  write(bytes: Buffer): Promise<void>;
}

export function createHistoryFile(dataDirectory: string): HistoryFile {
  const path = join(dataDirectory, 'console-history');
  return {
    read() {
      try {
        return readFileSync(path);
      } catch {
        return undefined;
      }
    },
    async write(bytes) {
      const draft = `${path}.${process.pid}`;
      await writeFile(draft, bytes, { mode: 0o600 })
        .then(() => rename(draft, path))
        .catch(() => undefined);
    },
  };
}
