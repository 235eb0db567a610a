// Reloads the configuration of a serving gateway, when files change or an operator demands it. The new configuration is loaded and checked,
// and replaces the current configuration in one step. If it has mistakes, nothing changes; the mistakes are in the log, the audit log and
// /status.

import type { KeyStore } from '../auth/store/key-store.ts';
import { changedKeys, restartOnlyMistakes } from '../config/differences.ts';
import { changedFiles } from '../config/digests.ts';
import { OutOfFiles } from '../config/free-files.ts';
import { watchFiles } from '../config/watch.ts';
import type { Configuration } from '../configuration.ts';
import { changeText } from '../contract/diff/publications.ts';
import { servedChanges } from '../contract/diff/served-changes.ts';
import type { Log } from '../observe/log/log.ts';
import { shownPath } from '../shared/file-text.ts';
import { type Machine, REAL_MACHINE } from '../shared/machine.ts';
import { ConfigError, type Mistake, toSentence } from '../shared/mistakes.ts';
import { createAuditNote } from './audit-note.ts';

/** The maximum number of mistakes in the audit log and in /status; the log contains all of them. */
const REPORTED_MISTAKES_MAX = 20;

/** The time after which files are read again for which no file descriptor was left. */
const UNREAD_AGAIN_MS = 1000;

type ReloadOutcome = 'applied' | 'refused';

interface ReloadOptions {
  /** Directories of configuration and contracts. */
  readonly directories: readonly string[];
  readonly secretsDirectory: string | undefined;
  readonly log: Log;
  readonly store: Pick<KeyStore, 'audit'>;
  /** The name of this process in the audit log. */
  readonly instance: string;
  now(): number;
  inForce(): Configuration;
  /** Loads and checks the configuration. Resolves with the same object if no file has changed. */
  load(inForce: Configuration): Promise<Configuration>;
  /** Returns mistakes outside of the files, such as a missing secret. */
  check(next: Configuration): readonly Mistake[];
  /** Puts the configuration in force from the next request on. If this throws, the earlier configuration is in force. */
  apply(next: Configuration, inForce: Configuration): void;
  onOutcome(outcome: ReloadOutcome): void;
  readonly watch?: typeof watchFiles;
  readonly machine?: Machine;
}

interface ReloadStatus {
  readonly version: string;
  /** Whether its files were compared with a list of digests. */
  readonly manifest: boolean;
  readonly loaded_at: string;
  /** The keys that the last reload changed, with their values before and after, and its changes of contracts for clients. */
  readonly changes: readonly string[];
  /** Reason why the current files are not in force; null if they are. */
  readonly last_failure: {
    readonly at: string;
    /** Whether the files are correct but need a restart to come in force. */
    readonly needs_restart: boolean;
    readonly mistakes: readonly string[];
  } | null;
}

export class Reloads {
  readonly #options: ReloadOptions;
  readonly #note: ReturnType<typeof createAuditNote>;
  readonly #stopWatching: () => void;
  #loadedAtMs: number;
  #failure: ReloadStatus['last_failure'] = null;
  #changes: readonly string[] = [];
  #stopped = false;
  #running: Promise<void> | undefined;
  /** The run after the one that is running. */
  #next: Promise<void> | undefined;

