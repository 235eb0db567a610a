// Lets the consoles of several gateways ask each other through Redis. They publish questions and answers; Redis stores only which instances
// are missing. A gateway without Redis is the only instance, so it asks no other.

import { randomBytes } from 'node:crypto';
import { connectRedis, type Redis } from '../../redis/client.ts';
import { subscribe } from '../../redis/subscribe.ts';
import { PATIENCE_MS } from '../../shared/questions/fleet.ts';
import { type FleetInstance, type MissingInstance, machineOf, type ReturnedInstance } from './fleet-instance.ts';
import { channelOf, type FleetMessage, messageIn } from './fleet-messages.ts';
import { InstanceBeats, type LostInstance } from './instance-beats.ts';
import { createMissingInstances } from './missing-instances.ts';
import { type FleetAnswer, PendingQuestion } from './pending-question.ts';
import { SharedHistories } from './shared-histories.ts';

interface FleetOptions {
  /** See `parseRedisUrl`. */
  readonly url: string;
  readonly self: Omit<FleetInstance, 'id' | 'ending'>;
  /** Whether this gateway has begun to end. */
  isEnding(): boolean;
  /** Answers a question of another console. */
  answer(question: object): Promise<unknown>;
  /** Returns monotonic milliseconds. */
  clock(): number;
  /** Returns epoch milliseconds. */
  now(): number;
  /** The time between two beats, and the time without a beat after which an instance is missing; by default 5 s and 15 s. */
  readonly beatEveryMs?: number;
  readonly lostAfterMs?: number;
}

const ALL = 'all';
const REMEMBERED_MS = 60_000;
const END_NOTICED_MS = 500;
const BEAT_EVERY_MS = 5000;
/** The time of three beats, because a pause of the process or of the network is not an end. */
const LOST_AFTER_MS = 15_000;
/** Maximum number of instances in memory. */
const INSTANCES_MAX = 1000;

