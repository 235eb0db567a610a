// Asks this instance, another instance, or all instances for the console. Also answers the questions of other instances.

import type { ConsoleView } from '../shared/questions/console-view.ts';
import type { ExchangeFilter, ExchangeLine } from '../shared/questions/exchange-filter.ts';
import { type AskFleet, answerFleet, type FleetQuestion, type FleetSources } from '../shared/questions/fleet.ts';
import { type ExchangeRow, exchangeRow } from './exchanges.ts';
import { attentionOf, type CausesAnswer, type Feed, type LocalFeed } from './feed/feed.ts';
import { Sampling, type SamplingOptions } from './feed/sampling.ts';
import type { Fleet } from './fleet/fleet.ts';
import type { FleetInstance } from './fleet/fleet-instance.ts';
import type { Subject } from './history/history-counts.ts';
import type { ShownTime } from './history/ranges.ts';

export interface InstancesOptions extends SamplingOptions, FleetSources {
  /** Returns the explanation of an exchange that `explain` gives. @param causes the current causes of this instance */
  story(line: ExchangeLine, causes: LocalFeed['causes']): object;
  /** Returns a view: audit, routes or configuration. */
  view(view: ConsoleView): Promise<object>;
  readonly version: string;
  /** Host and port of the public listener. */
  readonly name: string;
  readonly adminPort: number;
  /** Connects the consoles of all instances; undefined without Redis, where there is one instance. */
  readonly openFleet?:
    | ((of: Omit<FleetInstance, 'id' | 'ending'>, answer: (question: object) => Promise<unknown>) => Fleet)
    | undefined;
}

/** The questions that each instance answers about itself: what each says beside its name. */
interface Questions {
  readonly presence: unknown;
  readonly causes: unknown;
  readonly configuration: unknown;
  readonly feed: { readonly span: ShownTime; readonly subject: Subject | undefined };
  readonly exchanges: { readonly query: ExchangeFilter };
  readonly stories: { readonly id: string };
}

interface Answers extends Record<keyof Questions, object> {
  readonly causes: CausesAnswer;
  readonly feed: LocalFeed;
  readonly exchanges: ExchangeRow[];
  readonly stories: object[];
}

type Topic = keyof Questions;
type Question<About extends Topic> = { readonly about: About } & Questions[About];

export interface InstanceAnswer<T> {
  readonly instance: FleetInstance;
  /** The answer; undefined if the instance gave no answer. */
  readonly value: T | undefined;
}

export class Instances {
  readonly self: FleetInstance;
  /** The other instances; undefined without Redis. */
  readonly fleet: Fleet | undefined;
  readonly #options: InstancesOptions;
  readonly #sampling: Sampling;
  readonly #answers: { readonly [About in Topic]: (question: Question<About>) => Promise<Answers[About]> } = {
    presence: async () => ({}),
    causes: () => this.#sampling.causes(),
    configuration: () => this.#options.view({ about: 'configuration' }),
    feed: ({ span, subject }) => this.#sampling.feed(span, subject),
    exchanges: async ({ query }) => (await this.#options.recent(query)).map(exchangeRow),
    stories: ({ id }) => this.#stories(id),
  };

  constructor(options: InstancesOptions) {
    const { version, name, adminPort, now } = options;
    const started_at = new Date(now()).toISOString();
    const self = { name, version, started_at, admin_port: adminPort, pid: process.pid };
    this.#options = options;
    this.#sampling = new Sampling(options, () => this.fleet);
    this.fleet = options.openFleet?.(self, (question) => this.#answer(question as Question<Topic> | FleetQuestion));
    this.self = this.fleet?.self ?? { id: 'here', ...self };
  }

  /** Asks this instance, another instance by its id, or `all`. */
  async ask<About extends Topic>(question: Question<About>, to: string): Promise<InstanceAnswer<Answers[About]>[]> {
    type Answer = InstanceAnswer<Answers[About]>;
    const here = async (): Promise<Answer> => ({ instance: this.self, value: await this.#own(question) });
    if (this.fleet === undefined || to === this.self.id) return [await here()];
    if (to !== 'all') {
      const answers = await this.fleet.ask(question, to);
      return answers.length === 0 ? [await here()] : (answers as Answer[]);
    }
    const [own, others] = await Promise.all([here(), this.fleet.ask(question)]);
    return [own, ...(others as Answer[])];
  }

  /** Asks this instance and all others. */
  readonly askFleet: AskFleet = async (question) => {
    const own = answerFleet(this.#options, question).catch(() => undefined);
    const others = this.fleet?.ask(question) ?? [];
    return [await own, ...(await others).map(({ value }) => value)];
  };

  /** Returns the causes that need attention. */
  async causes(): Promise<Feed['attention']> {
    return (await this.causesAndEnds('all')).filter(({ isOver }) => !isOver);
  }

  /** Returns the causes of all instances or of this instance, and those that are over since lately. */
  async causesAndEnds(of: 'all' | 'self'): Promise<Feed['attention']> {
    const answers = await this.ask({ about: 'causes' }, of === 'all' ? of : this.self.id);
    // An instance of another version may not know this question. Its missing answer is then no cause.
    return attentionOf(
      answers.filter(({ instance, value }) => value !== undefined || instance.version === this.self.version),
      { returned: of === 'all' ? (this.fleet?.returned() ?? []) : [], unasked: this.unasked() },
      this.#options.now(),
    );
  }

  /** Returns the names of the instances that cannot be asked, because Redis cannot be reached or takes no writes. */
  unasked(): readonly string[] {
    return [...new Set(this.fleet?.unasked().map(({ name }) => name))];
  }

  /** Resolves when the history is kept. */
  async stop(): Promise<void> {
    // The last counts are written through the connections of the fleet.
    await this.#sampling.stop();
    this.fleet?.close();
  }

  async #stories(id: string): Promise<object[]> {
    const { exchanges, story } = this.#options;
    const lines = await exchanges(id);
    const { causes } = lines.length === 0 ? { causes: [] } : await this.#sampling.causes();
    const lasting = causes.filter(({ isOver }) => !isOver);
    return lines.map((line) => story(line, lasting));
  }

  /** Answers a question of another instance. */
  async #answer(question: Question<Topic> | FleetQuestion): Promise<unknown> {
    return isOwn(question, this.#answers) ? this.#own(question) : answerFleet(this.#options, question);
  }

  #own<About extends Topic>(question: Question<About>): Promise<Answers[About]> {
    return this.#answers[question.about](question);
  }
}

function isOwn(question: Question<Topic> | FleetQuestion, answers: object): question is Question<Topic> {
  return Object.hasOwn(answers, question.about);
}
