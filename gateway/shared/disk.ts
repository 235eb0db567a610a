// Reads how much room the disk of a directory has.

import { statfsSync } from 'node:fs';
import { dirname } from 'node:path';

export interface DiskRoom {
  /** What this account may still write. */
  readonly freeBytes: number;
  readonly totalBytes: number;
}

/** Returns the room on the disk of the directory, or of the first parent that exists. Throws if it cannot be read. */
export function diskRoom(directory: string): DiskRoom {
  try {
    const { bavail, bfree, blocks, bsize } = statfsSync(directory);
    // Some file systems keep blocks for root.
    const free = process.getuid?.() === 0 ? bfree : bavail;
    return { freeBytes: free * bsize, totalBytes: blocks * bsize };
  } catch (error) {
    const parent = dirname(directory);
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || parent === directory) throw error;
    return diskRoom(parent);
  }
}

/** Below this, SQLite finds no place for the pages of a write. */
const FULL_BYTES = 65_536;
const MEBIBYTE = 1_048_576;

export function isDiskFull({ freeBytes }: Pick<DiskRoom, 'freeBytes'>): boolean {
  return freeBytes < FULL_BYTES;
}

/** Returns a text such as `0 of 6 MiB free`. */
export function roomText({ freeBytes, totalBytes }: DiskRoom): string {
  return `${Math.floor(freeBytes / MEBIBYTE)} of ${Math.round(totalBytes / MEBIBYTE)} MiB free`;
}

/** Whether an error of SQLite or of the system says that the disk is full. */
export function saysDiskFull(reason: string): boolean {
  return /database or disk is full|ENOSPC|EDQUOT|no space left/i.test(reason);
}
