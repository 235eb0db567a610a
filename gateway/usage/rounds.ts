// Sends all waiting batches to the store, in a round of small calls with pauses. Without pauses, the batches of a thousand busy
// organizations would occupy the store and this process for a tenth of a second.

import type { Machine } from '../shared/machine.ts';
import type { UsageStore } from './store.ts';
import { BATCH_ENTRIES, nextTurn, type WaitingBatches } from './waiting-batches.ts';

/** The pause after a call is this many times as long as the call. During the pause, the store serves others. */
const RESTS_PER_CALL = 4;
/**
 * The longest pause. It is bounded, because a slow call mostly means a slow network, and not a busy store, and because a process that ends
 * waits for a pause in progress.
 */
const REST_MAX_MS = 100;
/** The longest sum of all pauses of a round. */
export const RESTS_MAX_MS = 2000;
/** The number of concurrent calls, if a call takes only one batch. */
const LANES = 16;
/** After this many failures in a row, the store is treated as unavailable, and the round ends. */
const FAILURES_MAX = 3;

interface Round {
  readonly to: UsageStore;
  /** Organizations whose batches are not sent yet. */
  readonly due: string[];
  /**
   * Organizations whose batch failed in a call with other batches. Each such batch is sent alone, so that one damaged batch delays no
   * other.
   */
  readonly alone: string[];
  failuresInARow: number;
  hasFailed: boolean;
  /** The sum of all pauses. */
  restedMs: number;
}

export class Rounds {
  readonly #writer: string;
  readonly #batches: WaitingBatches;
  readonly #machine: Machine;
  #isAdvancing = true;
  #isHurried = false;
  #failure: unknown;

  /** @param writer the name under which the store knows this process */
  constructor(writer: string, batches: WaitingBatches, machine: Machine) {
    this.#writer = writer;
    this.#batches = batches;
    this.#machine = machine;
  }

  /** Whether the last round wrote a batch, or had no batch to write. */
  get isAdvancing(): boolean {
    return this.#isAdvancing;
  }

  /** Returns the last failure of the store. */
  get failure(): unknown {
    return this.#failure;
  }

  /** Ends the pauses, because the process ends. */
  hurry(): void {
    this.#isHurried = true;
  }

  /** Notes that no round can begin, because the store fails. */
  stall(): void {
    this.#isAdvancing = false;
  }

  /** Sends the waiting batches of all organizations. Returns whether the store has confirmed all of them. */
  async send(to: UsageStore): Promise<boolean> {
    const due = this.#batches.organizations();
    const round: Round = { to, due, alone: [], failuresInARow: 0, hasFailed: false, restedMs: 0 };
    this.#isAdvancing = due.length === 0;
    await Promise.all(Array.from({ length: Math.ceil(LANES / to.batchesMax) }, () => this.#sendCalls(round)));
    return !round.hasFailed;
  }

  /** Sends batches, call after call, until none is left. Several of these loops run at the same time. */
  async #sendCalls(round: Round): Promise<void> {
    const { performance } = this.#machine;
    const take = () => this.#takeDue(round);
    for (let names = take(); names.length > 0 && round.failuresInARow < FAILURES_MAX; names = take()) {
      const sentAt = performance.now();
      try {
        round.due.push(...(await this.#sendNext(round.to, names)));
        round.failuresInARow = 0;
        this.#isAdvancing = true;
        await this.#rest(round, performance.now() - sentAt);
      } catch (cause) {
        this.#failure = cause;
        round.failuresInARow += 1;
        if (names.length === 1 || round.failuresInARow === FAILURES_MAX) round.hasFailed = true;
        else round.alone.push(...names);
        await nextTurn(this.#machine);
      }
    }
  }

  /** Pauses. Requests wait for the same store, and for this process if the store is embedded. */
  async #rest(round: Round, tookMs: number): Promise<void> {
    if (this.#isHurried || round.restedMs >= RESTS_MAX_MS) return nextTurn(this.#machine);
    const ms = Math.min(tookMs * RESTS_PER_CALL, REST_MAX_MS, RESTS_MAX_MS - round.restedMs);
    round.restedMs += ms;
    await this.#machine.sleep(ms);
  }

  /** Takes the organizations whose next batches go into one call. */
  #takeDue({ to, due, alone }: Round): string[] {
    const single = alone.pop();
    if (single !== undefined) return [single];
    const taken: string[] = [];
    let entries = 0;
    while (taken.length < to.batchesMax) {
      const name = due.at(-1);
      if (name === undefined) break;
      entries += this.#batches.nextOf(name)?.entries.length ?? 0;
      if (entries > BATCH_ENTRIES && taken.length > 0) break;
      taken.push(name);
      due.pop();
    }
    return taken;
  }

  /** Sends the next batch of each organization. Returns the organizations that have another batch. */
  async #sendNext(to: UsageStore, organizations: readonly string[]): Promise<string[]> {
    const next = organizations.flatMap((name) => this.#batches.nextOf(name) ?? []);
    await to.add(this.#writer, next);
    return organizations.filter((name) => this.#batches.confirm(name));
  }
}
