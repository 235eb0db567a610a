// Combines the decisions that one Redis server has to make in one event-loop turn into one command, and reads its reply.

import { type Machine, realMachine } from '../../../shared/machine.ts';
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

/** Requests per command. Redis runs nothing else during a command, so a burst is split into commands of about a millisecond. */
const BATCH_MAX = 256;

interface BatchesOptions {
  /** Decides if the server fails to. */
  readonly decideWithout: (charges: readonly Charge[]) => LimitDecision;
  readonly refusals: RefusalCache;
  /** Called after each command with the milliseconds from its first request to the decision. */
  readonly onBatch?: ((durationMs: number) => void) | undefined;
  /** Replaces the server's clock. */
  readonly serverClock?: (() => number) | undefined;
  readonly machine?: Machine | undefined;
}

/** The requests of one command. They share one promise, and each request calls `then` on it: that costs less than a promise each. */
interface Batch extends PromiseWithResolvers<ScriptReply | undefined> {
  readonly link: RedisLink;
  requests: number;
  encodedCharges: string;
  /** Number of figures in the reply so far. */
  figures: number;
  /** 0: use the clock of the server. */
  readonly clockMs: number;
  /** By `performance.now()`. */
  readonly openedAt: number;
}

/** Resolves with the decision of the server, or with the decision of `decideWithout`. Never rejects. */
type DecideInBatch = (
  link: RedisLink,
  charges: readonly Charge[],
  memory: ChargeMemory | undefined,
) => Promise<LimitDecision>;

/** Makes one batch per server and turn. */
export function createBatches({
  decideWithout,
  refusals,
  onBatch,
  serverClock,
  machine: { performance, setImmediate } = realMachine,
}: BatchesOptions): DecideInBatch {
  let open: Batch[] = [];

  function send({ link, encodedCharges, clockMs, openedAt, resolve }: Batch): void {
    const conclude = (reply: ScriptReply | undefined) => {
      resolve(reply);
      onBatch?.(performance.now() - openedAt);
    };
    link.run(clockMs, encodedCharges).then(conclude, () => conclude(undefined));
  }

  function flush(): void {
    const batches = open;
    open = [];
    for (const batch of batches) send(batch);
  }

  function openBatch(link: RedisLink): Batch {
    // setImmediate runs after all sockets of this turn have been read; a microtask would run after each of them.
    if (open.length === 0) setImmediate(flush);
    const batch = {
      ...Promise.withResolvers<ScriptReply | undefined>(),
      link,
      requests: 0,
      encodedCharges: '',
      figures: 1,
      clockMs: serverClock?.() ?? 0,
      openedAt: performance.now(),
    };
    open.push(batch);
    return batch;
  }

  function batchOf(link: RedisLink): Batch {
    for (const batch of open) if (batch.link === link) return batch;
    return openBatch(link);
  }

  function read(
    reply: ScriptReply,
    first: number,
    sharedCharges: readonly Charge[],
    memory?: ChargeMemory,
  ): LimitDecision {
    const decidedAtMs = (reply[0] as number) + (reply[first] as number);
    const decision = toLimitDecision(sharedCharges, reply, first + 1, decidedAtMs, 'redis');
    if (memory !== undefined) refusals.put(memory, decision);
    return decision;
  }

  return function decideInBatch(link, charges, memory) {
    const batch = batchOf(link);
    const first = batch.figures;
    const sharedCharges = memory?.sharedCharges ?? charges;
    batch.figures += 1 + sharedCharges.length * FIGURES_PER_CHARGE;
    batch.encodedCharges += encoded(charges, memory);
    batch.requests += 1;
    if (batch.requests === BATCH_MAX) {
      open.splice(open.indexOf(batch), 1);
      send(batch);
    }
    return batch.promise.then((reply) =>
      reply === undefined ? decideWithout(charges) : read(reply, first, sharedCharges, memory),
    );
  };
}

function encoded(charges: readonly Charge[], memory: ChargeMemory | undefined): string {
  if (memory === undefined) return encodeCharges(charges);
  if (memory.encoded === '') memory.encoded = encodeCharges(charges);
  return memory.encoded;
}
