// Lets the consoles of several gateways ask each other through Redis. They publish questions and answers; Redis stores only which instances
// are missing. A gateway without Redis is the only one, so it asks no other.

import { randomBytes } from 'node:crypto';
import { connectRedis, type Redis } from '../redis/client.ts';
import { subscribe } from '../redis/subscribe.ts';
import { PATIENCE_MS } from '../shared/questions/fleet.ts';
import type { FleetInstance, MissingInstance, ReturnedInstance } from './cause.ts';
import { channelOf, type FleetMessage, messageIn } from './fleet-messages.ts';
import { createInstanceBeats } from './instance-beats.ts';
import { createMissingInstances } from './missing-instances.ts';
import { type FleetAnswer, PendingQuestion } from './pending-question.ts';

interface FleetOptions {
  /** See `parseRedisUrl`. */
  readonly url: string;
  readonly self: Omit<FleetInstance, 'id' | 'ending'>;
  /** Whether this gateway has begun to end. */
  isEnding(): boolean;
  /** Answers a question of another console. */
  answer(question: object): Promise<unknown>;
  /** Monotonic milliseconds. */
  clock(): number;
  /** Epoch milliseconds. */
  now(): number;
  /** Time between two beats, and the time without one after which an instance is missing; by default 5 s and 15 s. */
  readonly beatEveryMs?: number;
  readonly lostAfterMs?: number;
}

const ALL = 'all';
const REMEMBERED_MS = 60_000;
const END_NOTICED_MS = 500;
const BEAT_EVERY_MS = 5000;
/** Three beats: a pause of the process or of the network is no end. */
const LOST_AFTER_MS = 15_000;
/** Most instances that ask or answer and are remembered. */
const INSTANCES_MAX = 1000;

export class Fleet {
  readonly self: FleetInstance;
  readonly #options: FleetOptions;
  /** The channel of all instances. Each instance also has one of its own. */
  readonly #channel: string;
  readonly #known = new Map<string, { readonly instance: FleetInstance; readonly seenAt: number }>();
  readonly #pending = new Map<string, PendingQuestion>();
  readonly #sender: Redis;
  readonly #missing: ReturnType<typeof createMissingInstances>;
  readonly #beats: ReturnType<typeof createInstanceBeats>;
  readonly #beating: NodeJS.Timeout;
  readonly #watchingEnd: NodeJS.Timeout;
  readonly #endSubscription: () => void;
  #failure: string | undefined;
  #isClosed = false;

