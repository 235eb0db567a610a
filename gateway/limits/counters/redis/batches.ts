// Combines the decisions for one Redis server into few commands, because a command takes more CPU, here and on the server, than the
// decisions in it. Requests of one event-loop turn share a command, and so do requests that arrive while a command is in progress.

import { type Machine, REAL_MACHINE, type Timer } from '../../../shared/machine.ts';
import {
  type Charge,
  type ChargeMemory,
  FIGURES_PER_CHARGE,
  type LimitDecision,
  toLimitDecision,
} from '../counter-store.ts';
import type { RefusalCache } from '../refusal-cache.ts';
import type { RedisLink } from './link.ts';
import { encodeCharges, type ScriptReply } from './window-script.ts';

/**
 * Maximum number of requests per command. Redis runs nothing else during a command, so a burst is split into commands of about one
 * millisecond.
 */
const BATCH_MAX = 256;
/**
 * The longest time for which a batch waits for the answer to the previous command before its own command is sent. If the server fails, a
 * request waits for this time and for the deadline of its command, 90 ms. Together this is less than the 100 ms that are allowed.
 */
const WAIT_MS = 5;

interface BatchesOptions {
  /** Decides if the server does not. */
  readonly decideByFallback: (charges: readonly Charge[]) => LimitDecision;
  readonly refusals: RefusalCache;
  /** As in `RedisCounterStoreOptions`. */
  readonly onBatch?: ((durationMs: number) => void) | undefined;
  /** Replaces the server's clock. */
  readonly serverClock?: (() => number) | undefined;
  readonly machine?: Machine | undefined;
}

/**
 * The requests of one command. They share one promise, on which each request calls `then`; this costs less than one promise for each
 * request.
 */
interface Batch extends PromiseWithResolvers<ScriptReply | undefined> {
  requests: number;
  encodedCharges: string;
  /** Number of figures in the reply so far. */
  figures: number;
  /** 0: use the clock of the server. */
  readonly clockMs: number;
  /** By `performance.now()`. */
  readonly openedAt: number;
  /** Number of times that the cache of refusals had been cleared when the batch was opened. */
  readonly clearings: number;
}

/** Resolves with the decision of the server, or of `decideByFallback`. Never rejects. */
type DecideInBatch = (
  link: RedisLink,
  charges: readonly Charge[],
  memory: ChargeMemory | undefined,
) => Promise<LimitDecision>;

export function createBatches(options: BatchesOptions): DecideInBatch {
  const { decideByFallback, refusals } = options;
  const lanes = new WeakMap<RedisLink, Lane>();

  function laneOf(link: RedisLink): Lane {
    const known = lanes.get(link);
    if (known !== undefined) return known;
    const lane = new Lane(link, options);
    lanes.set(link, lane);
    return lane;
  }

  function read(
    reply: ScriptReply,
    first: number,
    sharedCharges: readonly Charge[],
    memory: ChargeMemory | undefined,
    clearings: number,
  ): LimitDecision {
    const decidedAtMs = (reply[0] as number) + (reply[first] as number);
    const decision = toLimitDecision(sharedCharges, reply, first + 1, decidedAtMs, 'redis');
    if (memory !== undefined) refusals.put(memory, decision, clearings);
    return decision;
  }

  return function decideInBatch(link, charges, memory) {
    const lane = laneOf(link);
    const batch = lane.batch();
    const first = batch.figures;
    const sharedCharges = memory?.sharedCharges ?? charges;
    batch.figures += 1 + sharedCharges.length * FIGURES_PER_CHARGE;
    batch.encodedCharges += encodeWith(charges, memory);
    batch.requests += 1;
    if (batch.requests === BATCH_MAX) lane.send();
    return batch.promise.then((reply) =>
      reply === undefined ? decideByFallback(charges) : read(reply, first, sharedCharges, memory, batch.clearings),
    );
  };
}

/** The way to one server. */
class Lane {
  readonly #link: RedisLink;
  readonly #options: BatchesOptions;
  readonly #machine: Machine;
  /** The batch that still accepts requests. */
  #open: Batch | undefined;
  /** Commands in progress. */
  #inProgress = 0;
  /** Set while the open batch waits for a command in progress. */
  #wait: Timer | undefined;

  constructor(link: RedisLink, options: BatchesOptions) {
    this.#link = link;
    this.#options = options;
    this.#machine = options.machine ?? REAL_MACHINE;
  }

  /** Returns the batch that accepts requests. */
  batch(): Batch {
    if (this.#open !== undefined) return this.#open;
    const { setImmediate, setTimeout, performance } = this.#machine;
    const { serverClock, refusals } = this.#options;
    // `setImmediate` runs once, when all sockets of this turn have been read. A microtask would run after each socket, and each batch
    // would have few requests.
    if (this.#inProgress === 0) setImmediate(sendLane, this);
    else this.#wait = setTimeout(sendLane, WAIT_MS, this);
    this.#open = {
      ...Promise.withResolvers<ScriptReply | undefined>(),
      requests: 0,
      encodedCharges: '',
      figures: 1,
      clockMs: serverClock?.() ?? 0,
      openedAt: performance.now(),
      clearings: refusals.clearings(),
    };
    return this.#open;
  }

  /** Sends the open batch, if there is one. */
  send(): void {
    const open = this.#open;
    this.#endWait();
    if (open === undefined) return;
    this.#open = undefined;
    this.#inProgress += 1;
    const conclude = (reply: ScriptReply | undefined) => {
      this.#inProgress -= 1;
      open.resolve(reply);
      this.#options.onBatch?.(this.#machine.performance.now() - open.openedAt);
      if (this.#inProgress === 0 && this.#endWait()) this.#machine.setImmediate(sendLane, this);
    };
    this.#link.run(open.clockMs, open.encodedCharges).then(conclude, () => conclude(undefined));
  }

  /** Ends the wait of the open batch. Returns whether it was waiting. */
  #endWait(): boolean {
    if (this.#wait === undefined) return false;
    this.#machine.clearTimeout(this.#wait);
    this.#wait = undefined;
    return true;
  }
}

function sendLane(lane: Lane): void {
  lane.send();
}

function encodeWith(charges: readonly Charge[], memory: ChargeMemory | undefined): string {
  if (memory === undefined) return encodeCharges(charges);
  if (memory.encoded === '') memory.encoded = encodeCharges(charges);
  return memory.encoded;
}
