// Writes a file so that it is there as a whole or not at all, readable for its owner only.

import { randomBytes } from 'node:crypto';
import { lstat, open, rename, rm } from 'node:fs/promises';

/**
 * Under another name first, beside the file. Rejects with a sentence if that fails; what was there before stays then, and so does what is
 * no plain file: a device or a pipe would be replaced rather than written to, and a link rather than what it points at.
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
  const there = await lstat(path).catch(() => undefined);
  if (there === undefined || there.isFile()) return;
  throw new Error(`${path} is no plain file. Leave --file out and redirect the output to write into it.`);
}

async function orSay<T>(path: string, step: Promise<T>): Promise<T> {
  try {
    return await step;
  } catch (cause) {
    throw new Error(`The file ${path} cannot be written (${(cause as NodeJS.ErrnoException).code}).`, { cause });
  }
}
