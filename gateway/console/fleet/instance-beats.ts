// Each instance writes to Redis every few seconds that it is running. By these beats the other instances notice that an instance was
// killed, even if they have never asked it anything.

import type { Redis } from '../../redis/client.ts';
import { type FleetInstance, GONE_MS } from './fleet-instance.ts';

export interface LostInstance extends FleetInstance {
  /** The time of the last sign of life of the instance, in epoch milliseconds. */
  readonly lastMs: number;
}

interface Beaten {
  readonly present: readonly FleetInstance[];
  /**
   * The lost instances; empty for the first seconds after a connection to Redis, because the other instances may have lost their
   * connections, too.
   */
  readonly lost: readonly LostInstance[];
}

interface BeatOptions {
  /** Returns monotonic milliseconds. */
  clock(): number;
  readonly beatEveryMs: number;
  readonly lostAfterMs: number;
}

type Hash = Record<string, string>;

const INSTANCES = '{gateway}:instances';
const BEATS = '{gateway}:instances:beats';

export class InstanceBeats {
  readonly #redis: Redis;
  readonly #options: BeatOptions;
  #steadySince: number | undefined;
  #lastAt = Number.NEGATIVE_INFINITY;
  #hasEnded = false;
  /** The instances that wrote beats before the last beat of this instance, and its time. */
  #known: { readonly ids: ReadonlySet<string>; readonly atMs: number } | undefined;

  constructor(redis: Redis, options: BeatOptions) {
    this.#redis = redis;
    this.#options = options;
  }

  /**
   * Writes that this instance is running. Finds the other instances that are running, and instances that have stopped writing. Rejects
   * while Redis cannot be reached.
   */
  async beat(self: FleetInstance): Promise<Beaten> {
    try {
      const [seconds, microseconds] = await this.#redis.time();
      // The instance may have ended since the question for the time. A beat after its end would make it missing later.
      if (this.#hasEnded) return { present: [], lost: [] };
      const nowMs = Number(seconds) * 1000 + Math.floor(Number(microseconds) / 1000);
      const [instances, beats] = await this.#exchange(self, nowMs);
      const found = Object.entries(instances).flatMap(([id, text]) => instanceIn(id, text, Number(beats[id] ?? nowMs)));
      const past = found.filter((one) => this.#isPast(one, nowMs));
      await this.leave(past.map(({ id }) => id));
      const all = found.filter((one) => !past.includes(one));
      this.#known = { ids: new Set(all.map(({ id }) => id)), atMs: nowMs };
      const isLost = ({ lastMs }: LostInstance) => nowMs - lastMs > this.#options.lostAfterMs;
      return { present: all.filter((one) => !isLost(one)), lost: this.#isSteady() ? all.filter(isLost) : [] };
    } catch (error) {
      this.#steadySince = undefined;
      throw error;
    }
  }

  /** Removes this instance, because it ends in order. From now on, `beat` writes nothing. Rejects while Redis cannot be reached. */
  end(id: string): Promise<void> {
    this.#hasEnded = true;
    return this.leave([id]);
  }

  /** Resolves with the times of the last beats of instances, in epoch milliseconds of Redis. Rejects while Redis cannot be reached. */
  async lastOf(ids: readonly string[]): Promise<(number | undefined)[]> {
    if (ids.length === 0) return [];
    const beats = await this.#redis.hmget(BEATS, ...ids);
    return beats.map((beat) => (beat === null ? undefined : Number(beat)));
  }

  /** Removes other instances, because they are now noted as missing. Rejects while Redis cannot be reached. */
  async leave(ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return;
    await this.#redis
      .multi()
      .hdel(INSTANCES, ...ids)
      .hdel(BEATS, ...ids)
      .exec();
  }

  /**
   * Whether an instance is past. Redis may come back with the beats of instances that had ended. If this instance has just started, it
   * cannot tell these from an instance that was killed, unless they are old.
   */
  #isPast({ id, lastMs }: LostInstance, nowMs: number): boolean {
    if (nowMs - lastMs >= GONE_MS) return true;
    return this.#known?.ids.has(id) === false && lastMs < this.#known.atMs - this.#options.lostAfterMs;
  }

  /** Whether this instance has written beats without a gap for as long as another instance may be silent. */
  #isSteady(): boolean {
    const { clock, beatEveryMs, lostAfterMs } = this.#options;
    const now = clock();
    if (this.#steadySince === undefined || now - this.#lastAt > 2 * beatEveryMs) this.#steadySince = now;
    this.#lastAt = now;
    return now - this.#steadySince >= lostAfterMs;
  }

  /**
   * Writes the beat of this instance, and reads the beats of all instances, in one transaction, so that an instance that starts, ends or is
   * killed meanwhile has both entries or none.
   */
  async #exchange(self: FleetInstance, nowMs: number): Promise<[Hash, Hash]> {
    const replies = await this.#redis
      .multi()
      .hset(INSTANCES, self.id, JSON.stringify(self))
      .hset(BEATS, self.id, nowMs)
      .hgetall(INSTANCES)
      .hgetall(BEATS)
      .exec();
    const failed = replies?.find(([error]) => error !== null);
    if (replies === null || failed !== undefined) throw failed?.[0] ?? new Error('Redis discarded the transaction.');
    return [replies[2]?.[1] as Hash, replies[3]?.[1] as Hash];
  }
}

/** Returns an empty list for a text that another version wrote in another form. */
function instanceIn(id: string, text: string, lastMs: number): LostInstance[] {
  try {
    const { name, version, started_at, admin_port, pid } = JSON.parse(text) as FleetInstance;
    const isWhole = [name, version, started_at].every((part) => typeof part === 'string');
    return isWhole ? [{ id, name, version, started_at, admin_port, pid, lastMs }] : [];
  } catch {
    return [];
  }
}
