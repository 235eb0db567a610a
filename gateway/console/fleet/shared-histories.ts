// Stores the histories of all instances in Redis, so that the charts of all instances keep the counts of an instance that has ended. An
// instance writes its increases once per slot, and now and then its whole history, which replaces the increases before.

import type { Redis } from '../../redis/client.ts';
import { DAY_MS } from '../../shared/durations.ts';
import type { Increases } from '../history/sample.ts';

/** Increases, with the times at which they began and were counted, in epoch milliseconds. */
export interface CountedIncreases {
  readonly sinceMs: number;
  readonly atMs: number;
  readonly increases: Increases;
}

/** A stored history, by the id that it keeps when its instance restarts. */
export interface SharedHistory {
  readonly id: string;
  /** The name of the instance. */
  readonly instance: string;
  /** The time up to which it is counted, in epoch milliseconds. */
  readonly untilMs: number;
}

export interface StoredHistory {
  /** The bytes of the whole history; null if it is lost. */
  readonly whole: Buffer | null;
  /** The increases since then, oldest first. */
  readonly since: readonly CountedIncreases[];
}

const HISTORIES = '{gateway}:histories';
/** As long as counts are kept. */
const KEPT_MS = 2 * DAY_MS;
/** The most histories of instances that have ended, by which the stored bytes are bounded. The latest are kept. */
const HISTORIES_MAX = 200;

const wholeOf = (id: string) => `{gateway}:history:${id}`;
const sinceOf = (id: string) => `{gateway}:history:${id}:since`;

export class SharedHistories {
  readonly #redis: Redis;

  constructor(redis: Redis) {
    this.#redis = redis;
  }

  /** Adds increases to a stored history. Rejects while Redis cannot be reached. */
  async append({ id, instance, untilMs }: SharedHistory, increases: readonly CountedIncreases[]): Promise<void> {
    const texts = increases.map((one) => JSON.stringify(one));
    const writes = this.#redis.multi().hset(HISTORIES, id, JSON.stringify({ instance, untilMs }));
    if (texts.length > 0) writes.rpush(sinceOf(id), ...texts).pexpire(sinceOf(id), KEPT_MS);
    await writes.exec();
  }

  /** Replaces a stored history, and removes the histories that are no longer kept. Rejects while Redis cannot be reached. */
  async replace({ id, instance, untilMs }: SharedHistory, whole: Buffer): Promise<void> {
    await this.#redis
      .multi()
      .set(wholeOf(id), whole, 'PX', KEPT_MS)
      .del(sinceOf(id))
      .hset(HISTORIES, id, JSON.stringify({ instance, untilMs }))
      .exec();
    const others = (await this.list()).filter((one) => one.id !== id).sort((one, other) => other.untilMs - one.untilMs);
    const past = others.filter((one, index) => index >= HISTORIES_MAX || untilMs - one.untilMs > KEPT_MS);
    if (past.length === 0) return;
    const ids = past.map((one) => one.id);
    await this.#redis.hdel(HISTORIES, ...ids);
    await this.#redis.del(...ids.flatMap((one) => [wholeOf(one), sinceOf(one)]));
  }

  /** Resolves with all stored histories. Rejects while Redis cannot be reached. */
  async list(): Promise<SharedHistory[]> {
    const all = Object.entries(await this.#redis.hgetall(HISTORIES));
    return all.flatMap(([id, text]) => {
      const { instance, untilMs } = objectIn<SharedHistory>(text);
      return typeof instance === 'string' && typeof untilMs === 'number' ? [{ id, instance, untilMs }] : [];
    });
  }

  /** Rejects while Redis cannot be reached. */
  async read(id: string): Promise<StoredHistory> {
    const whole = await this.#redis.getBuffer(wholeOf(id));
    const since = await this.#redis.lrange(sinceOf(id), 0, -1);
    return { whole, since: since.map((text) => objectIn<CountedIncreases>(text)).filter(isWhole) };
  }
}

/** Returns the object in a text, without members if another version wrote it in another form. */
function objectIn<T>(text: string): Partial<T> {
  try {
    return (JSON.parse(text) as Partial<T> | null) ?? {};
  } catch {
    return {};
  }
}

function isWhole(one: Partial<CountedIncreases>): one is CountedIncreases {
  return typeof one.sinceMs === 'number' && typeof one.atMs === 'number' && typeof one.increases === 'object';
}
