// Detects changed files: the system's notifications say when to look, and a look at intervals finds what they miss, because not every
// volume and container delivers them. What has changed is decided by looking alone.

import { type FSWatcher, watch } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** Without a notification a change is found after this time. Looking at 20 files three times as often took 1 % of a core. */
const LOOK_EVERY_MS = 500;
const LOOK_AFTER_NOTICE_MS = 50;
/**
 * After a look that found a change: files that have stayed the same for this time are taken for written. Leaves time to load them within a
 * second.
 */
const SETTLED_AFTER_MS = 250;

interface WatchOptions {
  /** Directories that are searched recursively for YAML, JSON and Markdown files. */
  readonly directories: readonly string[];
  /** All files below this directory are watched: a reload may have been refused for a secret that was missing. */
  readonly secretsDirectory?: string | undefined;
  /** Files elsewhere. */
  furtherFiles(): Iterable<string>;
  /**
   * Called after a change, once the files have stayed the same for a moment, so that partly written files are not read. Also
   * called soon after the start, because earlier changes are unknown.
   */
  onChange(): void;
}

/** Starts to watch; returns a function that stops it. The timer does not keep the process alive. */
export function watchFiles(options: WatchOptions): () => void {
  const notifications = createNotifications(notified);
  let reported: string | undefined;
  let last: string | undefined;
  let changedAt = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;
  let dueAt = Number.POSITIVE_INFINITY;
  /** Whether something has changed since the last look began. */
  let isNotified = false;
  let isStopped = false;

  function notified(): void {
    isNotified = true;
    lookIn(LOOK_AFTER_NOTICE_MS);
  }

  function lookIn(ms: number): void {
    const at = performance.now() + ms;
    // A look is due sooner, or in progress.
    if (isStopped || at >= dueAt) return;
    dueAt = at;
    clearTimeout(timer);
    timer = setTimeout(look, ms).unref();
  }

  async function look(): Promise<void> {
    isNotified = false;
    const files = [...(await listFiles(options)), ...options.furtherFiles()];
    if (isStopped) return;
    // Before the files are looked at: what changes from here on is notified.
    notifications.follow(new Set([...options.directories, ...files.map((file) => dirname(file))]));
    const seen = await stateOf(files);
    const nowMs = performance.now();
    if (seen !== last) changedAt = nowMs;
    last = seen;
    const settlesInMs = changedAt + SETTLED_AFTER_MS - nowMs;
    const isSettled = settlesInMs <= 0;
    dueAt = Number.POSITIVE_INFINITY;
    lookIn(isNotified ? LOOK_AFTER_NOTICE_MS : isSettled ? LOOK_EVERY_MS : settlesInMs);
    if (isStopped || !isSettled || seen === reported) return;
    reported = seen;
    options.onChange();
  }

  lookIn(LOOK_AFTER_NOTICE_MS);
  return () => {
    isStopped = true;
    clearTimeout(timer);
    notifications.follow(new Set());
  };
}

interface Notifications {
  /** These directories, and no others, are followed from now on. */
  follow(directories: ReadonlySet<string>): void;
}

/** `onNotified` is called for any change in the directories, as far as the system notifies. */
function createNotifications(onNotified: () => void): Notifications {
  const followed = new Map<string, FSWatcher | undefined>();

  function open(directory: string): FSWatcher | undefined {
    try {
      const watcher = watch(directory, { persistent: false }, (kind) => {
        // It may be the directory itself that is gone: the next look follows the one that then has its name.
        if (kind === 'rename') forget(directory);
        onNotified();
      });
      return watcher.on('error', () => forget(directory));
    } catch {
      // It is missing, or the system has no more watches: looking has to do.
      return undefined;
    }
  }

  function forget(directory: string): void {
    followed.get(directory)?.close();
    followed.delete(directory);
  }

  return {
    follow(directories) {
      for (const [directory, watcher] of followed)
        if (watcher === undefined || !directories.has(directory)) forget(directory);
      for (const directory of directories) if (!followed.has(directory)) followed.set(directory, open(directory));
    },
  };
}

/** Returns the state of all files as one text, for comparison. An absent file has no part in it, whether or not it is listed. */
async function stateOf(files: readonly string[]): Promise<string> {
  const marks = await Promise.all([...new Set(files)].sort().map(markOf));
  return marks.filter((mark) => mark !== undefined).join('\n');
}

async function listFiles({ directories, secretsDirectory }: WatchOptions): Promise<string[]> {
  const configuration = directories.map((directory) => filesBelow(directory, /\.(ya?ml|json|md|sha256)$/));
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
