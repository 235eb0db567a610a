// Digests of files: they show whether two configurations are the same, and which files differ.

import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { READ_BYTES_MAX } from '../shared/file-text.ts';
import { isOutOfFiles } from './free-files.ts';

/**
 * Returns the digest of each file, `absent` for one that cannot be read, is too large, or may never end, as a pipe. Streams the files, so
 * that requests are not blocked.
 */
export async function digestsOf(files: Iterable<string>): Promise<Map<string, string>> {
  const digests = new Map<string, string>();
  for (const file of files) digests.set(file, await digestOf(file));
  return digests;
}

async function digestOf(file: string): Promise<string> {
  const hash = createHash('sha256');
  try {
    const stats = await stat(file);
    if (!stats.isFile() || stats.size > READ_BYTES_MAX) return 'absent';
    for await (const chunk of createReadStream(file)) hash.update(chunk);
  } catch (error) {
    if (isOutOfFiles(error)) throw error;
    return 'absent';
  }
  return hash.digest('hex');
}

/** Returns a short version, equal for equal contents: instances with the same version serve the same configuration. */
export function versionOf(digests: ReadonlyMap<string, string>): string {
  const hash = createHash('sha256');
  // Paths are left out, because they differ between machines.
  for (const digest of [...digests.values()].sort()) hash.update(digest);
  return hash.digest('hex').slice(0, 12);
}

/** Returns the files that exist on one side only or have different content. */
export function changedFiles(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): string[] {
  const all = new Set([...before.keys(), ...after.keys()]);
  return [...all].filter((file) => before.get(file) !== after.get(file));
}
