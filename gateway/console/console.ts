// The operators' console: keeps the history of the last day, whether or not the page is open, and builds the data that the page shows.

import { setTimeout as sleep } from 'node:timers/promises';
import type { ExchangeFilter, ExchangeLine } from '../shared/exchange-filter.ts';
import type { StatusForCauses } from './cause.ts';
import { causesOf, type LastMinute } from './causes.ts';
import { createEvents, type GatewayEvent, type LastingCause } from './events.ts';
import { type ExchangeRow, exchangeFilterOf, exchangeRow, newestFirst } from './exchanges.ts';
import { feedOf, type LocalFeed } from './feed.ts';
import { type PageFile, pageFile } from './files.ts';
import type { Fleet, FleetInstance } from './fleet.ts';
import { createHistory, widthOf } from './history.ts';
import type { HistoryFile } from './history-file.ts';
import { historyReport } from './history-report.ts';
import { decodeHistory, encodeHistory } from './kept-history.ts';
import { mergeNearLimit } from './near-limit.ts';
import { type Range, RESOLUTIONS, rangeOf } from './ranges.ts';
import { runbookSection } from './runbook.ts';
import { createDifference, type OrganizationNearLimit, type Sample } from './sample.ts';
import { createVersionSummary } from './version-summary.ts';

export interface ConsoleOptions extends ConsoleSources {
  /** Upper bounds of the duration buckets, in seconds. */
  readonly bounds: readonly number[];
  /** What `explain` tells of an exchange. */
  story(line: ExchangeLine): object;
  /** Epoch milliseconds that never decrease. */
  now(): number;
  readonly version: string;
  /** Where the configuration is, for people. */
  readonly configDirectory: string;
  /** Host and port of the public listener. */
  readonly name: string;
  /** Where the history outlives the process. */
  readonly file?: HistoryFile | undefined;
  /** Connects the consoles of all instances; absent: there is one. */
  readonly openFleet?:
    | ((of: Omit<FleetInstance, 'id'>, answer: (question: object) => Promise<unknown>) => Fleet)
    | undefined;
}

/** What the console reads of its own gateway. */
export interface ConsoleSources {
  /** Counts of each process; undefined: it did not answer. A process is identified by the same object each time. */
  samples(): Promise<ReadonlyMap<object, Sample | undefined>>;
  status(): Promise<object>;
  versions(): Promise<object>;
  /** The log lines of recent exchanges, by a filter or by an id. */
  recent(filter: ExchangeFilter): Promise<readonly ExchangeLine[]>;
  exchanges(id: string): Promise<readonly ExchangeLine[]>;
  /** Organizations and keys that a text names; one organization with its keys, or undefined. */
  findOrganizations(text: string): Promise<object>;
  organization(id: string): Promise<object | undefined>;
}

export interface Console {
  /** Returns a file of the page by its path; undefined for an unknown path. */
  file(path: string): Promise<PageFile> | undefined;
  /** Answers the page; undefined for an unknown path, and for a record that does not exist. */
  answer(path: string, query: URLSearchParams): Promise<object | undefined>;
  /** Resolves when the history is kept. */
  stop(): Promise<void>;
}

/** A question that each instance answers about itself. */
type LocalQuestion =
  | { readonly about: 'presence' }
  | { readonly about: 'feed'; readonly range: Range }
  | { readonly about: 'exchanges'; readonly query: ExchangeFilter }
  | { readonly about: 'stories'; readonly id: string };

/** Keeps a clock that stands still from causing a busy loop. */
const WAIT_MIN_MS = 100;
const [{ slotMs: SLOT_MS }] = RESOLUTIONS;
/** A process that is killed loses at most so much. */
const KEEP_EVERY_MS = 300_000;
const LAST_COUNT_MS = 200;

interface Source {
  readonly differenceOf: ReturnType<typeof createDifference>;
  /** Moment of the process's last sample: the increase in its next sample began there. */
  sinceMs: number;
}

