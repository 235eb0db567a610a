// Sends all waiting parcels to the store in one round. The calls of a round are small, and the store rests between them: a thousand busy
// organizations are a tenth of a second of work, for this process and for the store.

import type { Machine } from '../shared/machine.ts';
import type { UsageStore } from './store.ts';
import { PARCEL_ENTRIES, type WaitingParcels } from './waiting-parcels.ts';

/** After a call, the store has this many times as long to do other work. */
const RESTS_PER_CALL = 4;
/** The longest rest. A slow answer mostly says that the store is far away, and a process that ends waits for the rest that has begun. */
const REST_MAX_MS = 100;
/** The longest sum of the rests of one round. */
export const RESTS_MAX_MS = 2000;
/** Parcels of different organizations that are in progress at once, if a call takes one only. */
const LANES = 16;
/** After this many failures in a row the store counts as away, and the other parcels wait, too. */
const FAILURES_MAX = 3;

interface Round {
  readonly to: UsageStore;
  /** Organizations whose parcels are not sent yet. */
  readonly due: string[];
  /** Organizations whose parcel failed together with others: the damaged counts of one must not hold the others up. */
  readonly alone: string[];
  failuresInARow: number;
  hasFailed: boolean;
  /** The sum of the rests of all lanes. */
  restedMs: number;
}

export interface Rounds {
  /** Whether the last round wrote anything, or had nothing to write. */
  isAdvancing: boolean;
  /** Whether the process ends: rounds no longer rest. */
  isHurried: boolean;
  /** Sends the waiting parcels of all organizations. Returns whether the store has confirmed all of them. */
  send(to: UsageStore): Promise<boolean>;
}

/** @param writer the name under which the store knows this process */
export function createRounds(writer: string, parcels: WaitingParcels, machine: Machine): Rounds {
  const rounds: Rounds = { isAdvancing: true, isHurried: false, send };

  async function send(to: UsageStore): Promise<boolean> {
    const due = parcels.organizations();
    const round: Round = { to, due, alone: [], failuresInARow: 0, hasFailed: false, restedMs: 0 };
    rounds.isAdvancing = due.length === 0;
    await Promise.all(Array.from({ length: Math.ceil(LANES / to.parcelsMax) }, () => sendInTurn(round)));
    return !round.hasFailed;
  }

  /** One of the lanes of a round. */
  async function sendInTurn(round: Round): Promise<void> {
    const take = () => takeDue(round);
    for (let names = take(); names.length > 0 && round.failuresInARow < FAILURES_MAX; names = take()) {
      const sentAt = machine.performance.now();
      try {
        round.due.push(...(await sendNext(round.to, names)));
        round.failuresInARow = 0;
        rounds.isAdvancing = true;
        await rest(round, machine.performance.now() - sentAt);
      } catch {
        round.failuresInARow += 1;
        if (names.length === 1 || round.failuresInARow === FAILURES_MAX) round.hasFailed = true;
        else round.alone.push(...names);
        await parcels.turn();
      }
    }
  }

  /** Leaves the store to requests: their limits and keys wait for it, and for this process where the store is embedded. */
  async function rest(round: Round, tookMs: number): Promise<void> {
    if (rounds.isHurried || round.restedMs >= RESTS_MAX_MS) return parcels.turn();
    const ms = Math.min(tookMs * RESTS_PER_CALL, REST_MAX_MS, RESTS_MAX_MS - round.restedMs);
    round.restedMs += ms;
    // A process that drains must not end in a rest.
    await machine.sleep(ms);
  }

  /** Takes the organizations whose next parcels are sent at once. */
  function takeDue({ to, due, alone }: Round): string[] {
    const single = alone.pop();
    if (single !== undefined) return [single];
    const taken: string[] = [];
    let entries = 0;
    while (taken.length < to.parcelsMax) {
      const name = due.at(-1);
      if (name === undefined) break;
      entries += parcels.nextOf(name)?.entries.length ?? 0;
      if (entries > PARCEL_ENTRIES && taken.length > 0) break;
      taken.push(name);
      due.pop();
    }
    return taken;
  }

  /** Sends the next parcel of each of these organizations. Returns those that have another one. */
  async function sendNext(to: UsageStore, organizations: readonly string[]): Promise<string[]> {
    const next = organizations.flatMap((name) => parcels.nextOf(name) ?? []);
    await to.add(writer, next);
    return organizations.filter((name) => parcels.confirmed(name));
  }

  return rounds;
}
