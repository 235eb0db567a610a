// The operators' console, which answers its page with the data of this gateway, of another instance, or of all.

import { REFUSALS } from '../catalogue/errors.ts';
import { viewIn } from '../shared/questions/console-view.ts';
import type { ExchangeFilter } from '../shared/questions/exchange-filter.ts';
import { isoTime } from '../shared/text.ts';
import { breakdownOf, type ExchangeRow, exchangeFilterOf, newestFirst } from './exchanges.ts';
import { feedOf, type LocalFeed } from './feed/feed.ts';
import type { FleetInstance } from './fleet/fleet-instance.ts';
import type { SharedHistory } from './fleet/shared-histories.ts';
import { type EndedCounts, EndedHistories } from './history/ended-histories.ts';
import type { Subject } from './history/history-counts.ts';
import { type ShownTime, spanOf, startMsOf } from './history/ranges.ts';
import { type InstanceAnswer, Instances, type InstancesOptions } from './instances.ts';
import { filledIn, runbookFacts, runbookIndex, runbookSection } from './runbook.ts';

export interface ConsoleOptions extends InstancesOptions {
  /** Finds organizations and keys by a text. */
  findOrganizations(text: string): Promise<object>;
  organization(id: string): Promise<object | undefined>;
  /** The directory of the configuration, as the page shows it. */
  readonly configDirectory: string;
  /** The options with which `redis-cli` reaches the data of the gateway; undefined without Redis. */
  readonly redisOptions?: string | undefined;
}

/** An error that is answered with 503. The message is for the page. */
class StoreAway extends Error {
  readonly status = 503;
  readonly expose = true;
  constructor(what: string, failure: string) {
    super(
      `${what} cannot be read at present, because Redis is away: ${failure.replace(/\.+$/, '')}. It is tried again.`,
    );
  }
}

const NAME_LENGTH_MAX = 300;
/**
 * Maximum number of requests that are counted for the page of a subject. The number suffices for shares, and the requests are read in
 * milliseconds.
 */
const BROKEN_DOWN_MAX = 500;

export class Console {
  readonly instances: Instances;
  readonly #options: ConsoleOptions;
  readonly #endedHistories: EndedHistories;

  constructor(options: ConsoleOptions) {
    this.#options = options;
    this.instances = new Instances(options);
    this.#endedHistories = new EndedHistories(options.bounds, options.now);
  }

  /** Answers a question of the page; undefined for an unknown path or record. Rejects with StoreAway while Redis cannot be reached. */
  async answer(path: string, query: URLSearchParams): Promise<object | undefined> {
    const [, , what = '', id] = path.split('/').map(decode);
    try {
      return await (id === undefined ? this.#list(what, query) : this.#one(what, id));
    } catch (error) {
      // Most views read Redis. While Redis cannot be reached, their own errors say less.
      const failure = this.instances.fleet?.failure();
      // The page of an organization shows its figures all the same.
      const subject = what === 'organizations' && id !== undefined ? 'The record of this organization' : 'This';
      throw failure === undefined ? error : new StoreAway(subject, failure);
    }
  }

  #one(what: string, id: string): Promise<object | undefined> {
    if (what === 'exchanges') return this.#stories(id);
    if (what === 'organizations') return this.#options.organization(id);
    if (what === 'codes') return Promise.resolve(codeIn(id));
    return what === 'runbook' ? this.#runbook(id) : Promise.resolve(undefined);
  }

