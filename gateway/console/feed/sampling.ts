// Samples the counts and the state of this gateway once per slot, and keeps the history of the last day, whether or not the page is open.

import { setTimeout as sleep } from 'node:timers/promises';
import { type ErrorCode, REFUSALS } from '../../catalogue/errors.ts';
import type { Cause } from '../../shared/contracts/cause.ts';
import type { FleetSources } from '../../shared/questions/fleet.ts';
import type { StatusForCauses } from '../causes/cause.ts';
import { causesOf, createCauseMemory, type LastMinute } from '../causes/causes.ts';
import { failureCodesOf } from '../causes/failure-codes.ts';
import type { PresentTraffic } from '../causes/present.ts';
import { createSlowMemory, slowIn } from '../causes/slow-causes.ts';
import { namesOfFailing } from '../causes/traffic-causes.ts';
import type { Fleet } from '../fleet/fleet.ts';
import { createEvents, eventsAbout, type LastingCause } from '../history/events.ts';
import { History, widthOf } from '../history/history.ts';
import type { Subject } from '../history/history-counts.ts';
import { historyReport } from '../history/history-report.ts';
import { decodeHistory, encodeHistory, type HistoryFile, type KeptHistory } from '../history/kept-history.ts';
import { RESOLUTIONS, type ShownTime } from '../history/ranges.ts';
import { createDifference, type OrganizationNearLimit, type Sample } from '../history/sample.ts';
import { isMissingCause, type LocalFeed, silentCause } from './feed.ts';
import { mergeNearLimit, NOTED_MS } from './near-limit.ts';
import { createVersionSummary } from './version-summary.ts';

/** The sources of a sample. */
interface SamplingSources extends Pick<FleetSources, 'recent'> {
  /** Returns the counts of each process; undefined if it did not answer. Each process is always represented by the same object. */
  samples(): Promise<ReadonlyMap<object, Sample | undefined>>;
  status(): Promise<object>;
  versions(): Promise<object>;
}

export interface SamplingOptions extends SamplingSources {
  /** Upper bounds of the duration buckets, in seconds. */
  readonly bounds: readonly number[];
  /** Returns epoch milliseconds that never decrease. */
  now(): number;
  /** The file for the history, which outlives the process. */
  readonly file?: HistoryFile | undefined;
}

interface Sampling {
  /** Returns the causes that need attention at this moment. */
  causes(): Promise<Pick<LocalFeed, 'causes' | 'configuration'>>;
  /** Resolves with the report of this gateway about itself, with a sample of this moment. */
  feed(span: ShownTime, subject?: Subject): Promise<LocalFeed>;
  /** Resolves when the history is kept. */
  stop(): Promise<void>;
}

/** Keeps a clock that stands still from causing a busy loop. */
const WAIT_MIN_MS = 100;
const [{ slotMs: SLOT_MS }] = RESOLUTIONS;
/** Time between two writes of the history. A process that is killed loses no more than this. */
const KEEP_EVERY_MS = 60_000;
const LAST_COUNT_MS = 200;

interface Source {
  readonly differenceOf: ReturnType<typeof createDifference>;
  /** The moment of the process's last sample, at which the increase in its next sample began. */
  sinceMs: number;
}

/**
 * Starts to sample at once, because the page shows the time before it was opened.
 *
 * @param fleet returns the connection to the other instances; undefined without Redis
 */
