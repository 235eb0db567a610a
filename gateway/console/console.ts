// The operators' console: keeps the history of the last minutes, whether or not the page is open, and builds the data that the page shows.

import { type PageFile, pageFile } from './files.ts';
import { createHistory, type HistoryReport } from './history.ts';
import { mergeNearLimit } from './near-limit.ts';
import { SLOT_MS } from './ring.ts';
import { createDifference, type OrganizationNearLimit, type Sample } from './sample.ts';
import { createVersionSummary, type VersionSummary } from './version-summary.ts';

export interface ConsoleOptions {
  /** Upper bounds of the duration buckets, in seconds. */
  readonly bounds: readonly number[];
  /** Counts of each process; undefined: it did not answer. A process is identified by the same object each time. */
  samples(): Promise<ReadonlyMap<object, Sample | undefined>>;
  status(): Promise<object>;
  versions(): Promise<object>;
  /** Epoch milliseconds that never decrease. */
  now(): number;
}

export interface Feed {
  readonly at_ms: number;
  /** Changes with each start, so that the page can recognise data of another run. */
  readonly started_at_ms: number;
  readonly history: HistoryReport;
  readonly organizations: readonly OrganizationNearLimit[];
  /** Null: no process answered. */
  readonly status: object | null;
  /** Null: not known yet, or no process answered. */
  readonly versions: VersionSummary | null;
}

export interface Console {
  /** Returns a file of the page by its path; undefined for an unknown path. */
  file(path: string): Promise<PageFile> | undefined;
  feed(): Promise<Feed>;
  stop(): void;
}

/** Keeps a clock that stands still from causing a busy loop. */
const WAIT_MIN_MS = 100;

interface Source {
  readonly differenceOf: ReturnType<typeof createDifference>;
  /** Slot of the process's last sample: the increase in its next sample began there. */
  slot: number;
}

/** Starts to sample at once, so that the page can show the minutes before it was opened. */
export function createConsole({ bounds, samples, status, versions, now }: ConsoleOptions): Console {
  const startedAtMs = now();
  const history = createHistory(bounds, now);
  const sources = new WeakMap<object, Source>();
  const versionSummary = createVersionSummary(versions, now);
  let organizations: readonly OrganizationNearLimit[] = [];
  let sampling: Promise<void> | undefined;
  let timer = setTimeout(onSlot, untilNextSlot()).unref();

  function untilNextSlot(): number {
    return Math.max(WAIT_MIN_MS, SLOT_MS - (now() % SLOT_MS));
  }

  function onSlot(): void {
    // The next sample contains everything that this one missed.
    sample().catch(() => undefined);
    timer = setTimeout(onSlot, untilNextSlot()).unref();
  }

  /** One sample at a time: an older sample processed after a newer one would be counted twice. */
  function sample(): Promise<void> {
    sampling ??= takeSample().finally(() => {
      sampling = undefined;
    });
    return sampling;
  }

  async function takeSample(): Promise<void> {
    const taken = [...(await samples())].flatMap(([of, one]) => (one === undefined ? [] : [[of, one] as const]));
    const slot = history.slot();
    for (const [of, one] of taken) {
      const source = sources.get(of) ?? { differenceOf: createDifference(), slot };
      sources.set(of, source);
      history.add(source.slot, source.differenceOf(one));
      source.slot = slot;
    }
    organizations = mergeNearLimit(taken.map(([, one]) => one.organizations));
  }

  async function feed(): Promise<Feed> {
    const [said] = await Promise.all([status().catch(() => null), sample().catch(() => undefined)]);
    return {
      at_ms: now(),
      started_at_ms: startedAtMs,
      history: history.report(),
      organizations,
      status: said,
      versions: versionSummary(),
    };
  }

  return { file: pageFile, feed, stop: () => clearTimeout(timer) };
}
