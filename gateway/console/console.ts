// The operators' console: answers its page with the data of this gateway, of another instance, or of all.

import type { ExchangeFilter, ExchangeLine } from '../shared/exchange-filter.ts';
import { type AskFleet, answerFleet, type FleetQuestion, type FleetSources } from '../shared/fleet-question.ts';
import { type ExchangeRow, exchangeFilterOf, exchangeRow, newestFirst } from './exchanges.ts';
import { feedOf, type LocalFeed } from './feed.ts';
import { type PageFile, pageFile } from './files.ts';
import type { Fleet, FleetInstance } from './fleet.ts';
import { type Range, rangeOf } from './ranges.ts';
import { runbookSection } from './runbook.ts';
import { type SamplingOptions, type SamplingSources, startSampling } from './sampling.ts';

export interface ConsoleOptions extends ConsoleSources, SamplingOptions {
  /** What `explain` tells of an exchange. */
  story(line: ExchangeLine): object;
  readonly version: string;
  /** Where the configuration is, for people. */
  readonly configDirectory: string;
  /** Host and port of the public listener. */
  readonly name: string;
  /** Connects the consoles of all instances; absent: there is one. */
  readonly openFleet?:
    | ((of: Omit<FleetInstance, 'id'>, answer: (question: object) => Promise<unknown>) => Fleet)
    | undefined;
}

/** What the console reads of its own gateway. */
export interface ConsoleSources extends SamplingSources, FleetSources {
  /** Organizations and keys that a text names; one organization with its keys, or undefined. */
  findOrganizations(text: string): Promise<object>;
  organization(id: string): Promise<object | undefined>;
}

export interface Console {
  /** Returns a file of the page by its path; undefined for an unknown path. */
  file(path: string): Promise<PageFile> | undefined;
  /** Answers the page; undefined for an unknown path, and for a record that does not exist. */
  answer(path: string, query: URLSearchParams): Promise<object | undefined>;
  /** Asks this instance and all others. */
  readonly askFleet: AskFleet;
  /** Resolves when the history is kept. */
  stop(): Promise<void>;
}

/** A question that each instance answers about itself. */
type LocalQuestion =
  | { readonly about: 'presence' }
  | { readonly about: 'feed'; readonly range: Range }
  | { readonly about: 'exchanges'; readonly query: ExchangeFilter }
  | { readonly about: 'stories'; readonly id: string }
  | FleetQuestion;

export function createConsole(options: ConsoleOptions): Console {
  const { bounds, now, version, name } = options;
  const startedAt = new Date(now()).toISOString();
  const sampling = startSampling(options, () => fleet?.failure());
  const fleet = options.openFleet?.({ name, version, started_at: startedAt }, (question) =>
    local(question as LocalQuestion),
  );
  const self = fleet?.self ?? { id: 'here', name, version, started_at: startedAt };

  async function local(question: LocalQuestion): Promise<unknown> {
    switch (question.about) {
      case 'presence':
        return {};
      case 'feed':
        return sampling.feed(question.range);
      case 'exchanges':
        return (await options.recent(question.query)).map(exchangeRow);
      case 'stories':
        return (await options.exchanges(question.id)).map(options.story);
      default:
        return answerFleet(options, question);
    }
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

  const askFleet: AskFleet = async (question) => {
    const own = local(question).catch(() => undefined);
    const others = fleet?.ask(question) ?? [];
    return [await own, ...(await others).map(({ value }) => value)];
  };

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
    askFleet,
    stop() {
      fleet?.close();
      return sampling.stop();
    },
  };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
