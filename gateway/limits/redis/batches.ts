// Combines the decisions that one Redis server has to make in one event-loop turn into one command, and distributes its reply.

import type { RefusalCache } from '../refusal-cache.ts';
import { type Charge, FIGURES_PER_CHARGE, type LimitDecision, toLimitDecision } from '../store.ts';
import type { RedisLink } from './link.ts';
import { encodeCharges, type ScriptReply } from './script.ts';

/** Requests per command. Redis runs nothing else meanwhile, so a burst is split into commands of about a millisecond. */
const BATCH_MAX = 256;

export interface BatchesOptions {
  /** Decides if the server fails to. */
  readonly decideWithout: (charges: readonly Charge[]) => LimitDecision;
  readonly refusals: RefusalCache;
  /** Called after each command with the milliseconds from its first request to the decision. */
  readonly onBatch?: ((durationMs: number) => void) | undefined;
  /** Replaces the server's clock. */
  readonly serverClock?: (() => number) | undefined;
}

interface WaitingRequest {
  readonly charges: readonly Charge[];
  readonly resolve: (decision: LimitDecision) => void;
}

interface Batch {
  readonly link: RedisLink;
  readonly waiting: WaitingRequest[];
  encodedCharges: string;
  /** 0: use the clock of the server. */
  readonly clockMs: number;
  /** By `performance.now()`. */
  readonly openedAt: number;
}

/** Resolves with the decision of the server, or with that of `decideWithout`. Never rejects. */
export type DecideInBatch = (link: RedisLink, charges: readonly Charge[]) => Promise<LimitDecision>;

/** One batch per server and turn. */
export function createBatches({ decideWithout, refusals, onBatch, serverClock }: BatchesOptions): DecideInBatch {
  const encoded = createEncoder();
  let open: Batch[] = [];

  async function send({ link, waiting, encodedCharges, openedAt, clockMs }: Batch): Promise<void> {
    try {
      distribute(await link.run(clockMs, encodedCharges), waiting, refusals);
    } catch {
      for (const { charges, resolve } of waiting) resolve(decideWithout(charges));
    }
    onBatch?.(performance.now() - openedAt);
  }

  function flush(): void {
    const batches = open;
    open = [];
    for (const batch of batches) void send(batch);
  }

  function openBatch(link: RedisLink): Batch {
    // setImmediate runs after all sockets of this turn have been read; a microtask would run after each of them.
    if (open.length === 0) setImmediate(flush);
    const batch = { link, waiting: [], encodedCharges: '', clockMs: serverClock?.() ?? 0, openedAt: performance.now() };
    open.push(batch);
    return batch;
  }

  return function decideInBatch(link, charges) {
    const batch = open.find((one) => one.link === link) ?? openBatch(link);
    const { waiting } = batch;
    batch.encodedCharges += encoded(charges);
    const decision = new Promise<LimitDecision>((resolve) => waiting.push({ charges, resolve }));
    if (waiting.length === BATCH_MAX) {
      open.splice(open.indexOf(batch), 1);
      void send(batch);
    }
    return decision;
  };
}

/** Hands each request its part of the reply. */
function distribute(reply: ScriptReply, waiting: readonly WaitingRequest[], refusals: RefusalCache): void {
  const clockMs = reply[0] as number;
  let offset = 1;
  for (const { charges, resolve } of waiting) {
    const decidedAtMs = clockMs + (reply[offset] as number);
    const decision = toLimitDecision(charges, reply, offset + 1, decidedAtMs, 'redis');
    refusals.put(charges, decision);
    resolve(decision);
    offset += 1 + charges.length * FIGURES_PER_CHARGE;
  }
}

/** Encodes charges for the script, once per set of charges. */
function createEncoder(): (charges: readonly Charge[]) => string {
  const known = new WeakMap<readonly Charge[], string>();
  return function encoded(charges) {
    let text = known.get(charges);
    if (text === undefined) {
      text = encodeCharges(charges);
      known.set(charges, text);
    }
    return text;
  };
}
