// The connection to one Redis server, on which a call gets its reply before the deadline, or fails. One failed call marks the link as down
// for all callers, and only a successful probe marks it as up again.

import { type ConnectRedis, connectRedis, type Redis } from '../../../redis/client.ts';
import { type Machine, REAL_MACHINE, type Timer } from '../../../shared/machine.ts';
import { type Calls, createCalls } from './calls.ts';
import { encodeCharges, extendExpiryOfAll, type ScriptReply } from './window-script.ts';

/**
 * The charge of a probe. A probe runs the script and writes a counter, because PING would succeed on a server that is read-only or full.
 */
const PROBE = { policy: 'probe', requests: 1_000_000_000, windowSeconds: 1, windowMs: 1000, cost: 1, enforce: true };

const AWAY = 'Redis is away';

export interface RedisLinkOptions {
  readonly url: string;
  /** Longest time that a call waits for its reply. */
  readonly deadlineMs: number;
  /** The time between two probes while the server cannot be reached. */
  readonly probeEveryMs: number;
  /** A key that this server holds. */
  readonly probeKey: () => string;
  /** @param reason why the server cannot be reached; undefined if it can */
  readonly onChange: (reason: string | undefined) => void;
  /** Called when a Cluster server has rejected a key that it does not hold, or no longer holds. */
  readonly onMisplaced?: () => void;
  readonly connect?: ConnectRedis | undefined;
  readonly machine?: Machine | undefined;
}

/** Connects at once and stays connected until closed. */
export class RedisLink {
  readonly #options: RedisLinkOptions;
  readonly #machine: Machine;
  readonly #client: Redis;
  readonly #calls: Calls;
  readonly #firstAttempt = Promise.withResolvers<void>();
  #isUp: boolean | undefined;
  #isClosed = false;
  #isProbing = false;
  #probedAt = Number.NEGATIVE_INFINITY;
  #nextProbe: Timer | undefined;

  constructor(options: RedisLinkOptions) {
    const { url, deadlineMs, connect = connectRedis, machine = REAL_MACHINE } = options;
    this.#options = options;
    this.#machine = machine;
    this.#client = connect({ url, onReady: () => void this.#probe(), onLost: (cause) => this.#goDown(cause) });
    this.#calls = createCalls(this.#client, deadlineMs, (cause) => this.#onFailure(cause), machine);
  }

  isUp(): boolean {
    return this.#isUp === true;
  }

  /**
   * Decides a batch. Rejects if the link is down, goes down, or misses the deadline.
   *
   * @param clockMs epoch milliseconds; 0: the server's clock
   * @param encodedCharges concatenated results of `encodeCharges`
   */
  run(clockMs: number, encodedCharges: string): Promise<ScriptReply> {
    return this.#isUp ? this.#calls.run(clockMs, encodedCharges) : Promise.reject(new Error(AWAY));
  }

  /** Deletes counters. Rejects while the link is down. */
  async remove(counters: readonly string[]): Promise<void> {
    if (!this.#isUp) throw new Error(AWAY);
    await this.#client.del(...counters);
  }

  /** As in `CounterStore`. Rejects while the link is down. */
  async extendExpiry(windowMs: number): Promise<void> {
    if (!this.#isUp) throw new Error(AWAY);
    await extendExpiryOfAll(this.#client, windowMs);
  }

  /** Resolves when the first attempt to connect has succeeded or failed. */
  get firstAttempt(): Promise<void> {
    return this.#firstAttempt.promise;
  }

  close(): void {
    this.#isClosed = true;
    this.#goDown(new Error('the store was closed'));
    this.#machine.clearTimeout(this.#nextProbe);
    this.#client.disconnect();
  }

  #onFailure(cause: Error): void {
    // The server works but no longer holds the slot of the key.
    if (this.#isUp && isWrongNode(cause)) this.#options.onMisplaced?.();
    else this.#goDown(cause);
  }

  #goDown(cause: Error): void {
    if (this.#isUp === false) return;
    this.#isUp = false;
    this.#firstAttempt.resolve();
    this.#calls.failAll(cause);
    if (!this.#isClosed) this.#options.onChange(cause.message);
    this.#probeLater();
  }

  #probeLater(): void {
    const { setTimeout, clearTimeout } = this.#machine;
    clearTimeout(this.#nextProbe);
    this.#nextProbe = setTimeout(() => void this.#probe(), this.#options.probeEveryMs).unref();
  }

  async #probe(): Promise<void> {
    // If the client is not ready, no probe is sent, because `onReady` starts the next probe.
    if (this.#isUp || this.#isClosed || this.#isProbing || this.#client.status !== 'ready') return;
    const { performance } = this.#machine;
    // A minimum time lies between two probes, because otherwise a server that accepts connections and refuses writes would be probed
    // without a pause.
    if (performance.now() < this.#probedAt + this.#options.probeEveryMs / 2) return this.#probeLater();
    this.#isProbing = true;
    this.#probedAt = performance.now();
    try {
      await this.#calls.run(0, encodeCharges([{ ...PROBE, counter: this.#options.probeKey() }]));
      this.#isUp = !this.#isClosed;
      this.#firstAttempt.resolve();
      if (this.#isUp) this.#options.onChange(undefined);
    } catch (cause) {
      if (isWrongNode(cause as Error)) this.#options.onMisplaced?.();
      this.#probeLater();
    } finally {
      this.#isProbing = false;
    }
  }
}

/** Whether a Cluster server rejected a key that is on another server. */
function isWrongNode({ message }: Error): boolean {
  return message.includes('non local key') || message.startsWith('MOVED ') || message.startsWith('ASK ');
}
