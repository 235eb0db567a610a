// The operators' console: answers its page with the data of this gateway, of another instance, or of all.

import { REFUSALS } from '../catalogue/errors.ts';
import { type ConsoleView, viewIn } from '../shared/questions/console-view.ts';
import type { ExchangeFilter, ExchangeLine } from '../shared/questions/exchange-filter.ts';
import { type AskFleet, answerFleet, type FleetQuestion, type FleetSources } from '../shared/questions/fleet.ts';
import type { FleetInstance } from './cause.ts';
import { breakdownOf, type ExchangeRow, exchangeFilterOf, exchangeRow, newestFirst } from './exchanges.ts';
import { attentionOf, type Feed, feedOf, type LocalFeed, missingCauseId } from './feed.ts';
import { type PageFile, pageFile } from './files.ts';
import type { Fleet } from './fleet.ts';
import type { Subject } from './history-counts.ts';
import { beginOf, type ShownTime, spanOf } from './ranges.ts';
import { filledIn, runbookFacts, runbookSection } from './runbook.ts';
import { type SamplingOptions, type SamplingSources, startSampling } from './sampling.ts';

export interface ConsoleOptions extends ConsoleSources, SamplingOptions {
  /** Returns the explanation of an exchange that `explain` gives. */
  story(line: ExchangeLine): object;
  readonly version: string;
  /** The directory of the configuration, as the page shows it. */
  readonly configDirectory: string;
  /** The options with which `redis-cli` reaches the data of the gateway; absent without Redis. */
  readonly redisOptions?: string | undefined;
  /** Host and port of the public listener. */
  readonly name: string;
  /** Connects the consoles of all instances; absent without Redis, where there is one instance. */
  readonly openFleet?:
    | ((of: Omit<FleetInstance, 'id' | 'ending'>, answer: (question: object) => Promise<unknown>) => Fleet)
    | undefined;
}

/** Answers with 503; the message is for the page. */
class StoreAway extends Error {
  readonly status = 503;
  readonly expose = true;
  constructor(failure: string) {
    super(`This cannot be read at present, because Redis is away: ${failure.replace(/\.+$/, '')}. It is tried again.`);
  }
}

/** What the console reads of its own gateway. */
export interface ConsoleSources extends SamplingSources, FleetSources {
  /** Organizations and keys that a text names; one organization with its keys, or undefined. */
  findOrganizations(text: string): Promise<object>;
  organization(id: string): Promise<object | undefined>;
  /** Audit, routes and configuration. */
  view(view: ConsoleView): Promise<object>;
}

export interface Console {
  /** Resolves with a file of the page by its path; with undefined for an unknown path. */
  file(path: string): Promise<PageFile | undefined>;
  /** Answers a question of the page; undefined for an unknown path or record. Rejects with StoreAway while Redis is away. */
  answer(path: string, query: URLSearchParams): Promise<object | undefined>;
  /** Asks this instance and all others. */
  readonly askFleet: AskFleet;
  /** What needs attention now, of all instances or of this one. */
  causes(of: 'all' | 'self'): Promise<Feed['attention']>;
  /** Forgets the missing instances whose causes have these ids. Rejects while Redis is away. */
  dismiss(isMeant: (causeId: string) => boolean): Promise<void>;
  /** Resolves when the history is kept. */
  stop(): Promise<void>;
}

/** A question that each instance answers about itself. */
type LocalQuestion =
  | { readonly about: 'presence' | 'causes' | 'configuration' }
  | { readonly about: 'feed'; readonly span: ShownTime; readonly subject: Subject | undefined }
  | { readonly about: 'exchanges'; readonly query: ExchangeFilter }
  | { readonly about: 'stories'; readonly id: string }
  | FleetQuestion;

