// The counts that are not written yet, as a queue of batches for each organization.

import type { Machine } from '../shared/machine.ts';
import { periodStart } from './periods.ts';
import type { Entry, UsageBatch } from './store.ts';
import type { TalliedCount, UsageTally } from './tally.ts';

/** Maximum number of entries of a batch. The embedded store adds them in up to two milliseconds, and Redis in less than one. */
export const BATCH_ENTRIES = 100;

interface TakenEntries {
  readonly entries: Iterator<TalliedCount>;
  readonly pairs: number;
}

export type WaitingBatches = ReturnType<typeof createWaitingBatches>;

export function createWaitingBatches(machine: Pick<Machine, 'setImmediate'>) {
  /** Batches by organization, in the order of their numbers. */
  const queues = new Map<string, UsageBatch[]>();
  /** Counts that were taken from the tally, and are not in batches yet. */
  const untreated: TakenEntries[] = [];
  /** The number of entries in batches, plus the number of pairs that are not in batches yet. */
  let size = 0;
  let lastNumber = 0;

  function cutPiece(piece: readonly TalliedCount[]): void {
    for (const [organization, counted] of Map.groupBy(piece, (one) => one.organization)) {
      const queue = queues.get(organization) ?? [];
      queues.set(organization, queue);
      for (const [dayMs, ofDay] of Map.groupBy(counted, ({ hourMs }) => periodStart('day', hourMs))) {
        lastNumber += 1;
        queue.push({ number: lastNumber, organization, dayMs, entries: ofDay.map(toEntry) });
      }
    }
    size += piece.length;
  }

  return {
    size: () => size,
    organizations: () => [...queues.keys()],
    /** Returns the next batch of an organization, which stays the same until `confirm`. */
    nextOf: (organization: string) => queues.get(organization)?.[0],
    /** Removes the next batch of an organization, which the store has added. Returns whether the organization has another batch. */
    confirm(organization: string): boolean {
      const queue = queues.get(organization) ?? [];
      size -= queue.shift()?.entries.length ?? 0;
      if (queue.length === 0) queues.delete(organization);
      return queue.length > 0;
    },
    /** Takes all counts from the tally. `cut` makes batches of them. */
    take(tally: UsageTally): void {
      const pairs = tally.size();
      if (pairs === 0) return;
      untreated.push({ entries: tally.take(), pairs });
      size += pairs;
    },
    /** Makes batches of the counts that were taken, with a turn of the event loop after each batch. */
    async cut(): Promise<void> {
      for (let taken = untreated.shift(); taken !== undefined; taken = untreated.shift()) {
        let { pairs } = taken;
        for (let piece = pieceOf(taken.entries); piece.length > 0; piece = pieceOf(taken.entries)) {
          cutPiece(piece);
          // `size` counts a pair until its entries are in batches. A pair has one entry or more, so at most the number of pairs is
          // subtracted.
          const cut = Math.min(pairs, piece.length);
          size -= cut;
          pairs -= cut;
          await nextTurn(machine);
        }
      }
    },
  };
}

/** Resolves in the next turn of the event loop. */
export function nextTurn(machine: Pick<Machine, 'setImmediate'>): Promise<void> {
  return new Promise((resolve) => void machine.setImmediate(resolve));
}

/** Returns the next entries, as many as a batch may contain. */
function pieceOf(entries: Iterator<TalliedCount>): TalliedCount[] {
  const piece: TalliedCount[] = [];
  while (piece.length < BATCH_ENTRIES) {
    const { value, done } = entries.next();
    if (done) break;
    piece.push(value);
  }
  return piece;
}

function toEntry({ hourMs, operation, key, statusClass, requests }: TalliedCount): Entry {
  return { hourMs, operation, key, statusClass, requests };
}
