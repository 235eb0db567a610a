// Writes a file atomically, readable for its owner only.

import { randomBytes } from 'node:crypto';
import { lstat, open, rename, rm } from 'node:fs/promises';

/**
 * Writes to a temporary name beside the file and renames it at the end. Rejects with a sentence on failure, and leaves an existing file as
 * it was. Rejects anything but a plain file, because the rename would replace a device, pipe or link instead of writing through it.
 */
export async function writeWhole(path: string, pieces: AsyncIterable<string>): Promise<void> {
  await requirePlainFile(path);
  const draft = `${path}.${randomBytes(6).toString('hex')}`;
  const file = await orSay(path, open(draft, 'wx', 0o600));
  try {
    for await (const piece of pieces) await orSay(path, file.writeFile(piece));
    await orSay(path, file.sync());
    await orSay(path, rename(draft, path));
  } catch (cause) {
    await rm(draft, { force: true });
    throw cause;
  } finally {
    await file.close();
  }
}

async function requirePlainFile(path: string): Promise<void> {
  const existing = await lstat(path).catch(() => undefined);
  if (existing === undefined || existing.isFile()) return;
  throw new Error(`${path} is no plain file. Leave --file out and redirect the output to write into it.`);
}

async function orSay<T>(path: string, step: Promise<T>): Promise<T> {
  try {
    return await step;
  } catch (cause) {
    throw new Error(`The file ${path} cannot be written (${(cause as NodeJS.ErrnoException).code}).`, { cause });
  }
}
