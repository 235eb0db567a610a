// Reads text files, with a reason and a remedy for a file that cannot be read.

import { isUtf8 } from 'node:buffer';
import { closeSync, constants, fstatSync, openSync, readFileSync, type Stats, statSync } from 'node:fs';
import { relative } from 'node:path';
import type { Mistake } from './mistakes.ts';

/** Returns a path for messages: relative inside the working directory, absolute elsewhere. */
export function shownPath(file: string): string {
  const path = relative(process.cwd(), file);
  return path.startsWith('..') || path === '' ? file : path;
}

/** Why a file cannot be read. */
type Unread = Pick<Mistake, 'line' | 'reason' | 'remedy'>;

/** The longest known documents have 60 MB. */
export const READ_BYTES_MAX = 64 * 2 ** 20;

/**
 * Returns the text of a regular file, or the reason why it cannot be read. A pipe or a device could block the process forever. Text in an
 * encoding other than UTF-8 is treated as unreadable.
 *
 * @param mayBePipe true for a file that the operator has named
 */
export function textOf(file: string, mayBePipe = false): string | Unread {
  let bytes: Buffer | Unread;
  try {
    bytes = mayBePipe ? readFileSync(file) : regularBytesOf(file);
  } catch (error) {
    return unread((error as NodeJS.ErrnoException).code);
  }
  if (!Buffer.isBuffer(bytes)) return bytes;
  if (isUtf8(bytes)) return bytes.toString();
  return { line: lineNotInUtf8(bytes), reason: 'the file is not in UTF-8.', remedy: 'Save it in UTF-8.' };
}

function regularBytesOf(file: string): Buffer | Unread {
  // The type is checked before the file is opened, because opening some devices has an effect.
  const unfit = unfitFor(statSync(file));
  if (unfit !== undefined) return unfit;
  // Another file may have the name by now, and a pipe must not block this call.
  const descriptor = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    return unfitFor(fstatSync(descriptor)) ?? readFileSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function unfitFor(stats: Stats): Unread | undefined {
  if (stats.isFile() && stats.size <= READ_BYTES_MAX) return undefined;
  if (stats.isDirectory()) return unread('EISDIR');
  if (!stats.isFile()) {
    const kind = stats.isFIFO() ? 'a pipe' : stats.isSocket() ? 'a socket' : 'a device';
    return { reason: `this is ${kind}.`, remedy: 'Put a file in its place, or correct the path that names it.' };
  }
  const has = Math.ceil(stats.size / 2 ** 20);
  return { reason: `the file has ${has} MiB, and may have ${READ_BYTES_MAX / 2 ** 20} MiB.`, remedy: 'Split it.' };
}

function unread(code: string | undefined): Unread {
  const remedy = 'Create it, or correct the path that names it.';
  switch (code) {
    case 'ENOENT':
      return { reason: 'the file does not exist.', remedy };
    case 'EISDIR':
      return { reason: 'this is a directory.', remedy: 'Put a file in its place, or correct the path that names it.' };
    case 'EACCES':
    case 'EPERM':
      return { reason: 'the gateway may not read the file.', remedy: 'Give its account the right to.' };
    default:
      return { reason: `the file cannot be read (${code}).`, remedy };
  }
}

function lineNotInUtf8(bytes: Buffer): number {
  let line = 1;
  for (let from = 0; ; line += 1) {
    const end = bytes.indexOf(0x0a, from);
    if (end < 0 || !isUtf8(bytes.subarray(from, end))) return line;
    from = end + 1;
  }
}
