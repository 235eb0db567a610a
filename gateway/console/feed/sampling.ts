// Samples the counts and the state of this gateway once per slot, and keeps the history of the last day, whether or not the page is open.

import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FleetSources } from '../../shared/questions/fleet.ts';
import type { FoundCause, StatusForCauses } from '../causes/cause.ts';
import { CauseSearch } from '../causes/cause-search.ts';
import { returnedCause, silentCause } from '../causes/instance-causes.ts';
import { createEventFigures } from '../events/event-figures.ts';
import { Events } from '../events/events.ts';
import { eventsAbout } from '../events/shown-events.ts';
import { createSufferedTime } from '../events/suffered-time.ts';
import type { Fleet } from '../fleet/fleet.ts';
import { History, widthOf } from '../history/history.ts';
import type { Subject } from '../history/history-counts.ts';
import type { HistoryFile } from '../history/history-file.ts';
import { HistoryJournal } from '../history/history-journal.ts';
import { decodeHistory, encodeHistory, type KeptHistory } from '../history/kept-history.ts';
import { rangeCounts } from '../history/range-counts.ts';
import { RESOLUTIONS, type ShownTime } from '../history/ranges.ts';
import type { Increases, Sample } from '../history/sample.ts';
import type { CausesAnswer, LocalFeed } from './feed.ts';
import { ProcessSamples } from './process-samples.ts';
import { createVersionSummary, type VersionSummary } from './version-summary.ts';

export interface SamplingOptions extends Pick<FleetSources, 'recent'> {
  /** Returns the counts of each process; undefined if it did not answer. Each process is always represented by the same object. */
  samples(): Promise<ReadonlyMap<object, Sample | undefined>>;
  status(): Promise<object>;
  versions(): Promise<object>;
  /** Upper bounds of the duration buckets, in seconds. */
  readonly bounds: readonly number[];
  /** Returns epoch milliseconds that never decrease. */
  now(): number;
  /** The file for the history, which outlives the process. */
  readonly file?: HistoryFile | undefined;
}

/** Keeps a clock that stands still from causing a busy loop. */
const WAIT_MIN_MS = 100;
const [{ slotMs: SLOT_MS }] = RESOLUTIONS;
/** Time between two writes of the history. A process that is killed loses no more than this. */
const KEEP_EVERY_MS = 60_000;
const LAST_COUNT_MS = 200;
const LAST_WRITE_MS = 500;

type KnownFleet = Pick<Fleet, 'failure' | 'missing' | 'returned' | 'histories' | 'self'>;

export class Sampling {
  /** The id of the history, which it keeps after a restart. */
  readonly historyId: string;
  readonly #options: SamplingOptions;
  readonly #fleet: () => KnownFleet | undefined;
  readonly #history: History;
  readonly #journal: HistoryJournal;
  readonly #samples: ProcessSamples;
  readonly #search: CauseSearch;
  readonly #events: Events;
  readonly #versions: () => VersionSummary | null;
  #status: object | null = null;
  #sampling: Promise<void> | undefined;
  #keptAtMs = 0;
  #keeping: Promise<void>;
  #timer: NodeJS.Timeout | undefined;

