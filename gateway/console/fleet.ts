// Lets the consoles of several gateways ask each other through Redis. They publish questions and answers; Redis stores only which instances
// are missing. A gateway without Redis is the only one, so it asks no other.

import { randomBytes } from 'node:crypto';
import { connectRedis } from '../redis/client.ts';
import { subscribe } from '../redis/subscribe.ts';
import { startDeadline } from '../shared/deadline.ts';
import { PATIENCE_MS } from '../shared/questions/fleet.ts';
import type { FleetInstance, MissingInstance, ReturnedInstance } from './cause.ts';
import { channelOf, type FleetMessage, messageIn } from './fleet-messages.ts';
import { createInstanceBeats } from './instance-beats.ts';
import { createMissingInstances } from './missing-instances.ts';

interface FleetAnswer {
  readonly instance: FleetInstance | MissingInstance;
  /** The answer of the instance; undefined if it gave none. */
  readonly value: unknown;
}

export interface Fleet {
  readonly self: FleetInstance;
  /** The other instances that have asked or answered in the last minute before now, or before Redis was lost. */
  others(): readonly FleetInstance[];
  /** The instances that ended without an orderly shutdown, and have neither returned nor been dismissed. */
  missing(): readonly MissingInstance[];
  /** The instances that were missing until a moment ago. */
  returned(): readonly ReturnedInstance[];
  /** Forgets the missing instances with these names. Rejects while Redis is away. */
  dismiss(isMeant: (name: string) => boolean): Promise<void>;
  /**
   * Asks one instance, or all others. Resolves after about a second at most, with an answer for each known instance and none for each
   * missing one; with nothing while Redis is away.
   */
  ask(question: object, to?: string): Promise<readonly FleetAnswer[]>;
  /** The last error of the connection to Redis; undefined while there is a connection. */
  failure(): string | undefined;
  close(): void;
}

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

interface Waiting {
  readonly answers: Map<string, FleetAnswer>;
  readonly expected: Set<string>;
  /** Number of consoles that received the question. */
  receivers: number;
  readonly done: () => void;
}

const ALL = 'all';
const REMEMBERED_MS = 60_000;
const END_NOTICED_MS = 500;
const BEAT_EVERY_MS = 5000;
/** Three beats: a pause of the process or of the network is no end. */
const LOST_AFTER_MS = 15_000;
/** Most instances that ask or answer and are remembered. */
const INSTANCES_MAX = 1000;

