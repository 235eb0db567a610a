// What files contain, as digests: whether two configurations are the same, and which files differ.

import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';

/** File → digest of its content, without holding requests up; of a file that cannot be read, `absent`. */
export async function digestsOf(files: Iterable<string>): Promise<Map<string, string>> {
  const digests = new Map<string, string>();
  for (const file of files) digests.set(file, await digestOf(file));
  return digests;
}

async function digestOf(file: string): Promise<string> {
  const hash = createHash('sha256');
  try {
    for await (const chunk of createReadStream(file)) hash.update(chunk);
  } catch {
    return 'absent';
  }
  return hash.digest('hex');
}

/** Short, and equal for equal contents: instances that show the same version serve the same. */
export function versionOf(digests: ReadonlyMap<string, string>): string {
  const hash = createHash('sha256');
  // Without the paths, which differ from machine to machine.
  for (const digest of [...digests.values()].sort()) hash.update(digest);
  return hash.digest('hex').slice(0, 12);
}

/** Files that are in one of both only, or with other content. */
export function changedFiles(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): string[] {
  const all = new Set([...before.keys(), ...after.keys()]);
  return [...all].filter((file) => before.get(file) !== after.get(file));
}