export function startSampling(
  options: SamplingOptions,
  fleet: () => Pick<Fleet, 'failure' | 'missing'> | undefined,
): Sampling {
  const { bounds, samples, status, now } = options;
  const saved = options.file?.read();
  const kept = saved && decodeHistory(saved, widthOf(bounds), now());
  const history = new History(bounds, now, kept);
  const events = createEvents(now, kept?.events, uncountedSince(kept, now()), lastAliveMs(kept));
  const memory = createCauseMemory();
  const slowMemory = createSlowMemory();
  const sources = new WeakMap<object, Source>();
  const versionSummary = createVersionSummary(options.versions, now);
  /** The upstream of each operation. */
  const upstreams = new Map<string, string>();
  let organizations = keptNearLimits(kept, now());
  let lastStatus: object | null = null;
  let sampling: Promise<void> | undefined;
  let keptAtMs = now();
  // From now on, the file says that this process has not ended in order.
  let keeping = keep();
  let timer = setTimeout(onSlot, untilNextSlot()).unref();

  function untilNextSlot(): number {
    return Math.max(WAIT_MIN_MS, SLOT_MS - (now() % SLOT_MS));
  }

  function onSlot(): void {
    // The next sample contains everything that this sample missed.
    sample()
      .then(keepNowAndThen)
      .catch(() => undefined);
    timer = setTimeout(onSlot, untilNextSlot()).unref();
  }

  async function keepNowAndThen(): Promise<void> {
    if (now() - keptAtMs < KEEP_EVERY_MS) return;
    keeping = keep();
    await keeping;
  }

  async function keep(hasEnded = false): Promise<void> {
    keptAtMs = now();
    const shown = { events: events.list(), nearLimits: organizations, hasEnded };
    await options.file?.write(encodeHistory(history.state(), shown, widthOf(bounds), now()));
  }

  /** Takes a sample. Only one is taken at a time, because an older sample that is processed after a newer one would be counted twice. */
  function sample(): Promise<void> {
    sampling ??= takeSample().finally(() => {
      sampling = undefined;
    });
    return sampling;
  }

  async function takeSample(): Promise<void> {
    const [taken, said] = await Promise.all([count(), status().catch(() => null)]);
    const before = keptNearLimits(kept, now());
    organizations = mergeNearLimit([...taken.map((one) => one.organizations), before]);
    for (const { name, upstream } of taken.flatMap(({ operations }) => operations))
      if (upstream !== undefined) upstreams.set(name, upstream);
    lastStatus = said;
    const known = withFailure(said as StatusForCauses | null);
    const causes = causesOf(known, lastMinute(), now(), await present(), memory);
    memory.note(causes, now());
    events.observe(known, [...causes, ...missingCauses()]);
  }

  /** Returns the causes of missing instances. They are in the history of this instance, but every answer to the page contains them. */
  function missingCauses(): Cause[] {
    return (fleet()?.missing() ?? []).map(silentCause);
  }

  function ownCauses(): readonly LastingCause[] {
    return events.causes().filter(({ id }) => !isMissingCause(id));
  }

  async function count(): Promise<Sample[]> {
    const all = await samples();
    const taken = [...all].flatMap(([of, one]) => (one === undefined ? [] : [[of, one] as const]));
    const sinceMs = history.advance();
    for (const [of, one] of taken) {
      const source = sources.get(of) ?? { differenceOf: createDifference(), sinceMs };
      sources.set(of, source);
      history.add(source.sinceMs, source.differenceOf(one));
      source.sinceMs = sinceMs;
    }
    return taken.map(([, one]) => one);
  }

  /**
   * Adds the error of the console's own connection to Redis, which says why Redis still cannot be reached. The stores only remember why
   * they lost the connection.
   */
  function withFailure(said: StatusForCauses | null): StatusForCauses | null {
    return said?.redis === undefined ? said : { ...said, redis: { ...said.redis, failure: fleet()?.failure() } };
  }

  async function present(): Promise<PresentTraffic> {
    const counted = {
      bounds,
      operations: history.present('operations'),
      organizations: history.present('organizations'),
      upstreams: history.present('upstreams'),
      nearLimits: organizations,
      upstreamOf: (operation: string) => upstreams.get(operation),
      usualMs: slowMemory.usualMs,
    };
    const slow = slowIn(counted);
    slowMemory.note(slow, now());
    // If the lines cannot be read, causes name no codes.
    const read = failureCodesOf(namesOfFailing(counted), options.recent, now());
    return { ...counted, failureCodes: await read.catch(() => new Map()) };
  }

  function lastMinute(): LastMinute {
    const { all, codes } = historyReport(bounds, [history.counts({ range: '15m' })]);
    const [mostOften] = codes
      .filter(({ code, minute }) => minute > 0 && isServerError(code))
      .sort((one, other) => other.minute - one.minute);
    const { requests, server_errors: serverErrors, failed } = all.minute;
    return { requests, failed, refused: serverErrors - failed, mostOften: mostOften?.code };
  }

  function inForce(): LocalFeed['configuration'] {
    const { configuration: { version, loaded_at } = {} } = (lastStatus ?? {}) as StatusForCauses;
    return version === undefined || loaded_at === undefined ? undefined : { version, loaded_at };
  }

  async function feed(span: ShownTime, subject?: Subject): Promise<LocalFeed> {
    await sample().catch(() => undefined);
    return {
      counts: history.counts(span, subject),
      organizations,
      status: lastStatus,
      versions: versionSummary(),
      causes: ownCauses(),
      configuration: inForce(),
      events: eventsAbout(events.list(), subject, (operation) => upstreams.get(operation)),
    };
  }

  return {
    async causes() {
      await sample();
      return { causes: ownCauses(), configuration: inForce() };
    },
    feed,
    async stop() {
      clearTimeout(timer);
      await sampling?.catch(() => undefined);
      // Workers that have ended do not answer.
      await Promise.race([count().catch(() => undefined), sleep(LAST_COUNT_MS, undefined, { ref: false })]);
      // Two writes at a time would use the same draft.
      await keeping;
      await keep(true);
    },
  };
}

/** Returns the time since which nothing was counted. A process that was killed has lost its last counts. */
function uncountedSince(kept: KeptHistory | undefined, nowMs: number): number | undefined {
  const keptAtMs = kept?.keptAtMs;
  return keptAtMs !== undefined && nowMs - keptAtMs >= SLOT_MS ? keptAtMs : undefined;
}

/**
 * Returns the time at which the previous process was last known to run, if it has died; undefined if it ended in order, or is not known.
 */
function lastAliveMs(kept: KeptHistory | undefined): number | undefined {
  return kept?.hasEnded === false ? kept.keptAtMs : undefined;
}

/**
 * Returns the organizations near their limits in the history of the previous process, as long as they are recent. The running processes
 * know only their own.
 */
function keptNearLimits(kept: KeptHistory | undefined, nowMs: number): readonly OrganizationNearLimit[] {
  return (kept?.nearLimits ?? []).filter(({ last_at: at }) => nowMs - Date.parse(at) < NOTED_MS);
}

function isServerError(code: string): boolean {
  return Object.hasOwn(REFUSALS, code) && REFUSALS[code as ErrorCode].status >= 500;
}
