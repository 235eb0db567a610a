// Notices that files have changed, by looking at them every now and then. Notifications of the file system would be quicker, but not
// every editor, volume and container delivers them, so looking would be needed all the same: 16 files
// take 0.2 % of a core.

import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

const LOOK_EVERY_MS = 150;
const SETTLED_AFTER_MS = 50;

export interface WatchOptions {
  /** Everything below them that could be a configuration file or a contract. */
  readonly directories: readonly string[];
  /** Files elsewhere. */
  furtherFiles(): Iterable<string>;
  /**
   * Something has changed, and has stayed as it is for one interval: whoever is still writing is not interrupted. Also called soon
   * after the start, since nobody knows what happened before.
   */
  onChange(): void;
}

/** Starts to watch; answers how to stop that. The timer does not keep the process alive. */
export function watchFiles(options: WatchOptions): () => void {
  let told: string | undefined;
  let last: string | undefined;
  let timer = setTimeout(lookAgain, LOOK_EVERY_MS).unref();
  let stopped = false;

  async function lookAgain(): Promise<void> {
    const seen = await look(options);
    const isSettled = seen === last;
    last = seen;
    if (!stopped) timer = setTimeout(lookAgain, isSettled ? LOOK_EVERY_MS : SETTLED_AFTER_MS).unref();
    if (stopped || !isSettled || seen === told) return;
    told = seen;
    options.onChange();
  }

  return () => {
    stopped = true;
    clearTimeout(timer);
  };
}

/** Everything that changes with the files, as one text. */
async function look({ directories, furtherFiles }: WatchOptions): Promise<string> {
  const lists = await Promise.all(directories.map(filesBelow));
  const files = new Set([...lists.flat(), ...furtherFiles()]);
  const marks = await Promise.all([...files].sort().map(markOf));
  return marks.join('\n');
}

async function filesBelow(directory: string): Promise<string[]> {
  try {
    const names = await readdir(directory, { recursive: true });
    return names.filter((name) => /\.(ya?ml|json)$/.test(name)).map((name) => join(directory, name));
  } catch {
    // It is being replaced, or gone: then its files are, which loading will say.
    return [];
  }
}

/** Of what a link points to, since volumes of containers are changed by pointing it elsewhere. */
async function markOf(file: string): Promise<string> {
  try {
    const { mtimeMs, size, ino } = await stat(file);
    return `${file} ${mtimeMs} ${size} ${ino}`;
  } catch {
    return `${file} absent`;
  }
}
