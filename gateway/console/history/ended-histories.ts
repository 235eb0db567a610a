// The history of the instances that do not answer: those that were killed, cannot be reached, or have ended. Their stored histories are
// added to one, so that its memory is bounded.

import { promisify } from 'node:util';
import { inflateRaw } from 'node:zlib';
import type { SharedHistories, SharedHistory, StoredHistory } from '../fleet/shared-histories.ts';
import { History, widthOf } from './history.ts';
import type { RangeCounts, Subject } from './history-counts.ts';
import { decodeHistory } from './kept-history.ts';
import { rangeCounts } from './range-counts.ts';
import type { ShownTime } from './ranges.ts';

const inflated = promisify(inflateRaw);
/** More than the whole memory of a history. */
const BYTES_MAX = 16 * 1024 * 1024;

export interface EndedCounts {
  readonly counts: RangeCounts;
  /** The instances of these counts, each with the time up to which it is counted. */
  readonly instances: readonly SharedHistory[];
}

export class EndedHistories {
  readonly #bounds: readonly number[];
  readonly #now: () => number;
  #added = new Map<string, SharedHistory>();
  #total: History | undefined;
  #adding: Promise<unknown> = Promise.resolve();

  /**
   * @param bounds upper bounds of the duration buckets, in seconds
   * @param now epoch milliseconds that never decrease
   */
  constructor(bounds: readonly number[], now: () => number) {
    this.#bounds = bounds;
    this.#now = now;
  }

  /**
   * Resolves with the counts of all stored histories, except those of the instances that have answered; undefined if there are none. While
   * Redis cannot be reached, they are those of the last time.
   *
   * @param answered the ids of the histories in the answers
   */
  async counts(
    store: SharedHistories,
    answered: ReadonlySet<string>,
    span: ShownTime,
    subject: Subject | undefined,
  ): Promise<EndedCounts | undefined> {
    // Two questions at a time would add a history twice.
    this.#adding = this.#adding.then(() => this.#update(store, answered)).catch(() => undefined);
    await this.#adding;
    const instances = [...this.#added.values()];
    return this.#total && instances.length > 0
      ? { counts: rangeCounts(this.#total, span, subject), instances }
      : undefined;
  }

  async #update(store: SharedHistories, answered: ReadonlySet<string>): Promise<void> {
    const ended = (await store.list()).filter(({ id }) => !answered.has(id));
    const wanted = new Map(ended.map((one) => [one.id, one]));
    // Counts cannot be subtracted.
    if ([...this.#added.values()].some(({ id, untilMs }) => wanted.get(id)?.untilMs !== untilMs)) {
      this.#added = new Map();
      this.#total = undefined;
    }
    for (const one of ended) if (!this.#added.has(one.id)) await this.#add(one, await store.read(one.id));
  }

  async #add(one: SharedHistory, stored: StoredHistory): Promise<void> {
    const history = await this.#historyIn(stored).catch(() => undefined);
    if (history === undefined) return;
    if (this.#total === undefined) this.#total = history;
    else this.#total.absorb(history);
    this.#added.set(one.id, one);
  }

  /** Returns the stored history, with its increases added at the times at which they were counted; undefined for one of another release. */
  async #historyIn({ whole, since }: StoredHistory): Promise<History | undefined> {
    if (whole === null) return undefined;
    const bytes = (await inflated(whole, { maxOutputLength: BYTES_MAX })) as Buffer;
    const kept = decodeHistory(bytes, widthOf(this.#bounds), Number.POSITIVE_INFINITY);
    let replayedMs: number | undefined = 0;
    const history = kept && new History(this.#bounds, () => replayedMs ?? this.#now(), kept);
    for (const { sinceMs, atMs, increases } of since) {
      replayedMs = atMs;
      history?.advance();
      history?.add(sinceMs, increases);
    }
    replayedMs = undefined;
    history?.advance();
    return history;
  }
}
