// A list of test files that several processes work off: the process that creates the mark of a file runs it. A process stays in one folder
// as long as it can, because the files of a folder use the same modules: what one of them loads, and V8 compiles, serves the next one.

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

/** The first folder that no process has begun; if there is none, the one with the most files left. */
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

/** The files that no process has taken. */
export function untaken(list: string): string[] {
  const marks = new Set(readdirSync(dirname(list)));
  return filesOf(list).filter((_, index) => !marks.has(basename(markOf(list, index))));
}
