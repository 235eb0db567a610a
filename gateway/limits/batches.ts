// Combines the decisions that one Redis server has to make in one event-loop turn into one command, and distributes its reply.

import type { KnownRefusals } from './known-refusals.ts';
import type { RedisLink } from './redis-link.ts';
import { type ScriptReply, toScriptArgument } from './redis-protocol.ts';
import type { Charge, LimitDecision } from './store.ts';
import { FIGURES_PER_CHARGE, toVerdict } from './verdict.ts';

/** Requests per command. Redis runs nothing else meanwhile, so a burst is split into commands of about a millisecond. */
const BATCH_MAX = 256;

export interface BatchesOptions {
  /** Decides if the server fails to. */
  readonly decideWithout: (charges: readonly Charge[]) => LimitDecision;
  readonly refusals: KnownRefusals;
  /** Called after each command with the milliseconds from its first request to the verdict. */
  readonly onBatch?: ((durationMs: number) => void) | undefined;
  /** Replaces the server's clock. */
  readonly serverClock?: (() => number) | undefined;
}

interface WaitingRequest {
  readonly charges: readonly Charge[];
  readonly resolve: (verdict: LimitDecision) => void;
}

interface Batch {
  readonly link: RedisLink;
  readonly waiting: WaitingRequest[];
  questions: string;
  /** 0: use the clock of the server. */
  readonly clockMs: number;
  /** By `performance.now()`. */
  readonly openedAt: number;
}

export type Ask = (link: RedisLink, charges: readonly Charge[]) => Promise<LimitDecision>;

/** One batch per server and turn. */
export function createBatches({ decideWithout, refusals, onBatch, serverClock }: BatchesOptions): Ask {
  const questionOf = createQuestions();
  let open: Batch[] = [];

  async function send({ link, waiting, questions, openedAt, clockMs }: Batch): Promise<void> {
    try {
      distribute(await link.run(clockMs, questions), waiting, refusals);
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
    const batch = { link, waiting: [], questions: '', clockMs: serverClock?.() ?? 0, openedAt: performance.now() };
    open.push(batch);
    return batch;
  }

  return function ask(link, charges) {
    const batch = open.find((one) => one.link === link) ?? openBatch(link);
    const { waiting } = batch;
    batch.questions += questionOf(charges);
    const verdict = new Promise<LimitDecision>((resolve) => waiting.push({ charges, resolve }));
    if (waiting.length === BATCH_MAX) {
      open.splice(open.indexOf(batch), 1);
      void send(batch);
    }
    return verdict;
  };
}

/** Hands each request its part of the reply. */
function distribute(reply: ScriptReply, waiting: readonly WaitingRequest[], refusals: KnownRefusals): void {
  const clockMs = reply[0] as number;
  let offset = 1;
  for (const { charges, resolve } of waiting) {
    const decidedAtMs = clockMs + (reply[offset] as number);
    const verdict = toVerdict(charges, reply, offset + 1, decidedAtMs, 'redis');
    refusals.note(charges, verdict);
    resolve(verdict);
    offset += 1 + charges.length * FIGURES_PER_CHARGE;
  }
}

/** Serializes charges for the script, once per set of charges. */
function createQuestions(): (charges: readonly Charge[]) => string {
  const known = new WeakMap<readonly Charge[], string>();
  return function questionOf(charges) {
    let question = known.get(charges);
    if (question === undefined) {
      question = toScriptArgument(charges);
      known.set(charges, question);
    }
    return question;
  };
}
