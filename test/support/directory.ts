// Directories for the files of a test.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const made: string[] = [];
process.once('exit', () => {
  for (const directory of made) rmSync(directory, { recursive: true, force: true });
});

/** Makes a directory. It is removed when this process ends, because parts that the test has opened may use it until then. */
export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'gateway-test-'));
  made.push(directory);
  return directory;
}