  #list(what: string, query: URLSearchParams): Promise<object | undefined> {
    if (what === 'feed') return this.#feed(query);
    if (what === 'exchanges') return this.#exchanges(query);
    if (what === 'breakdown') return this.#breakdown(query);
    if (what === 'configuration') return this.#configuration(query);
    if (what === 'organizations') return this.#options.findOrganizations(query.get('find') ?? '');
    if (what === 'runbook') return runbookIndex().then((sections) => ({ sections }));
    const view = viewIn(what, query);
    return view === undefined ? Promise.resolve(undefined) : this.#options.view(view);
  }

  /** Resolves with the configuration of one instance, which is this instance if the page asks for all; undefined if it does not answer. */
  async #configuration(query: URLSearchParams): Promise<object | undefined> {
    const wanted = this.#instanceIn(query);
    const one = wanted === 'all' ? this.instances.self.id : wanted;
    const [answer] = await this.instances.ask({ about: 'configuration' }, one);
    return answer?.value === undefined ? undefined : { ...answer.value, instance: answer.instance.name };
  }

  async #feed(query: URLSearchParams): Promise<object> {
    const { instances } = this;
    const { fleet, self } = instances;
    const { bounds, now } = this.#options;
    const chosen = this.#instanceIn(query);
    const question = { about: 'feed', span: spanOf(query), subject: subjectIn(query) } as const;
    // The other instances are told that this instance exists.
    if (chosen !== 'all') void fleet?.ask({ about: 'presence' });
    const answered = await instances.ask(question, chosen);
    const missing = chosen === 'all' ? [] : (fleet?.missing() ?? []);
    const answers = [...answered, ...missing.map((instance) => ({ instance, value: undefined }))];
    const all = [self, ...(fleet?.others() ?? []), ...(fleet?.missing() ?? [])];
    const without = chosen === 'all' ? withoutFiguresOf(all, answered) : [];
    const ended = chosen === 'all' ? await this.#ended(answered, question) : undefined;
    const unheard = { returned: fleet?.returned() ?? [], unasked: chosen === 'all' ? instances.unasked() : [] };
    return {
      ...feedOf(bounds, answers, unheard, now(), ended && [ended.counts]),
      here: self.id,
      instance: chosen,
      instances: all,
      without,
      ended: countedUntil(ended?.instances ?? [], without),
      started_at: self.started_at,
      can_ask: fleet?.failure() === undefined,
    };
  }

  /** Resolves with the counts of the instances that have no part in the answers. */
  async #ended(
    answered: readonly InstanceAnswer<LocalFeed>[],
    { span, subject }: { readonly span: ShownTime; readonly subject: Subject | undefined },
  ): Promise<EndedCounts | undefined> {
    const ids = answered.flatMap(({ value }) => value?.history_id ?? []);
    const store = this.instances.fleet?.histories;
    return store && this.#endedHistories.counts(store, new Set(ids), span, subject);
  }

  /** Resolves with the rows of the instances that the page asks for, the newest first, and the names of those that did not answer. */
  async #rowsOf(query: URLSearchParams, filter: ExchangeFilter) {
    const { self } = this.instances;
    const chosen = this.#instanceIn(query);
    const answers = await this.instances.ask({ about: 'exchanges', query: filter }, chosen);
    const lists = answers.map(({ instance, value = [] }) =>
      instance.id === self.id ? value : value.map((row) => ({ ...row, instance: instance.name })),
    );
    const silent = answers.filter(({ value }) => value === undefined).map(({ instance }) => instance.name);
    const without = chosen === 'all' ? [...silent, ...this.instances.unasked()] : silent;
    return { rows: newestFirst<ExchangeRow>(lists, filter.limit), without };
  }

  async #exchanges(query: URLSearchParams): Promise<object> {
    const { rows: exchanges, without } = await this.#rowsOf(query, exchangeFilterOf(query));
    return { at: new Date(this.#options.now()).toISOString(), exchanges, here: this.instances.self.name, without };
  }

  async #breakdown(query: URLSearchParams): Promise<object> {
    const asked = exchangeFilterOf(query);
    const fromMs = asked.fromMs ?? startMsOf(spanOf(query), this.#options.now());
    const filter = { ...asked, fromMs, limit: BROKEN_DOWN_MAX };
    const [latest = [], errors = [], failed = [], broken = []] = await Promise.all(
      [undefined, 'failed', 'service_failed', 'broken'].map(async (status) => {
        return (await this.#rowsOf(query, { ...filter, status })).rows;
      }),
    );
    return breakdownOf(latest, errors, failed, broken);
  }

  /** Asks every instance, because each knows only its own requests. */
  async #stories(id: string): Promise<object> {
    const answers = await this.instances.ask({ about: 'stories', id }, 'all');
    return { exchanges: answers.flatMap(({ value = [] }) => value) };
  }

  async #runbook(title: string): Promise<object | undefined> {
    const section = await runbookSection(title, this.#options.configDirectory);
    if (section === undefined) return undefined;
    const causes = () => this.instances.causes();
    const facts = await runbookFacts(section.title, { ...this.#options, causes });
    return { ...section, text: filledIn(section.text, facts) };
  }

  /** Returns the id of the instance that the page asks for by id or name, or of this instance if that one is unknown. */
  #instanceIn(query: URLSearchParams): string {
    const { self, fleet } = this.instances;
    const wanted = query.get('instance') ?? self.id;
    if (wanted === 'all') return wanted;
    return fleet?.others().find(({ id, name }) => id === wanted || name === wanted)?.id ?? self.id;
  }
}

/** Returns the names of the instances that the figures of all instances do not include. */
function withoutFiguresOf(instances: readonly FleetInstance[], answered: readonly InstanceAnswer<unknown>[]): string[] {
  const told = new Set(answered.filter(({ value }) => value !== undefined).map(({ instance }) => instance.id));
  return [...new Set(instances.filter(({ id }) => !told.has(id)).map(({ name }) => name))];
}

/** Returns the time up to which each instance without an answer is counted. */
function countedUntil(ended: readonly SharedHistory[], without: readonly string[]) {
  const missing = ended.filter(({ instance }) => without.includes(instance));
  return missing.map(({ instance, untilMs }) => ({ instance, until: isoTime(untilMs) }));
}

/** Returns the subject of the view, which is the first of these members in the query. */
function subjectIn(query: URLSearchParams): Subject | undefined {
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

const PLACES = { client: 'the client', upstream: 'the service', gateway: 'the gateway' };

/** Returns the entry of a code; undefined for a code that an upstream has chosen. */
function codeIn(code: string): object | undefined {
  if (!Object.hasOwn(REFUSALS, code)) return undefined;
  const { status, meaning, remedy, blame } = REFUSALS[code as keyof typeof REFUSALS];
  // Clients get the same code for a missing secret and for a refused one.
  const place =
    code === 'upstream_auth_failed'
      ? 'the configuration of the gateway, if its secret is missing; otherwise the service, which refuses it'
      : PLACES[blame];
  return { code, catalogue: { status, meaning, remedy, place } };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
