// Detects changed files by polling. Polling is needed in any case, because not every editor, volume and container delivers file system
// notifications. Checking 16 files takes 0.2 % of a core. Directories are listed less often, because that costs twice as much.

import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

const LOOK_EVERY_MS = 150;
const SETTLED_AFTER_MS = 50;
/** Checks per listing of the directories: a new file is found after 0.6 s at most, a changed one after 0.15. */
const LOOKS_PER_LISTING = 4;

export interface WatchOptions {
  /** Directories that are searched recursively for YAML, JSON and Markdown files. */
  readonly directories: readonly string[];
  /** All files below this directory are watched: a reload may have been refused for a secret that was missing. */
  readonly secretsDirectory?: string | undefined;
  /** Files elsewhere. */
  furtherFiles(): Iterable<string>;
  /**
   * Called after a change, once the files have stayed the same for one interval, so that partly written files are not read. Also
   * called soon after the start, because earlier changes are unknown.
   */
  onChange(): void;
}

/** Starts to watch; returns a function that stops it. The timer does not keep the process alive. */
export function watchFiles(options: WatchOptions): () => void {
  let reported: string | undefined;
  let last: string | undefined;
  let timer = setTimeout(lookAgain, LOOK_EVERY_MS).unref();
  let stopped = false;
  let listed: readonly string[] = [];
  let looks = 0;

  async function lookAgain(): Promise<void> {
    if (looks % LOOKS_PER_LISTING === 0) listed = await listFiles(options);
    looks += 1;
    const seen = await stateOf([...listed, ...options.furtherFiles()]);
    const isSettled = seen === last;
    last = seen;
    if (!stopped) timer = setTimeout(lookAgain, isSettled ? LOOK_EVERY_MS : SETTLED_AFTER_MS).unref();
    if (stopped || !isSettled || seen === reported) return;
    reported = seen;
    options.onChange();
  }

  return () => {
    stopped = true;
    clearTimeout(timer);
  };
}

/** Returns the state of all files as one text, for comparison. An absent file has no part in it, whether or not it is listed. */
async function stateOf(files: readonly string[]): Promise<string> {
  const marks = await Promise.all([...new Set(files)].sort().map(markOf));
  return marks.filter((mark) => mark !== undefined).join('\n');
}

async function listFiles({ directories, secretsDirectory }: WatchOptions): Promise<string[]> {
  const configuration = directories.map((directory) => filesBelow(directory, /\.(ya?ml|json|md)$/));
  const secrets = secretsDirectory === undefined ? [] : [filesBelow(secretsDirectory, /./)];
  return (await Promise.all([...configuration, ...secrets])).flat();
}

async function filesBelow(directory: string, pattern: RegExp): Promise<string[]> {
  try {
    const names = await readdir(directory, { recursive: true });
    return names.filter((name) => pattern.test(name)).map((name) => join(directory, name));
  } catch {
    // The directory is missing or being replaced; loading will report that.
    return [];
  }
}

/** Follows links, because container volumes change by pointing a link elsewhere. */
async function markOf(file: string): Promise<string | undefined> {
  try {
    const { mtimeMs, size, ino } = await stat(file);
    return `${file} ${mtimeMs} ${size} ${ino}`;
  } catch {
    return undefined;
  }
}
