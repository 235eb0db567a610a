// Counts failures in Redis, or in the memory of this process while Redis cannot be reached.

import type { Redis } from '../../redis/client.ts';
import { evaluate, toScript } from '../../redis/sealed-script.ts';
import { REAL_MACHINE } from '../../shared/machine.ts';
import type { FailureCount, FailureCounter, FailureRules, ReservedUnit } from './failure-counter.ts';
import { ProcessCounter } from './process-counter.ts';
import { figuresIn, type SharedUnits } from './reserved-units.ts';

/**
 * Key: counter. Arguments: failures to add; milliseconds of a window. Returns how many failures are counted, and the milliseconds until
 * their window ends.
 */
const COUNT = toScript(`
local failures = redis.call('INCRBY', KEYS[1], ARGV[1])
local left = redis.call('PTTL', KEYS[1])
if left < 0 then
  left = tonumber(ARGV[2])
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
end
return { failures, left }
`);

/** If a command counts this many failures or more, the address is flooding, and its next command waits. */
const FLOOD = 8;
/** Milliseconds between two commands of a flood. The instance learns at most this much later that the address is blocked. */
const FLOOD_REST_MS = 5;

/** The failures of an address that the next command counts. */
interface WaitingFailures extends PromiseWithResolvers<FailureCount> {
  failures: number;
}

export class SharedCounter implements FailureCounter {
  readonly #waiting = new Map<string, WaitingFailures>();
  /** The addresses for which a command is in progress, or has counted a flood. */
  readonly #inFlight = new Set<string>();
  readonly #name: string;
  #rules: FailureRules;
  readonly #client: Redis;
  readonly #units: SharedUnits;
  readonly #fallback: ProcessCounter;

  constructor(name: string, rules: FailureRules, client: Redis, units: SharedUnits) {
    this.#name = name;
    this.#rules = rules;
    this.#client = client;
    this.#units = units;
    this.#fallback = new ProcessCounter(rules);
  }

  /**
   * One command counts all failures of an address in one turn of the event loop. While a command for the address is in progress, new
   * failures wait and share the next command. One command per failure would take as much CPU as the refusal itself.
   */
  count(block: string): Promise<FailureCount> {
    let waiting = this.#waiting.get(block);
    if (waiting === undefined) {
      waiting = { ...Promise.withResolvers<FailureCount>(), failures: 0 };
      this.#waiting.set(block, waiting);
      if (!this.#inFlight.has(block)) REAL_MACHINE.setImmediate(this.#send, block);
    }
    waiting.failures += 1;
    return waiting.promise;
  }

  reserve(block: string): Promise<ReservedUnit> {
    return this.#reserve(block).catch(() => this.#fallback.reserve(block));
  }

  forget(block: string): void {
    this.#fallback.forget(block);
  }

  useRules(rules: FailureRules): void {
    this.#rules = rules;
    this.#fallback.useRules(rules);
  }

  readonly #send = (block: string): void => {
    const { failures, resolve } = this.#waiting.get(block) as WaitingFailures;
    this.#waiting.delete(block);
    this.#inFlight.add(block);
    const next = () => {
      this.#inFlight.delete(block);
      if (this.#waiting.has(block)) this.#send(block);
    };
    const rest = () => REAL_MACHINE.setTimeout(next, FLOOD_REST_MS).unref();
    void this.#count(block, failures)
      .then(resolve)
      .then(failures < FLOOD ? next : rest);
  };

  async #count(block: string, failures: number): Promise<FailureCount> {
    try {
      // Until the connection is ready, the client would keep the command. This process counts the failure at once instead.
      if (this.#client.status !== 'ready') throw new Error('Redis is away');
      const args = [failures, this.#rules.windowSeconds * 1000];
      const [counted = 0, leftMs] = figuresIn(await evaluate(this.#client, COUNT, [this.#keyOf(block)], args), 2);
      return { isUsedUp: counted >= this.#rules.failures, leftMs };
    } catch {
      return this.#fallback.count(block, failures);
    }
  }

  async #reserve(block: string): Promise<ReservedUnit> {
    const limit = this.#rules.failures;
    const { failures, leftMs, giveBack } = await this.#units.reserve(this.#keyOf(block), limit);
    return { isUsedUp: failures >= limit, leftMs, giveBack: giveBack && this.#fallback.hold(block, giveBack) };
  }

  #keyOf(block: string): string {
    return `failures:${this.#name}:${block}`;
  }
}
