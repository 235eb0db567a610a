// Detects changed files. The system notifies this process of changes, and each notification causes a check. Checks also run at intervals,
// because not every volume and container delivers notifications. Only a check finds out which file has changed.

import { type FSWatcher, watch } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** Milliseconds between two checks without a notification. Checks of 20 files three times as often took 1 % of a core. */
const CHECK_EVERY_MS = 500;
const CHECK_AFTER_NOTICE_MS = 50;
/** The time after which changed files that have stayed the same are treated as written. It leaves time to load them within a second. */
const SETTLED_AFTER_MS = 250;

interface WatchOptions {
  /** Directories that are searched recursively for YAML, JSON and Markdown files. */
  readonly directories: readonly string[];
  /** All files below this directory are watched, because a reload may have been refused for a missing secret. */
  readonly secretsDirectory?: string | undefined;
  /** Returns files outside of the directories. */
  otherFiles(): Iterable<string>;
  /**
   * Called after a change, when the files have stayed the same for a moment, because they may be written in several steps. Also called soon
   * after the start, because earlier changes are unknown.
   */
  onChange(): void;
}

/** Starts to watch. Returns a function that stops the watch. The timer does not keep the process alive. */
export function watchFiles(options: WatchOptions): () => void {
  const notifications = createNotifications(noteChange);
  let reported: string | undefined;
  let last: string | undefined;
  let changedAt = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;
  let dueAt = Number.POSITIVE_INFINITY;
  /** Whether something has changed since the last check began. */
  let isNotified = false;
  let isStopped = false;

  function noteChange(): void {
    isNotified = true;
    checkIn(CHECK_AFTER_NOTICE_MS);
  }

  function checkIn(ms: number): void {
    const at = performance.now() + ms;
    // A check is due sooner, or in progress.
    if (isStopped || at >= dueAt) return;
    dueAt = at;
    clearTimeout(timer);
    timer = setTimeout(check, ms).unref();
  }

  async function check(): Promise<void> {
    isNotified = false;
    const files = [...(await listFiles(options)), ...options.otherFiles()];
    if (isStopped) return;
    // The directories are followed before the files are checked, so that each later change causes a notification.
    notifications.follow(new Set([...options.directories, ...files.map((file) => dirname(file))]));
    const seen = await stateOf(files);
    const nowMs = performance.now();
    if (seen !== last) changedAt = nowMs;
    last = seen;
    const settlesInMs = changedAt + SETTLED_AFTER_MS - nowMs;
    const isSettled = settlesInMs <= 0;
    dueAt = Number.POSITIVE_INFINITY;
    checkIn(isNotified ? CHECK_AFTER_NOTICE_MS : isSettled ? CHECK_EVERY_MS : settlesInMs);
    if (isStopped || !isSettled || seen === reported) return;
    reported = seen;
    options.onChange();
  }

  checkIn(CHECK_AFTER_NOTICE_MS);
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

/** Creates the notifications. `onNotified` is called for any change in the directories that the system reports. */
function createNotifications(onNotified: () => void): Notifications {
  const followed = new Map<string, FSWatcher | undefined>();

  function open(directory: string): FSWatcher | undefined {
    try {
      const watcher = watch(directory, { persistent: false }, (kind) => {
        // The directory itself may be gone. The next check follows the directory that then has its name.
        if (kind === 'rename') forget(directory);
        onNotified();
      });
      return watcher.on('error', () => forget(directory));
    } catch {
      // The directory is missing, or the system has no more watches. The checks at intervals find its changes.
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

/** Returns the state of all files as one text, for comparison. An absent file adds nothing to the text, whether or not it is listed. */
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

/** Returns a text that changes with the file. Follows links, because container volumes change by a new target of a link. */
async function markOf(file: string): Promise<string | undefined> {
  try {
    const { mtimeMs, size, ino } = await stat(file);
    return `${file} ${mtimeMs} ${size} ${ino}`;
  } catch {
    return undefined;
  }
}