export class Fleet {
  readonly self: FleetInstance;
  readonly histories: SharedHistories;
  readonly #options: FleetOptions;
  /** The channel of all instances. Each instance also has its own channel. */
  readonly #channel: string;
  readonly #known = new Map<string, { readonly instance: FleetInstance; readonly seenAt: number }>();
  readonly #pending = new Map<string, PendingQuestion>();
  readonly #sender: Redis;
  readonly #missing: ReturnType<typeof createMissingInstances>;
  readonly #beats: InstanceBeats;
  readonly #beating: NodeJS.Timeout;
  readonly #watchingEnd: NodeJS.Timeout;
  readonly #endSubscription: () => void;
  #failure: string | undefined;
  /** The instances whose silence could not be stored, because Redis takes no writes. They may not have heard the question. */
  #unheard: readonly FleetInstance[] = [];
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
    this.histories = new SharedHistories(this.#sender);
    this.#missing = createMissingInstances(this.#sender, options.now);
    this.#beats = new InstanceBeats(this.#sender, { clock, beatEveryMs, lostAfterMs });
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

  /** Returns the other instances that have asked or answered in the last minute, or in the minute before Redis was lost. */
  others(): readonly FleetInstance[] {
    // While Redis cannot be reached, no instance can be heard, so none is forgotten.
    const nowMs = this.#options.clock();
    if (this.#failure === undefined)
      for (const [id, { seenAt }] of this.#known) if (nowMs - seenAt > REMEMBERED_MS) this.#known.delete(id);
    const all = [...this.#known.values()].map(({ instance }) => instance);
    return all.sort((one, other) => one.name.localeCompare(other.name));
  }

  /** Returns the instances that ended without an orderly shutdown, and that have neither returned nor been dismissed. */
  missing(): readonly MissingInstance[] {
    return this.#missing.list().map((one) => ({ ...one, runs: this.#runs(one) }));
  }

  /** Returns the instances that were missing until a moment ago. */
  returned(): readonly ReturnedInstance[] {
    return this.#missing.returned();
  }

  /** Forgets the missing instances with these names. Rejects while Redis cannot be reached. */
  dismiss(isMeant: (name: string) => boolean): Promise<void> {
    return this.#missing.forget(({ name }) => isMeant(name), 'An operator has dismissed it.');
  }

  /** Returns the last error of the connection to Redis; undefined while it is connected. */
  failure(): string | undefined {
    return this.#failure;
  }

  /** Returns the other instances that the last question did not reach, because Redis cannot be reached or takes no writes. */
  unasked(): readonly FleetInstance[] {
    return this.#failure === undefined ? this.#unheard : this.others();
  }

  /**
   * Asks one instance, or all other instances. Resolves after about a second at most, with the answers of all known instances. Missing
   * instances have no answer. Resolves with no answers while Redis cannot be reached.
   */
  async ask(question: object, to = ALL): Promise<readonly FleetAnswer[]> {
    const pending = new PendingQuestion(this.others().filter(({ id }) => to === ALL || id === to));
    const { id } = pending;
    this.#pending.set(id, pending);
    const asked = { kind: 'question', id, from: this.self.id, to, instance: this.#ownState(), question } as const;
    const received = await this.#publish(this.#channel, asked);
    // This process receives its own question. Only that instance answers a question to one instance.
    const others = to === ALL ? Math.max(0, (received ?? 0) - 1) : 0;
    const [answers, silent] = await pending.end(received && others);
    this.#pending.delete(id);
    // Without Redis nothing was asked, so no instance is silent.
    if (received === undefined) return answers;
    const absent = to === ALL ? await this.#noteMissing(answers, silent) : silent;
    const silentOnes = absent.map((one) => ({ instance: { ...one, runs: this.#runs(one) }, value: undefined }));
    return [...answers, ...silentOnes];
  }

  close(): void {
    this.#isClosed = true;
    clearInterval(this.#beating);
    clearInterval(this.#watchingEnd);
    const ended = [this.#beats.end(this.self.id), this.#publish(this.#channel, { kind: 'end', from: this.self.id })];
    void Promise.allSettled(ended).finally(() => this.#sender.disconnect());
    this.#endSubscription();
  }

  /** Whether the process of another instance runs, which tells a process that hangs from one that was killed. */
  #runs({ name, pid }: FleetInstance): boolean | undefined {
    return pid === undefined || machineOf({ name }) !== machineOf(this.self) ? undefined : isRunning(pid);
  }

  #ownState(): FleetInstance {
    return this.#options.isEnding() ? { ...this.self, ending: true } : this.self;
  }

  /** Writes the beat of this instance, and notes instances without a beat. */
  async #beat(): Promise<void> {
    if (this.#options.isEnding()) return;
    const { present, lost } = await this.#beats.beat(this.self);
    if (lost.length === 0 && this.missing().length === 0) return;
    await this.#missing.settle(present, lost, 'late');
    for (const { id } of lost) this.#known.delete(id);
    await this.#beats.leave(lost.map(({ id }) => id));
  }

  /** Removes the beats of this instance when it shuts down, for the reason at `#remember`. */
  #leaveAtEnd(): void {
    if (!this.#options.isEnding()) return;
    clearInterval(this.#watchingEnd);
    this.#beats.end(this.self.id).catch(() => undefined);
  }

  /**
   * Adds an instance, unless it is shutting down. Such an instance still answers, but may be killed before it has ended, like a container
   * after its grace period. In that case it must not be treated as missing.
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

  /** Publishes a message. Resolves with the number of receivers; undefined while Redis cannot be reached. */
  async #publish(to: string, message: FleetMessage): Promise<number | undefined> {
    try {
      return await this.#sender.publish(to, JSON.stringify(message));
    } catch {
      return undefined;
    }
  }

  /**
   * Stores the silent instances as missing, and resolves with all missing instances. Later questions do not wait for a missing instance
   * until it is heard again.
   */
  async #noteMissing(
    answers: readonly FleetAnswer[],
    silent: readonly FleetInstance[],
  ): Promise<readonly FleetInstance[]> {
    try {
      const lost = await this.#withLastSign(silent);
      // From now on, only a new beat shows that these instances run.
      await this.#beats.leave(silent.map(({ id }) => id));
      const answered = [this.self, ...answers.map(({ instance }) => instance)];
      const all = await this.#missing.settle(answered, lost, 'at once');
      for (const { id } of silent) this.#known.delete(id);
      this.#unheard = [];
      return all;
    } catch {
      this.#unheard = silent;
      return [];
    }
  }

  /**
   * Adds the time of the last message or beat of each instance, whichever is later. Leaves out instances that have said meanwhile that they
   * end, and instances that were noted already.
   */
  async #withLastSign(silent: readonly FleetInstance[]): Promise<LostInstance[]> {
    const { clock, now } = this.#options;
    const beats = await this.#beats.lastOf(silent.map(({ id }) => id));
    return silent.flatMap((one, index) => {
      const known = this.#known.get(one.id);
      if (known === undefined) return [];
      const heardMs = Math.round(now() - (clock() - known.seenAt));
      return [{ ...one, lastMs: Math.max(heardMs, beats[index] ?? 0) }];
    });
  }
}

/** A signal 0 is not sent. It fails with ESRCH if there is no such process. */
function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}
