// The file of the console's history in the data directory: at most 6 MiB, replaced as a whole.

import { readFileSync } from 'node:fs';
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

export interface HistoryFile {
  /** Undefined if there is none. */
  read(): Buffer | undefined;
  /** Never rejects: the history is not worth a failure. The directory is not created. */
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