  constructor(options: ReloadOptions) {
    const { directories, secretsDirectory, inForce, watch = watchFiles } = options;
    this.#options = options;
    // Every instance has its own files, so every instance notes its outcome.
    this.#note = createAuditNote(options.store, options.log, 'a reload', options.instance);
    this.#loadedAtMs = options.now();
    this.#stopWatching = watch({
      directories,
      secretsDirectory,
      otherFiles: () => inForce().files.keys(),
      onChange: () => void this.reload(),
    });
  }

  /**
   * Reloads now, even if no change was noticed. Calls during a run share one more run, which finds the last state of the files. Resolves
   * when the current state of the files has been applied or refused.
   */
  reload(): Promise<void> {
    if (this.#running !== undefined) {
      this.#next ??= this.#running.then(() => this.reload());
      return this.#next;
    }
    this.#next = undefined;
    this.#running = this.#reloadOnce().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  loadedAtMs(): number {
    return this.#loadedAtMs;
  }

  status(): ReloadStatus {
    const { version, isListed } = this.#options.inForce();
    return {
      version,
      manifest: isListed,
      loaded_at: new Date(this.#loadedAtMs).toISOString(),
      changes: this.#changes,
      last_failure: this.#failure,
    };
  }

  /** Stops watching; no configuration is put in force afterwards. */
  stop(): void {
    this.#stopped = true;
    this.#stopWatching();
  }

  async #reloadOnce(): Promise<void> {
    const { inForce, load, check, apply, log } = this.#options;
    const before = inForce();
    try {
      const next = await load(before);
      if (this.#stopped) return;
      if (next === before) {
        // The files are those in force again. A refusal in the audit log needs its end.
        if (this.#failure !== null) void this.#note('reload', { outcome: 'restored', version: before.version });
        this.#failure = null;
        log.logger.debug({ version: before.version }, 'the configuration files have not changed');
        return;
      }
      const mistakes = [...restartOnlyMistakes(before.config, next.config), ...check(next)];
      if (mistakes.length > 0) throw new ConfigError(mistakes);
      apply(next, before);
      await this.#noteApplied(before, next);
    } catch (error) {
      if (!this.#stopped) this.#noteRefusal(error);
    }
  }

  async #noteApplied(before: Configuration, next: Configuration): Promise<void> {
    this.#loadedAtMs = this.#options.now();
    this.#failure = null;
    this.#options.onOutcome('applied');
    const files = changedFiles(before.files, next.files).map(shownPath);
    this.#changes = changedKeys(before.config, next.config);
    // The configuration is in force already, so a comparison that fails must not be treated as a refusal.
    const ofContracts = await contractChanges(before, next).catch(({ message }: Error) => [
      `the contracts could not be compared with those before: ${message}`,
    ]);
    this.#changes = [...this.#changes, ...ofContracts];
    this.#options.log.logger.info(
      { version: next.version, files, changes: this.#changes },
      'the configuration was loaded anew',
    );
    void this.#note('reload', { outcome: 'applied', changes: this.#changes, version: next.version, files });
  }

  #noteRefusal(error: unknown): void {
    const { log, now, inForce, machine = REAL_MACHINE } = this.#options;
    const all = sentencesOf(error);
    const mistakes = all.slice(0, REPORTED_MISTAKES_MAX);
    const needsRestart = error instanceof ConfigError && error.mistakes.every((mistake) => mistake.needsRestart);
    this.#failure = { at: new Date(now()).toISOString(), needs_restart: needsRestart, mistakes };
    this.#options.onOutcome('refused');
    const { version } = inForce();
    const isUnread = error instanceof OutOfFiles;
    const isMistaken = error instanceof ConfigError;
    const cause = isMistaken || isUnread ? undefined : ((error as Error).stack ?? String(error));
    const failed = isMistaken ? 'has mistakes' : isUnread ? 'could not be read' : 'could not be put in force';
    // The files have already changed, so no event will trigger the next attempt.
    if (isUnread) machine.setTimeout(() => void this.reload(), UNREAD_AGAIN_MS).unref();
    const stays = 'the one before stays in force';
    if (needsRestart)
      log.logger.warn({ version, mistakes: all }, `the changed configuration waits for a restart; ${stays}`);
    else log.logger.error({ version, mistakes: all, cause }, `the configuration ${failed}; ${stays}`);
    void this.#note('reload', { outcome: 'refused', version, mistakes });
  }
}

/** The largest number of changes for clients that are listed. `contract diff` lists all changes since the last publication. */
const CONTRACT_CHANGES_MAX = 20;

async function contractChanges(before: Configuration, next: Configuration): Promise<string[]> {
  const all = await servedChanges(before.contracts.operations, next.contracts.operations);
  const more = all.length - CONTRACT_CHANGES_MAX;
  const texts = all.slice(0, CONTRACT_CHANGES_MAX).map(changeText);
  return more > 0 ? [...texts, `and ${more} more changes for clients`] : texts;
}

function sentencesOf(error: unknown): string[] {
  if (error instanceof ConfigError) return error.mistakes.map(toSentence);
  if (error instanceof OutOfFiles) return [`The configuration could not be read: ${error.message}.`];
  return [`The configuration could not be put in force: ${error instanceof Error ? error.message : String(error)}.`];
}