/** Starts to sample at once, so that the page can show the time before it was opened. */
export function createConsole(options: ConsoleOptions): Console {
  const { bounds, samples, status, now, version, name } = options;
  const startedAt = new Date(now()).toISOString();
  const saved = options.file?.read();
  const kept = saved && decodeHistory(saved, widthOf(bounds), now());
  const history = createHistory(bounds, now, kept);
  const events = createEvents(now, kept?.events);
  const sources = new WeakMap<object, Source>();
  const versionSummary = createVersionSummary(options.versions, now);
  const fleet = options.openFleet?.({ name, version, started_at: startedAt }, (question) =>
    local(question as LocalQuestion),
  );
  const self = fleet?.self ?? { id: 'here', name, version, started_at: startedAt };
  let organizations: readonly OrganizationNearLimit[] = [];
  let lastStatus: object | null = null;
  let sampling: Promise<void> | undefined;
  let timer = setTimeout(onSlot, untilNextSlot()).unref();

  function untilNextSlot(): number {
    return Math.max(WAIT_MIN_MS, SLOT_MS - (now() % SLOT_MS));
  }

  function onSlot(): void {
    // The next sample contains everything that this one missed.
    sample()
      .then(keepNowAndThen)
      .catch(() => undefined);
    timer = setTimeout(onSlot, untilNextSlot()).unref();
  }

  let keptAtMs = now();

  async function keepNowAndThen(): Promise<void> {
    if (now() - keptAtMs >= KEEP_EVERY_MS) await keep();
  }

  async function keep(): Promise<void> {
    keptAtMs = now();
    await options.file?.write(encodeHistory(history.state(), events.list(), widthOf(bounds)));
  }

  /** One sample at a time: an older sample processed after a newer one would be counted twice. */
  function sample(): Promise<void> {
    sampling ??= takeSample().finally(() => {
      sampling = undefined;
    });
    return sampling;
  }

  async function takeSample(): Promise<void> {
    const [taken, said] = await Promise.all([count(), status().catch(() => null)]);
    organizations = mergeNearLimit(taken.map((one) => one.organizations));
    lastStatus = said;
    const known = withFailure(said as StatusForCauses | null);
    events.observe(known, causesOf(known, lastMinute(), now()));
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

  /** The stores remember why Redis was lost; the console's own connection knows why it is still away. */
  function withFailure(said: StatusForCauses | null): StatusForCauses | null {
    return said?.redis === undefined ? said : { ...said, redis: { ...said.redis, failure: fleet?.failure() } };
  }

  function lastMinute(): LastMinute {
    const { all, codes } = historyReport(bounds, [history.counts('15m')]);
    const [mostOften] = codes
      .filter(({ stage, minute }) => stage === 'forward' && minute > 0)
      .sort((one, other) => other.minute - one.minute);
    return { requests: all.minute.requests, serverErrors: all.minute.server_errors, mostOften: mostOften?.code };
  }

  async function local(question: LocalQuestion): Promise<unknown> {
    switch (question.about) {
      case 'presence':
        return {};
      case 'feed':
        return localFeed(question.range);
      case 'exchanges':
        return (await options.recent(question.query)).map(exchangeRow);
      case 'stories':
        return (await options.exchanges(question.id)).map(options.story);
    }
  }

  async function localFeed(range: Range): Promise<LocalFeed> {
    await sample().catch(() => undefined);
    return {
      counts: history.counts(range),
      organizations,
      status: lastStatus,
      versions: versionSummary(),
      causes: events.causes(),
      events: events.list(),
    };
  }

  /** Asks this instance, another one, or all of them. */
  async function ask<T>(
    question: LocalQuestion,
    to: string,
  ): Promise<{ readonly instance: FleetInstance; readonly value: T | undefined }[]> {
    const here = async () => ({ instance: self, value: (await local(question)) as T });
    if (fleet === undefined || to === self.id) return [await here()];
    if (to !== 'all') {
      const answers = await fleet.ask(question, to);
      return answers.length === 0 ? [await here()] : (answers as { instance: FleetInstance; value: T | undefined }[]);
    }
    const [own, others] = await Promise.all([here(), fleet.ask(question)]);
    return [own, ...(others as { instance: FleetInstance; value: T | undefined }[])];
  }

  /** The instance that the page asks for; this one unless it is known. */
  function instanceIn(query: URLSearchParams): string {
    const wanted = query.get('instance') ?? self.id;
    return wanted === 'all' || fleet?.others().some(({ id }) => id === wanted) ? wanted : self.id;
  }

  async function feed(query: URLSearchParams): Promise<object> {
    const chosen = instanceIn(query);
    if (chosen !== 'all') void fleet?.ask({ about: 'presence' } satisfies LocalQuestion);
    const answers = await ask<LocalFeed>({ about: 'feed', range: rangeOf(query.get('range')) }, chosen);
    const instances = [self, ...(fleet?.others() ?? [])];
    return { ...feedOf(bounds, answers, now()), here: self.id, instance: chosen, instances, started_at: startedAt };
  }

  async function exchanges(query: URLSearchParams): Promise<object> {
    const filter = exchangeFilterOf(query);
    const answers = await ask<ExchangeRow[]>({ about: 'exchanges', query: filter }, instanceIn(query));
    const lists = answers.map(({ instance, value = [] }) =>
      instance.id === self.id ? value : value.map((row) => ({ ...row, instance: instance.name })),
    );
    return { at: new Date(now()).toISOString(), exchanges: newestFirst(lists, filter.limit) };
  }

  /** Looks in every instance: an id is found wherever its request was. */
  async function stories(id: string): Promise<object> {
    const answers = await ask<object[]>({ about: 'stories', id }, 'all');
    return { exchanges: answers.flatMap(({ value = [] }) => value) };
  }

  function answer(path: string, query: URLSearchParams): Promise<object | undefined> {
    const [, , what = '', id] = path.split('/').map(decoded);
    if (id !== undefined) {
      if (what === 'exchanges') return stories(id);
      if (what === 'organizations') return options.organization(id);
      return what === 'runbook' ? runbookSection(id, options.configDirectory) : Promise.resolve(undefined);
    }
    if (what === 'feed') return feed(query);
    if (what === 'exchanges') return exchanges(query);
    if (what === 'organizations') return options.findOrganizations(query.get('find') ?? '');
    return Promise.resolve(undefined);
  }

  return {
    file: pageFile,
    answer,
    async stop() {
      clearTimeout(timer);
      fleet?.close();
      await sampling?.catch(() => undefined);
      // Workers that have ended do not answer.
      await Promise.race([count().catch(() => undefined), sleep(LAST_COUNT_MS, undefined, { ref: false })]);
      await keep();
    },
  };
}

export type { GatewayEvent, LastingCause };

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
