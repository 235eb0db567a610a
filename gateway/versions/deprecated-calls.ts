// Counts calls of deprecated operations, first in memory, then in the store, and reports them to operators with the resulting notices. The
// store is opened for the first write: in Redis if one is configured, otherwise in a file of the data directory.

import type { Organization } from '../exchange/caller.ts';
import type { Permitted } from '../exchange/exchange.ts';
import type { Awaitable } from '../shared/awaitable.ts';
import { DAY_MS } from '../shared/durations.ts';
import type { Deprecations } from './deprecation.ts';
import { createRedisUseStore } from './redis-store.ts';
import { type AffectedOrganization, affectedBy, versionReport } from './report.ts';
import { createSqliteUseStore } from './sqlite-store.ts';
import { dayOf, type Use, type UseStore, type UsesOf } from './store.ts';

/** Longest delay before a call is written. */
const FLUSH_MS = 5000;
/** The largest number of rows that wait while the store cannot be reached. More calls are only counted as lost. */
const WAITING_MAX = 50_000;
const REPORTED_DAYS = 90;

interface DeprecatedCallsOptions {
  open(): Awaitable<UseStore>;
  organizations(): Awaitable<readonly Organization[]>;
  publicUrl(): string;
  now(): number;
  /** Called when the store stops accepting writes, and when it accepts them again. */
  onChange(status: DeprecatedCallsStatus): void;
}

export interface DeprecatedCallsStatus {
  /** `unused`: nothing has been written yet. */
  readonly state: 'unused' | 'up' | 'away';
  /** Number of rows waiting to be written. */
  readonly waiting: number;
  /** Number of calls that were not counted. */
  readonly lost: number;
}

export class DeprecatedCalls {
  readonly #options: DeprecatedCallsOptions;
  #waiting = new Map<string, Use>();
  #store: UseStore | undefined;
  #state: DeprecatedCallsStatus['state'] = 'unused';
  #lost = 0;
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> | undefined;

  constructor(options: DeprecatedCallsOptions) {
    this.#options = options;
  }

  note(organization: string, operation: string): void {
    const nowMs = this.#options.now();
    this.#add({ day: dayOf(nowMs), organization, operation, calls: 1, lastAtMs: nowMs });
    this.#schedule();
  }

  /**
   * Reports to operators the deprecated operations, their callers in the last 90 days, and the notices for those callers.
   *
   * @param deprecations the deprecations in force
   */
  async report(deprecations: Deprecations): Promise<object> {
    const { now, publicUrl, organizations } = this.#options;
    const sinceDay = dayOf(now() - REPORTED_DAYS * DAY_MS);
    // Without deprecations, the store stays closed.
    const isEmpty = deprecations.ofOperations.size === 0;
    const uses = isEmpty ? [] : await this.#list(sinceDay);
    const known = isEmpty ? [] : await organizations();
    return versionReport({ deprecations, uses, organizations: known, sinceDay, publicUrl: publicUrl(), nowMs: now() });
  }

  /**
   * Returns the deprecated operations that were called in the last 90 days, by organization.
   *
   * @param organization leaves out other organizations
   */
  async affected({ ofOperations }: Deprecations, organization?: string): Promise<readonly AffectedOrganization[]> {
    if (ofOperations.size === 0) return [];
    const operations = [...ofOperations.keys()].map(({ id }) => id);
    const of = organization === undefined ? undefined : { organization, operations };
    const sinceDay = dayOf(this.#options.now() - REPORTED_DAYS * DAY_MS);
    return affectedBy(await this.#list(sinceDay, of), ofOperations.values(), []);
  }

  status(): DeprecatedCallsStatus {
    return { state: this.#state, waiting: this.#waiting.size, lost: this.#lost };
  }

  /** Writes all calls counted so far, if the store accepts them. Never rejects. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    await this.#writing;
    this.#writing = this.#write();
    await this.#writing;
    this.#writing = undefined;
  }

  async close(): Promise<void> {
    await this.flush();
    clearTimeout(this.#timer);
    await this.#store?.close();
  }

  /** Returns everything stored since a day. Rejects if the store cannot be reached. */
  async #list(sinceDay: string, of?: UsesOf): Promise<readonly Use[]> {
    await this.flush();
    this.#store ??= await this.#options.open();
    return this.#store.list(sinceDay, of);
  }

  #add(use: Use): void {
    const key = `${use.day} ${use.organization} ${use.operation}`;
    const before = this.#waiting.get(key);
    if (before === undefined && this.#waiting.size >= WAITING_MAX) {
      this.#lost += use.calls;
      return;
    }
    const calls = use.calls + (before?.calls ?? 0);
    this.#waiting.set(key, { ...use, calls, lastAtMs: Math.max(use.lastAtMs, before?.lastAtMs ?? 0) });
  }

  #schedule(): void {
    this.#timer ??= setTimeout(() => void this.flush(), FLUSH_MS).unref();
  }

  async #write(): Promise<void> {
    if (this.#waiting.size === 0) return;
    const taken = this.#waiting;
    this.#waiting = new Map();
    try {
      this.#store ??= await this.#options.open();
      await this.#store.add([...taken.values()]);
      this.#become('up');
    } catch {
      for (const use of taken.values()) this.#add(use);
      this.#become('away');
      this.#schedule();
    }
  }

  #become(next: 'up' | 'away'): void {
    if (this.#state === next) return;
    this.#state = next;
    this.#options.onChange(this.status());
  }
}

interface OpenUseStoreOptions {
  readonly redisUrl: string | undefined;
  readonly dataDirectory: string;
  now(): number;
}

export function openUseStore({ redisUrl, dataDirectory, now }: OpenUseStoreOptions): Awaitable<UseStore> {
  return redisUrl === undefined ? createSqliteUseStore(dataDirectory, now) : createRedisUseStore(redisUrl, now);
}

/** Step: counts calls of deprecated operations by the caller's organization. */
export function createNoteUse(
  { ofOperations }: Deprecations,
  calls: Pick<DeprecatedCalls, 'note'>,
): (permitted: Permitted) => void {
  return function noteUse({ operation, caller }) {
    if (ofOperations.size === 0 || caller.organization === undefined || !ofOperations.has(operation)) return;
    calls.note(caller.organization.id, operation.id);
  };
}
