// Another configuration under a gateway that serves: when files have changed or somebody asks, it is loaded and checked beside the one
// in force, and takes over in one step. One that has mistakes changes nothing, and everybody is told.

import { hostname } from 'node:os';
import type { KeyStore } from '../auth/store/store.ts';
import { changedFiles } from '../config/digests.ts';
import { fixedMistakes } from '../config/fixed.ts';
import { watchFiles } from '../config/watch.ts';
import { ConfigError, type Mistake, toSentence } from '../config-errors.ts';
import type { Configuration } from '../configuration.ts';
import type { Log } from '../observe/log.ts';
import { shownPath } from '../source.ts';

/** In the audit log and in /status; the log has all of them. */
const TOLD_MISTAKES_MAX = 20;

export type ReloadOutcome = 'applied' | 'refused';

export interface ReloadOptions {
  /** Of configuration and contracts. */
  readonly directories: readonly string[];
  readonly log: Log;
  readonly store: Pick<KeyStore, 'audit'>;
  now(): number;
  /** The configuration in force. */
  inForce(): Configuration;
  /** Loads and checks; the same object if no file has changed. */
  load(inForce: Configuration): Promise<Configuration>;
  /** What else speaks against a configuration that is fine by itself. */
  objections(next: Configuration): readonly Mistake[];
  /** Lets it take over: from the next request on. */
  use(next: Configuration): void;
  onOutcome(outcome: ReloadOutcome): void;
}

export interface Reloads {
  /** Also when no file seems to have changed. Resolves when the state of the files at this moment is dealt with. */
  reload(): Promise<void>;
  status(): ReloadStatus;
  loadedAtMs(): number;
  /** Nothing takes over any more. */
  stop(): void;
}

export interface ReloadStatus {
  readonly version: string;
  readonly loaded_at: string;
  /** Why the files as they are now are not in force; null if they are. */
  readonly last_failure: { readonly at: string; readonly mistakes: readonly string[] } | null;
}

/** Begins to watch the files. */
export function followConfiguration(options: ReloadOptions): Reloads {
  const { log, now, inForce } = options;
  let loadedAtMs = now();
  let failure: ReloadStatus['last_failure'] = null;
  let stopped = false;

  async function reloadOnce(): Promise<void> {
    const before = inForce();
    try {
      const next = await options.load(before);
      if (stopped) return;
      if (next === before) {
        failure = null;
        log.logger.debug({ version: before.version }, 'the configuration in force is what the files say');
        return;
      }
      const mistakes = [...fixedMistakes(before.config, next.config), ...options.objections(next)];
      if (mistakes.length > 0) throw new ConfigError(mistakes);
      options.use(next);
      applied(before, next);
    } catch (error) {
      if (!stopped) refused(error);
    }
  }

  function applied(before: Configuration, next: Configuration): void {
    loadedAtMs = now();
    failure = null;
    options.onOutcome('applied');
    const files = changedFiles(before.files, next.files).map(shownPath);
    log.logger.info({ version: next.version, files }, 'the configuration was loaded anew');
    void note({ outcome: 'applied', version: next.version, files });
  }

  function refused(error: unknown): void {
    const all = sentencesOf(error);
    const mistakes = all.slice(0, TOLD_MISTAKES_MAX);
    failure = { at: new Date(now()).toISOString(), mistakes };
    options.onOutcome('refused');
    const { version } = inForce();
    log.logger.error({ version, mistakes: all }, 'the configuration has mistakes; the one before stays in force');
    void note({ outcome: 'refused', version, mistakes });
  }

  /** Every instance has files of its own, so every instance says what became of them. */
  async function note(details: Readonly<Record<string, unknown>>): Promise<void> {
    try {
      await options.store.audit.append('reload', { ...details, host: hostname() });
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      log.logger.error({ reason, ...details }, 'the audit log could not be told of a reload');
    }
  }

  const reload = oneAtATime(reloadOnce);
  const stopWatching = watchFiles({
    directories: options.directories,
    furtherFiles: () => inForce().files.keys(),
    onChange: () => void reload(),
  });

  return {
    reload,
    loadedAtMs: () => loadedAtMs,
    status: () => ({
      version: inForce().version,
      loaded_at: new Date(loadedAtMs).toISOString(),
      last_failure: failure,
    }),
    stop() {
      stopped = true;
      stopWatching();
    },
  };
}

function sentencesOf(error: unknown): string[] {
  if (error instanceof ConfigError) return error.mistakes.map(toSentence);
  return [`The configuration cannot be loaded: ${error instanceof Error ? error.message : String(error)}.`];
}

/** Asked while it is under way, it begins once more afterwards, however often it was asked: the last state counts. */
function oneAtATime(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  let next: Promise<void> | undefined;

  function begin(): Promise<void> {
    next = undefined;
    running = work().finally(() => {
      running = undefined;
    });
    return running;
  }

  return function ask() {
    if (running === undefined) return begin();
    next ??= running.then(begin);
    return next;
  };
}
