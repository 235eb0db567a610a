// The dates of source files, which pages show as the date of their last change.

import { stat } from 'node:fs/promises';

/** Returns a function that gives the date of the newest of some files; undefined if none can be read. */
export function createFileDates(): (files: readonly string[]) => Promise<number | undefined> {
  const known = new Map<string, Promise<number>>();
  const dateOf = (file: string) => {
    const date =
      known.get(file) ??
      stat(file).then(
        ({ mtimeMs }) => mtimeMs,
        () => 0,
      );
    known.set(file, date);
    return date;
  };
  return async (files) => Math.max(0, ...(await Promise.all(files.map(dateOf)))) || undefined;
}