  /**
   * Starts to sample at once, because the page shows the time before it was opened.
   *
   * @param fleet returns the connection to the other instances; undefined without Redis
   */
  constructor(options: SamplingOptions, fleet: () => KnownFleet | undefined) {
    const { bounds, now } = options;
    const saved = options.file?.read();
    const kept = saved && decodeHistory(saved, widthOf(bounds), now());
    this.#options = options;
    this.#fleet = fleet;
    this.#history = new History(bounds, now, kept);
    this.historyId = kept?.id ?? randomBytes(8).toString('hex');
    const nothing = { events: [], nearLimits: [], hasEnded: undefined };
    this.#journal = new HistoryJournal(this.historyId, () =>
      encodeHistory(this.#history.state(), nothing, widthOf(bounds), now()),
    );
    const counted = {
      advance: () => this.#history.advance(),
      add: (sinceMs: number, increases: Increases) => {
        this.#history.add(sinceMs, increases);
        this.#journal.note(sinceMs, now(), increases);
      },
    };
    this.#samples = new ProcessSamples(options.samples, counted, kept?.nearLimits ?? [], now);
    this.#search = new CauseSearch(options, this.#history);
    const before = {
      events: kept?.events,
      uncountedSinceMs: uncountedSinceMs(kept, now()),
      aliveAtMs: aliveAtMs(kept),
    };
    const { operationsOf } = this.#samples;
    this.#events = new Events(
      now,
      before,
      createEventFigures(bounds, this.#history, operationsOf),
      createSufferedTime(bounds, this.#history, operationsOf),
    );
    this.#versions = createVersionSummary(options.versions, now);
    // From now on, the file says that this process has not ended in order.
    this.#keeping = this.#keep();
    this.#waitForSlot();
  }

  /** Returns the causes that need attention at this moment. */
  async causes(): Promise<CausesAnswer> {
    await this.#sample();
    return this.#causesNow();
  }

  /** Resolves with the report of this gateway about itself, with a sample of this moment. */
  async feed(span: ShownTime, subject?: Subject): Promise<LocalFeed> {
    await this.#sample().catch(() => undefined);
    return {
      ...this.#causesNow(),
      history_id: this.historyId,
      counts: rangeCounts(this.#history, span, subject),
      status: this.#status,
      versions: this.#versions(),
      events: eventsAbout(this.#events.list(), subject, this.#samples.upstreamOf),
    };
  }

  /** Resolves when the history is kept. */
  async stop(): Promise<void> {
    clearTimeout(this.#timer);
    await this.#sampling?.catch(() => undefined);
    // Workers that have ended do not answer.
    const counted = this.#samples.count().catch(() => undefined);
    await Promise.race([counted, sleep(LAST_COUNT_MS, undefined, { ref: false })]);
    // Two writes at a time would use the same draft.
    await this.#keeping;
    await this.#keep(true);
    const fleet = this.#fleet();
    const written = fleet && this.#journal.write(fleet.histories, fleet.self.name, this.#options.now());
    await Promise.race([written, sleep(LAST_WRITE_MS, undefined, { ref: false })]);
  }

  #waitForSlot(): void {
    const waitMs = Math.max(WAIT_MIN_MS, SLOT_MS - (this.#options.now() % SLOT_MS));
    this.#timer = setTimeout(() => this.#onSlot(), waitMs).unref();
  }

  #onSlot(): void {
    // The next sample contains everything that this sample missed.
    this.#sample()
      .then(() => this.#keepNowAndThen())
      .catch(() => undefined);
    this.#waitForSlot();
  }

  async #keepNowAndThen(): Promise<void> {
    if (this.#options.now() - this.#keptAtMs < KEEP_EVERY_MS) return;
    this.#keeping = this.#keep();
    await this.#keeping;
  }

  async #keep(hasEnded = false): Promise<void> {
    const { file, bounds, now } = this.#options;
    this.#keptAtMs = now();
    const shown = { id: this.historyId, events: this.#events.list(), nearLimits: this.#samples.nearLimits, hasEnded };
    await file?.write(encodeHistory(this.#history.state(), shown, widthOf(bounds), now()));
  }

  /** Takes a sample. Only one is taken at a time, because an older sample that is processed after a newer one would be counted twice. */
  #sample(): Promise<void> {
    this.#sampling ??= this.#takeSample().finally(() => {
      this.#sampling = undefined;
    });
    return this.#sampling;
  }

  async #takeSample(): Promise<void> {
    const [, status] = await Promise.all([this.#samples.take(), this.#options.status().catch(() => null)]);
    this.#status = status;
    const fleet = this.#fleet();
    if (fleet !== undefined) this.#journal.writeInNewSlot(fleet.histories, fleet.self.name, this.#options.now());
    const known = this.#withFailure(status);
    const { nearLimits, upstreamOf } = this.#samples;
    const causes = await this.#search.search(known, { nearLimits, upstreamOf });
    this.#events.observe(known, [...causes, ...this.#missingCauses()]);
  }

  /**
   * Returns the causes of instances that are missing, or were until a moment ago. They are in the history of this instance, but every
   * answer to the page contains them.
   */
  #missingCauses(): FoundCause[] {
    const fleet = this.#fleet();
    return fleet === undefined ? [] : [...fleet.missing().map(silentCause), ...fleet.returned().map(returnedCause)];
  }

  #causesNow(): CausesAnswer {
    return {
      causes: this.#events.causes().filter(({ about }) => about.topic !== 'instance'),
      extents: this.#search.extents(),
      organizations: this.#samples.nearLimits,
      clock_ms: this.#options.now(),
      configuration: this.#inForce(),
    };
  }

  /**
   * Adds the error of the console's own connection to Redis, which says why Redis is still away. The stores only remember why they lost it.
   */
  #withFailure(status: StatusForCauses | null): StatusForCauses | null {
    return status?.redis === undefined
      ? status
      : { ...status, redis: { ...status.redis, failure: this.#fleet()?.failure() } };
  }

  #inForce(): LocalFeed['configuration'] {
    const { configuration: { version, loaded_at } = {} } = (this.#status ?? {}) as StatusForCauses;
    return version === undefined || loaded_at === undefined ? undefined : { version, loaded_at };
  }
}

/** Returns the time since which nothing was counted. A process that was killed has lost its last counts. */
function uncountedSinceMs(kept: KeptHistory | undefined, nowMs: number): number | undefined {
  const keptAtMs = kept?.keptAtMs;
  return keptAtMs !== undefined && nowMs - keptAtMs >= SLOT_MS ? keptAtMs : undefined;
}

/**
 * Returns the time at which the previous process was last known to run, if it has died; undefined if it ended in order, or is not known.
 */
function aliveAtMs(kept: KeptHistory | undefined): number | undefined {
  return kept?.hasEnded === false ? kept.keptAtMs : undefined;
}
