// Combines the decisions for one Redis server into one command, and reads the reply. Requests of one event-loop turn share a command. While
// a command is in progress, requests of later turns wait and share the next command. Fewer commands cost less, because a command takes more
// CPU, here and on the server, than the decisions in it.

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
  readonly decideWithout: (charges: readonly Charge[]) => LimitDecision;
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

/** The way to one server. */
interface Lane {
  readonly link: RedisLink;
  /** The batch that still accepts requests. */
  open: Batch | undefined;
  /** Commands in progress. */
  inProgress: number;
  /** Set while the open batch waits for a command in progress. */
  wait: Timer | undefined;
}

/** Resolves with the decision of the server, or with the decision of `decideWithout`. Never rejects. */
type DecideInBatch = (
  link: RedisLink,
  charges: readonly Charge[],
  memory: ChargeMemory | undefined,
) => Promise<LimitDecision>;

export function createBatches({
  decideWithout,
  refusals,
  onBatch,
  serverClock,
  machine: { performance, setImmediate, setTimeout, clearTimeout } = REAL_MACHINE,
}: BatchesOptions): DecideInBatch {
  const lanes = new WeakMap<RedisLink, Lane>();

  function laneOf(link: RedisLink): Lane {
    const known = lanes.get(link);
    if (known !== undefined) return known;
    const lane = { link, open: undefined, inProgress: 0, wait: undefined };
    lanes.set(link, lane);
    return lane;
  }

  function openBatch(lane: Lane): Batch {
    // `setImmediate` runs once, when all sockets of this turn have been read. A microtask would run after each socket, so that each batch
    // would have few requests.
    if (lane.inProgress === 0) setImmediate(sendOpen, lane);
    else lane.wait = setTimeout(sendOpen, WAIT_MS, lane);
    lane.open = {
      ...Promise.withResolvers<ScriptReply | undefined>(),
      requests: 0,
      encodedCharges: '',
      figures: 1,
      clockMs: serverClock?.() ?? 0,
      openedAt: performance.now(),
      clearings: refusals.clearings(),
    };
    return lane.open;
  }

  function sendOpen(lane: Lane): void {
    const { open, link } = lane;
    endWait(lane);
    if (open === undefined) return;
    lane.open = undefined;
    lane.inProgress += 1;
    const conclude = (reply: ScriptReply | undefined) => {
      lane.inProgress -= 1;
      open.resolve(reply);
      onBatch?.(performance.now() - open.openedAt);
      if (lane.inProgress === 0 && endWait(lane)) setImmediate(sendOpen, lane);
    };
    link.run(open.clockMs, open.encodedCharges).then(conclude, () => conclude(undefined));
  }

  /** Ends the wait of the open batch. Returns whether it was waiting. */
  function endWait(lane: Lane): boolean {
    if (lane.wait === undefined) return false;
    clearTimeout(lane.wait);
    lane.wait = undefined;
    return true;
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
    const batch = lane.open ?? openBatch(lane);
    const first = batch.figures;
    const sharedCharges = memory?.sharedCharges ?? charges;
    batch.figures += 1 + sharedCharges.length * FIGURES_PER_CHARGE;
    batch.encodedCharges += encodeWith(charges, memory);
    batch.requests += 1;
    if (batch.requests === BATCH_MAX) sendOpen(lane);
    return batch.promise.then((reply) =>
      reply === undefined ? decideWithout(charges) : read(reply, first, sharedCharges, memory, batch.clearings),
    );
  };
}

function encodeWith(charges: readonly Charge[], memory: ChargeMemory | undefined): string {
  if (memory === undefined) return encodeCharges(charges);
  if (memory.encoded === '') memory.encoded = encodeCharges(charges);
  return memory.encoded;
}
