// A list of test files that several processes work off: the process that creates the mark of a file runs it.

import { closeSync, existsSync, openSync, readFileSync } from 'node:fs';

const filesOf = (list: string) => JSON.parse(readFileSync(list, 'utf8')) as string[];
const markOf = (list: string, index: number) => `${list}.${index}`;

/** Gives one file after another that no other process has taken, at most `filesMax`. @param list path of a JSON array */
export function* takeFiles(list: string, filesMax: number): Generator<string> {
  let taken = 0;
  for (const [index, file] of filesOf(list).entries()) {
    if (taken === filesMax) return;
    try {
      closeSync(openSync(markOf(list, index), 'wx'));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') continue;
      throw error;
    }
    taken++;
    yield file;
  }
}

/** The files that no process has taken. */
export const untaken = (list: string) => filesOf(list).filter((_, index) => !existsSync(markOf(list, index)));