const NAME_LENGTH_MAX = 300;
/** Most requests that are counted for the page of a subject. They are enough for shares, and can be read in milliseconds. */
const BROKEN_DOWN_MAX = 500;

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
      case 'causes':
        return sampling.causes();
      case 'configuration':
        return options.view({ about: 'configuration' });
      case 'feed':
        return sampling.feed(question.span, question.subject);
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

  async function causes(of: 'all' | 'self'): Promise<Feed['attention']> {
    const answers = await ask<Pick<LocalFeed, 'causes' | 'configuration'>>(
      { about: 'causes' },
      of === 'all' ? of : self.id,
    );
    // An instance of another version may not know this question. Its missing answer is then no cause.
    return attentionOf(
      answers.filter(({ instance, value }) => value !== undefined || instance.version === version),
      of === 'all' ? (fleet?.returned() ?? []) : [],
      now(),
    );
  }

  /** Returns the id of the instance that the page asks for by id or name, or this one if that is unknown. */
  function instanceIn(query: URLSearchParams): string {
    const wanted = query.get('instance') ?? self.id;
    if (wanted === 'all') return wanted;
    return fleet?.others().find(({ id, name }) => id === wanted || name === wanted)?.id ?? self.id;
  }

  /** Resolves with the configuration of one instance, which is this one if the page asks for all; undefined if it does not answer. */
  async function configuration(query: URLSearchParams): Promise<object | undefined> {
    const wanted = instanceIn(query);
    const [answer] = await ask<object>({ about: 'configuration' }, wanted === 'all' ? self.id : wanted);
    return answer?.value === undefined ? undefined : { ...answer.value, instance: answer.instance.name };
  }

  async function feed(query: URLSearchParams): Promise<object> {
    const chosen = instanceIn(query);
    const question = { about: 'feed', span: spanOf(query), subject: subjectOf(query) } as const;
    if (chosen !== 'all') void fleet?.ask({ about: 'presence' } satisfies LocalQuestion);
    const answered = await ask<LocalFeed>(question, chosen);
    const missing = chosen === 'all' ? [] : (fleet?.missing() ?? []);
    const answers = [...answered, ...missing.map((instance) => ({ instance, value: undefined }))];
    const instances = [self, ...(fleet?.others() ?? []), ...(fleet?.missing() ?? [])];
    const without = chosen === 'all' ? withoutFiguresOf(instances, answered) : [];
    const page = { here: self.id, instance: chosen, instances, without, started_at: startedAt };
    return {
      ...feedOf(bounds, answers, fleet?.returned() ?? [], now()),
      ...page,
      can_ask: fleet?.failure() === undefined,
    };
  }

  /** Resolves with the rows of the instances that the page asks for, the newest first. */
  async function rowsOf(query: URLSearchParams, filter: ExchangeFilter): Promise<ExchangeRow[]> {
    const answers = await ask<ExchangeRow[]>({ about: 'exchanges', query: filter }, instanceIn(query));
    const lists = answers.map(({ instance, value = [] }) =>
      instance.id === self.id ? value : value.map((row) => ({ ...row, instance: instance.name })),
    );
    return newestFirst(lists, filter.limit);
  }

  async function exchanges(query: URLSearchParams): Promise<object> {
    const rows = await rowsOf(query, exchangeFilterOf(query));
    return { at: new Date(now()).toISOString(), exchanges: rows };
  }

  async function breakdown(query: URLSearchParams): Promise<object> {
    const asked = exchangeFilterOf(query);
    const filter = { ...asked, fromMs: asked.fromMs ?? beginOf(spanOf(query), now()), limit: BROKEN_DOWN_MAX };
    const [latest, errors, failed] = await Promise.all(
      [undefined, 'failed', 'service_failed'].map((status) => rowsOf(query, { ...filter, status })),
    );
    return breakdownOf(latest ?? [], errors ?? [], failed ?? []);
  }

  /** Asks every instance, because each knows only its own requests. */
  async function stories(id: string): Promise<object> {
    const answers = await ask<object[]>({ about: 'stories', id }, 'all');
    return { exchanges: answers.flatMap(({ value = [] }) => value) };
  }

  async function runbook(title: string): Promise<object | undefined> {
    const section = await runbookSection(title, options.configDirectory);
    if (section === undefined) return undefined;
    const facts = await runbookFacts(section.title, { ...options, causes: () => causes('all') });
    return { ...section, text: filledIn(section.text, facts) };
  }

  function answer(path: string, query: URLSearchParams): Promise<object | undefined> {
    const [, , what = '', id] = path.split('/').map(decoded);
    if (id !== undefined) {
      if (what === 'exchanges') return stories(id);
      if (what === 'organizations') return options.organization(id);
      if (what === 'codes') return Promise.resolve(codeIn(id));
      return what === 'runbook' ? runbook(id) : Promise.resolve(undefined);
    }
    if (what === 'feed') return feed(query);
    if (what === 'exchanges') return exchanges(query);
    if (what === 'breakdown') return breakdown(query);
    if (what === 'configuration') return configuration(query);
    if (what === 'organizations') return options.findOrganizations(query.get('find') ?? '');
    const view = viewIn(what, query);
    return view === undefined ? Promise.resolve(undefined) : options.view(view);
  }

  /** Throws StoreAway in place of the error of a view while Redis is away, because most views read Redis. */
  async function answered(path: string, query: URLSearchParams): Promise<object | undefined> {
    try {
      return await answer(path, query);
    } catch (error) {
      const failure = fleet?.failure();
      throw failure === undefined ? error : new StoreAway(failure);
    }
  }

  return {
    file: pageFile,
    answer: answered,
    askFleet,
    causes,
    dismiss: async (isMeant) => fleet?.dismiss((name) => isMeant(missingCauseId(name))),
    stop() {
      fleet?.close();
      return sampling.stop();
    },
  };
}

/** Returns the names of the instances that the figures of all instances do not include. */
function withoutFiguresOf(
  instances: readonly FleetInstance[],
  answered: readonly { readonly instance: FleetInstance; readonly value: unknown }[],
): string[] {
  const told = new Set(answered.filter(({ value }) => value !== undefined).map(({ instance }) => instance.id));
  return [...new Set(instances.filter(({ id }) => !told.has(id)).map(({ name }) => name))];
}

/** Returns what the view is about, which is the first of these members that the query has. */
function subjectOf(query: URLSearchParams): Subject | undefined {
  const members = {
    operation: 'operations',
    upstream: 'upstreams',
    organization: 'organizations',
    code: 'codes',
  } as const;
  for (const [member, kind] of Object.entries(members)) {
    const name = query.get(member)?.slice(0, NAME_LENGTH_MAX);
    if (name) return { kind, name };
  }
  return undefined;
}

/** Undefined for a code that an upstream chose itself. */
function codeIn(code: string): object | undefined {
  if (!Object.hasOwn(REFUSALS, code)) return undefined;
  const { status, meaning, remedy, blame } = REFUSALS[code as keyof typeof REFUSALS];
  return { code, catalogue: { status, meaning, remedy, blame } };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
