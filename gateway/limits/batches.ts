// Gathers what is asked of one Redis server in one event-loop turn into one command, and hands its reply out again.

import type { KnownRefusals } from './known-refusals.ts';
import type { RedisLink } from './redis-link.ts';
import type { Reply } from './redis-script.ts';
import type { Charge, Verdict } from './store.ts';
import { FIGURES_PER_CHARGE, toVerdict } from './verdict.ts';

/** Requests per command. Redis runs nothing else meanwhile, so a burst is cut into pieces of about a millisecond. */
const BATCH_MAX = 256;

export interface BatchesOptions {
  /** Decides what the server fails to decide. */
  readonly decideWithout: (charges: readonly Charge[]) => Verdict;
  readonly refusals: KnownRefusals;
  /** After each command, with the milliseconds from the first question in it to its verdict. */
  readonly onBatch?: ((durationMs: number) => void) | undefined;
  /** Replaces the server's clock. */
  readonly serverClock?: (() => number) | undefined;
}

interface Asked {
  readonly charges: readonly Charge[];
  readonly resolve: (verdict: Verdict) => void;
}

interface Batch {
  readonly asked: Asked[];
  readonly keys: string[];
  readonly args: string[];
  /** On the clock of `performance.now()`. */
  readonly openedAt: number;
}

export type Ask = (link: RedisLink, charges: readonly Charge[]) => Promise<Verdict>;

/** One batch per server and turn. */
export function createBatches({ decideWithout, refusals, onBatch, serverClock }: BatchesOptions): Ask {
  const specsOf = createSpecs();
  const open = new Map<RedisLink, Batch>();

  async function send(link: RedisLink, { asked, keys, args, openedAt }: Batch): Promise<void> {
    try {
      distribute(await link.run(keys, args), asked, refusals);
    } catch {
      for (const { charges, resolve } of asked) resolve(decideWithout(charges));
    }
    onBatch?.(performance.now() - openedAt);
  }

  function flush(): void {
    for (const [link, batch] of open) void send(link, batch);
    open.clear();
  }

  function openBatch(link: RedisLink): Batch {
    // setImmediate runs once all sockets of this turn have been read; a microtask would run after each of them.
    if (open.size === 0) setImmediate(flush);
    const args = [serverClock === undefined ? '' : String(serverClock())];
    const batch = { asked: [], keys: [], args, openedAt: performance.now() };
    open.set(link, batch);
    return batch;
  }

  return function ask(link, charges) {
    const batch = open.get(link) ?? openBatch(link);
    const { asked, keys, args } = batch;
    for (const charge of charges) keys.push(charge.key);
    for (const spec of specsOf(charges)) args.push(spec);
    const verdict = new Promise<Verdict>((resolve) => asked.push({ charges, resolve }));
    if (asked.length === BATCH_MAX) {
      open.delete(link);
      void send(link, batch);
    }
    return verdict;
  };
}

/** Hands each request its part of the reply. */
function distribute(reply: Reply, asked: readonly Asked[], refusals: KnownRefusals): void {
  const clockMs = reply[0] as number;
  let offset = 1;
  for (const { charges, resolve } of asked) {
    const decidedAtMs = clockMs + (reply[offset] as number);
    const verdict = toVerdict(charges, reply, offset + 1, decidedAtMs, 'redis');
    refusals.note(charges, verdict);
    resolve(verdict);
    offset += 1 + charges.length * FIGURES_PER_CHARGE;
  }
}

/** Charges as the script reads them, written once per set of charges. */
function createSpecs(): (charges: readonly Charge[]) => readonly string[] {
  const known = new WeakMap<readonly Charge[], readonly string[]>();
  return function specsOf(charges) {
    let specs = known.get(charges);
    if (specs === undefined) {
      specs = charges.map(({ requests, windowMs, cost, enforce }, index) => {
        const last = index === charges.length - 1;
        return `${requests} ${windowMs} ${cost} ${Number(enforce)} ${Number(last)}`;
      });
      known.set(charges, specs);
    }
    return specs;
  };
}
