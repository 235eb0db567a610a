// A list of test files for several processes: the process that creates the mark of a file runs the file. A process stays in one folder as
// long as possible, because the files of a folder use the same modules, which it has then loaded and compiled.

import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';

const filesOf = (list: string) => JSON.parse(readFileSync(list, 'utf8')) as string[];
const markOf = (list: string, index: number) => `${list}.${index}`;

/** Gives one file after another that no other process has taken, at most `filesMax`. @param list path of a JSON array */
export function* takeFiles(list: string, filesMax: number): Generator<string> {
  const files = filesOf(list);
  let folder: string | undefined;
  for (let taken = 0; taken < filesMax; ) {
    const left = untaken(list);
    folder = left.some((file) => dirname(file) === folder) ? folder : nextFolder(files, left);
    const file = left.find((one) => dirname(one) === folder);
    if (file === undefined) return;
    if (!take(list, files.indexOf(file))) continue;
    taken++;
    yield file;
  }
}

function take(list: string, index: number): boolean {
  try {
    closeSync(openSync(markOf(list, index), 'wx'));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** Returns the first folder that no process has begun; if there is none, the folder with the most remaining files. */
function nextFolder(files: readonly string[], left: readonly string[]): string | undefined {
  const all = countsByFolder(files);
  const remaining = [...countsByFolder(left)];
  const [untouched] = remaining.find(([folder, count]) => count === all.get(folder)) ?? [];
  return untouched ?? remaining.toSorted(([, one], [, other]) => other - one)[0]?.[0];
}

function countsByFolder(files: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const file of files) counts.set(dirname(file), (counts.get(dirname(file)) ?? 0) + 1);
  return counts;
}

/** Returns the files that no process has taken. */
export function untaken(list: string): string[] {
  const marks = new Set(readdirSync(dirname(list)));
  return filesOf(list).filter((_, index) => !marks.has(basename(markOf(list, index))));
}
