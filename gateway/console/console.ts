// The console of operators: keeps the history of the last minutes, whether or not somebody looks, and answers what the page shows.

import { type PageFile, pageFile } from './files.ts';
import { createHistory, type HistoryReport } from './history.ts';
import { mergeNearLimit } from './near-limit.ts';
import { SLOT_MS } from './ring.ts';
import { createDifference, type PressedOrganization, type Sample } from './sample.ts';
import { createVersionSummary, type VersionSummary } from './version-summary.ts';

export interface ConsoleOptions {
  /** Upper bounds of the buckets of durations, in seconds. */
  readonly bounds: readonly number[];
  /** What each process has counted; undefined: it did not answer. The same process is the same object each time. */
  samples(): Promise<ReadonlyMap<object, Sample | undefined>>;
  status(): Promise<object>;
  versions(): Promise<object>;
  /** Epoch milliseconds that never go back. */
  now(): number;
}

export interface Feed {
  readonly at_ms: number;
  /** Changes with each start: what was seen before belongs to another run. */
  readonly started_at_ms: number;
  readonly history: HistoryReport;
  readonly organizations: readonly PressedOrganization[];
  /** Null: nobody could answer. */
  readonly status: object | null;
  /** Null: not known yet, or nobody could answer. */
  readonly versions: VersionSummary | null;
}

export interface Console {
  /** A file of the page by its path. */
  file(path: string): Promise<PageFile> | undefined;
  feed(): Promise<Feed>;
  stop(): void;
}

/** A clock that stands still must not keep the process busy. */
const WAIT_MIN_MS = 100;

interface Source {
  readonly differenceOf: ReturnType<typeof createDifference>;
  /** When it was heard last: what is new in its next sample began there. */
  slot: number;
}

/** Begins to sample at once: whoever opens the page wants to see the minutes before. */
export function createConsole({ bounds, samples, status, versions, now }: ConsoleOptions): Console {
  const startedAtMs = now();
  const history = createHistory(bounds, now);
  const sources = new WeakMap<object, Source>();
  const versionSummary = createVersionSummary(versions, now);
  let organizations: readonly PressedOrganization[] = [];
  let sampling: Promise<void> | undefined;
  let timer = setTimeout(onSlot, untilNextSlot()).unref();

  function untilNextSlot(): number {
    return Math.max(WAIT_MIN_MS, SLOT_MS - (now() % SLOT_MS));
  }

  function onSlot(): void {
    // The next one has everything that this one has not.
    sample().catch(() => undefined);
    timer = setTimeout(onSlot, untilNextSlot()).unref();
  }

  /** One at a time: an older sample after a newer one would be counted twice. */
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