export function openFleet({ url, self: names, isEnding, answer, clock, now, ...options }: FleetOptions): Fleet {
  const { beatEveryMs = BEAT_EVERY_MS, lostAfterMs = LOST_AFTER_MS } = options;
  const self: FleetInstance = { id: `con_${randomBytes(8).toString('hex')}`, ...names };
  const ownState = (): FleetInstance => (isEnding() ? { ...self, ending: true } : self);
  const channel = channelOf(url);
  const own = `${channel}:${self.id}`;
  const known = new Map<string, { readonly instance: FleetInstance; readonly seenAt: number }>();
  const waiting = new Map<string, Waiting>();
  let failure: string | undefined;
  let isClosed = false;
  const sender = connectRedis({
    url,
    commandTimeoutMs: PATIENCE_MS.instance,
    onReady() {
      failure = undefined;
    },
    onLost({ message }) {
      failure = message;
    },
  });
  const missing = createMissingInstances(sender, now);
  const beats = createInstanceBeats(sender, { clock, beatEveryMs, lostAfterMs });
  const beating = setInterval(() => void beat().catch(() => undefined), beatEveryMs).unref();
  const watchingEnd = setInterval(leaveAtEnd, END_NOTICED_MS).unref();
  void beat().catch(() => undefined);
  const endSubscription = subscribe({
    url,
    channels: () => [channel, own],
    onMessage: (_channel, text) => receive(text),
  });

  function receive(text: string): void {
    const message = messageIn(text);
    if (message === undefined) return;
    if (message.kind === 'end') forget(message.from);
    else if (message.kind === 'answer') receiveAnswer(message);
    else if (message.from !== self.id) {
      if (message.instance !== undefined) remember(message.instance);
      if ([ALL, self.id].includes(message.to)) void reply(message);
    }
  }

  function forget(id: string): void {
    known.delete(id);
    if (missing.list().some((one) => one.id === id))
      missing.forget((one) => one.id === id, 'It has ended in order.').catch(() => undefined);
  }

  /** Says that this instance is there, and notes those that no longer say so. */
  async function beat(): Promise<void> {
    if (isEnding()) return;
    const { present, lost } = await beats.beat(self);
    if (lost.length === 0 && missing.list().length === 0) return;
    await missing.settle(present, lost);
    for (const { id } of lost) known.delete(id);
    await beats.leave(lost.map(({ id }) => id));
  }

  /** An instance that shuts down has no beats any more, for the reason that `remember` states. */
  function leaveAtEnd(): void {
    if (!isEnding()) return;
    clearInterval(watchingEnd);
    beats.leave([self.id]).catch(() => undefined);
  }

  async function reply({ id, from, question }: Extract<FleetMessage, { kind: 'question' }>): Promise<void> {
    const value = await answer(question).catch(() => undefined);
    if (isClosed) return;
    await publish(`${channel}:${from}`, { kind: 'answer', id, instance: ownState(), value });
  }

  /**
   * Remembers an instance, unless it is shutting down. Such an instance still answers, but may be killed before it has ended, as a
   * container is after its grace period. It is not missing then.
   */
  function remember(instance: FleetInstance): void {
    if (instance.ending === true) known.delete(instance.id);
    else if (known.size < INSTANCES_MAX || known.has(instance.id))
      known.set(instance.id, { instance, seenAt: clock() });
  }

  function receiveAnswer({ id, instance, value }: Extract<FleetMessage, { kind: 'answer' }>): void {
    remember(instance);
    const asked = waiting.get(id);
    if (asked === undefined) return;
    asked.answers.set(instance.id, { instance, value });
    endIfComplete(asked);
  }

  function endIfComplete({ answers, expected, receivers, done }: Waiting): void {
    if (answers.size >= receivers && [...expected].every((one) => answers.has(one))) done();
  }

  /** Resolves with the number of receivers; undefined while Redis is away. */
  async function publish(to: string, message: FleetMessage): Promise<number | undefined> {
    try {
      return await sender.publish(to, JSON.stringify(message));
    } catch {
      return undefined;
    }
  }

  function others(): FleetInstance[] {
    // While Redis is away, no instance can be heard, so none is forgotten.
    if (failure === undefined)
      for (const [id, { seenAt }] of known) if (clock() - seenAt > REMEMBERED_MS) known.delete(id);
    return [...known.values()].map(({ instance }) => instance).sort((one, other) => one.name.localeCompare(other.name));
  }

  async function ask(question: object, to = ALL): Promise<FleetAnswer[]> {
    const id = randomBytes(8).toString('hex');
    const expected = others().filter((one) => to === ALL || one.id === to);
    const { promise, resolve } = Promise.withResolvers<void>();
    const asked: Waiting = {
      answers: new Map(),
      expected: new Set(expected.map((one) => one.id)),
      receivers: Number.POSITIVE_INFINITY,
      done: resolve,
    };
    waiting.set(id, asked);
    const deadline = startDeadline(PATIENCE_MS.instance, resolve);
    const received = await publish(channel, {
      kind: 'question',
      id,
      from: self.id,
      to,
      instance: ownState(),
      question,
    });
    // This process receives its own question. A question to one instance is answered by that one.
    asked.receivers = to === ALL ? Math.max(0, (received ?? 0) - 1) : 0;
    if (received === undefined) resolve();
    endIfComplete(asked);
    await promise;
    deadline.stop();
    waiting.delete(id);
    const answers = [...asked.answers.values()];
    // Without Redis nothing was asked, so no instance is silent.
    if (received === undefined) return answers;
    const silent = expected.filter((one) => !asked.answers.has(one.id));
    const absent = to === ALL ? await settled(answers, silent) : silent;
    return [...answers, ...absent.map((instance) => ({ instance, value: undefined }))];
  }

  /**
   * Stores the silent instances as missing, and resolves with all missing ones. Later questions do not wait for them until they are heard
   * again.
   */
  async function settled(
    answers: readonly FleetAnswer[],
    silent: readonly FleetInstance[],
  ): Promise<readonly FleetInstance[]> {
    try {
      // From now on, only a new beat says that they are there.
      await beats.leave(silent.map(({ id }) => id));
      const all = await missing.settle([self, ...answers.map(({ instance }) => instance)], silent);
      for (const { id } of silent) known.delete(id);
      return all;
    } catch {
      return silent;
    }
  }

  return {
    self,
    others,
    missing: missing.list,
    returned: missing.returned,
    dismiss: (isMeant) => missing.forget(({ name }) => isMeant(name), 'An operator has dismissed it.'),
    ask,
    failure: () => failure,
    close() {
      isClosed = true;
      clearInterval(beating);
      clearInterval(watchingEnd);
      const ended = [beats.leave([self.id]), publish(channel, { kind: 'end', from: self.id })];
      void Promise.allSettled(ended).finally(() => sender.disconnect());
      endSubscription();
    },
  };
}
