// Where the files of contracts are: a reference to a file leads to one of the contracts directory, symbolic links followed, and to no other
// file of the machine.

import { realpathSync } from 'node:fs';
import { isAbsolute, relative, sep } from 'node:path';

/** Returns the real path of a file of the directory; undefined if it is elsewhere. Throws if the file does not exist. */
export function realPathWithin(directory: string, file: string): string | undefined {
  const place = realpathSync(directory);
  // A path that names another place is not looked up, because to look may be to mount.
  if (!isBelow(directory, file) && !isBelow(place, file)) return undefined;
  const real = realpathSync(file);
  return isBelow(place, real) ? real : undefined;
}

/** Returns whether a file exists in the directory, symbolic links followed. */
export function isWithin(directory: string, file: string): boolean {
  try {
    return realPathWithin(directory, file) !== undefined;
  } catch {
    return false;
  }
}

/** Container volumes have directories whose names begin with two dots. */
function isBelow(directory: string, file: string): boolean {
  const path = relative(directory, file);
  return path !== '' && path !== '..' && !path.startsWith(`..${sep}`) && !isAbsolute(path);
}