  constructor(options: FleetOptions) {
    const { url, clock, beatEveryMs = BEAT_EVERY_MS, lostAfterMs = LOST_AFTER_MS } = options;
    this.self = { id: `con_${randomBytes(8).toString('hex')}`, ...options.self };
    this.#options = options;
    this.#channel = channelOf(url);
    this.#sender = connectRedis({
      url,
      commandTimeoutMs: PATIENCE_MS.instance,
      onReady: () => {
        this.#failure = undefined;
      },
      onLost: ({ message }) => {
        this.#failure = message;
      },
    });
    this.#missing = createMissingInstances(this.#sender, options.now);
    this.#beats = createInstanceBeats(this.#sender, { clock, beatEveryMs, lostAfterMs });
    const beat = () => void this.#beat().catch(() => undefined);
    this.#beating = setInterval(beat, beatEveryMs).unref();
    this.#watchingEnd = setInterval(() => this.#leaveAtEnd(), END_NOTICED_MS).unref();
    beat();
    this.#endSubscription = subscribe({
      url,
      channels: () => [this.#channel, `${this.#channel}:${this.self.id}`],
      onMessage: (_channel, text) => this.#receive(text),
    });
  }

  /** The other instances that have asked or answered in the last minute before now, or before Redis was lost. */
  others(): readonly FleetInstance[] {
    // While Redis is away, no instance can be heard, so none is forgotten.
    const nowMs = this.#options.clock();
    if (this.#failure === undefined)
      for (const [id, { seenAt }] of this.#known) if (nowMs - seenAt > REMEMBERED_MS) this.#known.delete(id);
    const all = [...this.#known.values()].map(({ instance }) => instance);
    return all.sort((one, other) => one.name.localeCompare(other.name));
  }

  /** The instances that ended without an orderly shutdown, and have neither returned nor been dismissed. */
  missing(): readonly MissingInstance[] {
    return this.#missing.list();
  }

  /** The instances that were missing until a moment ago. */
  returned(): readonly ReturnedInstance[] {
    return this.#missing.returned();
  }

  /** Forgets the missing instances with these names. Rejects while Redis is away. */
  dismiss(isMeant: (name: string) => boolean): Promise<void> {
    return this.#missing.forget(({ name }) => isMeant(name), 'An operator has dismissed it.');
  }

  /** The last error of the connection to Redis; undefined while there is a connection. */
  failure(): string | undefined {
    return this.#failure;
  }

  /**
   * Asks one instance, or all others. Resolves after about a second at most, with an answer for each known instance and none for each
   * missing one; with nothing while Redis is away.
   */
  async ask(question: object, to = ALL): Promise<readonly FleetAnswer[]> {
    const pending = new PendingQuestion(this.others().filter(({ id }) => to === ALL || id === to));
    const { id } = pending;
    this.#pending.set(id, pending);
    const asked = { kind: 'question', id, from: this.self.id, to, instance: this.#ownState(), question } as const;
    const received = await this.#publish(this.#channel, asked);
    // This process receives its own question. A question to one instance is answered by that one.
    const others = to === ALL ? Math.max(0, (received ?? 0) - 1) : 0;
    const [answers, silent] = await pending.end(received && others);
    this.#pending.delete(id);
    // Without Redis nothing was asked, so no instance is silent.
    if (received === undefined) return answers;
    const absent = to === ALL ? await this.#noteMissing(answers, silent) : silent;
    return [...answers, ...absent.map((instance) => ({ instance, value: undefined }))];
  }

  close(): void {
    this.#isClosed = true;
    clearInterval(this.#beating);
    clearInterval(this.#watchingEnd);
    const ended = [
      this.#beats.leave([this.self.id]),
      this.#publish(this.#channel, { kind: 'end', from: this.self.id }),
    ];
    void Promise.allSettled(ended).finally(() => this.#sender.disconnect());
    this.#endSubscription();
  }

  #ownState(): FleetInstance {
    return this.#options.isEnding() ? { ...this.self, ending: true } : this.self;
  }

  /** Says that this instance is there, and notes those that no longer say so. */
  async #beat(): Promise<void> {
    if (this.#options.isEnding()) return;
    const { present, lost } = await this.#beats.beat(this.self);
    if (lost.length === 0 && this.missing().length === 0) return;
    await this.#missing.settle(present, lost);
    for (const { id } of lost) this.#known.delete(id);
    await this.#beats.leave(lost.map(({ id }) => id));
  }

  /** An instance that shuts down has no beats any more, for the reason that `remember` states. */
  #leaveAtEnd(): void {
    if (!this.#options.isEnding()) return;
    clearInterval(this.#watchingEnd);
    this.#beats.leave([this.self.id]).catch(() => undefined);
  }

  /**
   * Remembers an instance, unless it is shutting down. Such an instance still answers, but may be killed before it has ended, as a
   * container is after its grace period. It is not missing then.
   */
  #remember(instance: FleetInstance): void {
    const { id } = instance;
    if (instance.ending === true) this.#known.delete(id);
    else if (this.#known.size < INSTANCES_MAX || this.#known.has(id))
      this.#known.set(id, { instance, seenAt: this.#options.clock() });
  }

  #receive(text: string): void {
    const message = messageIn(text);
    if (message === undefined) return;
    if (message.kind === 'end') this.#forgetEnded(message.from);
    else if (message.kind === 'answer') {
      this.#remember(message.instance);
      this.#pending.get(message.id)?.take(message);
    } else if (message.from !== this.self.id) {
      if (message.instance !== undefined) this.#remember(message.instance);
      if ([ALL, this.self.id].includes(message.to)) void this.#reply(message);
    }
  }

  #forgetEnded(id: string): void {
    this.#known.delete(id);
    if (this.missing().some((one) => one.id === id))
      this.#missing.forget((one) => one.id === id, 'It has ended in order.').catch(() => undefined);
  }

  async #reply({ id, from, question }: Extract<FleetMessage, { kind: 'question' }>): Promise<void> {
    const value = await this.#options.answer(question).catch(() => undefined);
    if (this.#isClosed) return;
    await this.#publish(`${this.#channel}:${from}`, { kind: 'answer', id, instance: this.#ownState(), value });
  }

  /** Resolves with the number of receivers; undefined while Redis is away. */
  async #publish(to: string, message: FleetMessage): Promise<number | undefined> {
    try {
      return await this.#sender.publish(to, JSON.stringify(message));
    } catch {
      return undefined;
    }
  }

  /**
   * Stores the silent instances as missing, and resolves with all missing ones. Later questions do not wait for them until they are heard
   * again.
   */
  async #noteMissing(
    answers: readonly FleetAnswer[],
    silent: readonly FleetInstance[],
  ): Promise<readonly FleetInstance[]> {
    try {
      // From now on, only a new beat says that they are there.
      await this.#beats.leave(silent.map(({ id }) => id));
      const all = await this.#missing.settle([this.self, ...answers.map(({ instance }) => instance)], silent);
      for (const { id } of silent) this.#known.delete(id);
      return all;
    } catch {
      return silent;
    }
  }
}
