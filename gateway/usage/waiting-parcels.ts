// What has been counted and is not written yet: one queue of parcels for each organization.

import type { Machine } from '../shared/machine.ts';
import { periodStart } from './periods.ts';
import type { Entry, Parcel } from './store.ts';
import type { Tallied, UsageTally } from './tally.ts';

/** Most entries of one parcel, which is written by one call: it takes the embedded store one or two milliseconds, and Redis less than one. */
export const PARCEL_ENTRIES = 100;

interface Taken {
  readonly entries: Iterator<Tallied>;
  readonly pairs: number;
}

export type WaitingParcels = ReturnType<typeof createWaitingParcels>;

export function createWaitingParcels(machine: Pick<Machine, 'setImmediate'>) {
  /** Parcels by organization, in the order of their numbers. */
  const queues = new Map<string, Parcel[]>();
  /** What has left the tally, and is not in parcels yet. */
  const untreated: Taken[] = [];
  /** Entries in parcels, and pairs of what was taken. */
  let size = 0;
  let lastNumber = 0;

  /** Resolves in the next turn of the event loop. */
  function turn(): Promise<void> {
    return new Promise((resolve) => void machine.setImmediate(resolve));
  }

  function cutPiece(piece: readonly Tallied[]): void {
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
    turn,
    /** Number of counts. */
    size: () => size,
    organizations: () => [...queues.keys()],
    /** The next parcel of an organization. It stays the next one until it is confirmed. */
    nextOf: (organization: string) => queues.get(organization)?.[0],
    /** Removes the next parcel of an organization, which the store has added. Returns whether there is another one. */
    confirmed(organization: string): boolean {
      const queue = queues.get(organization) ?? [];
      size -= queue.shift()?.entries.length ?? 0;
      if (queue.length === 0) queues.delete(organization);
      return queue.length > 0;
    },
    /** Takes everything that was counted. `cut` makes parcels of it. */
    take(tally: UsageTally): void {
      const pairs = tally.size();
      if (pairs === 0) return;
      untreated.push({ entries: tally.take(), pairs });
      size += pairs;
    },
    /** Makes parcels of what was taken. Requests are served in between. */
    async cut(): Promise<void> {
      for (let taken = untreated.shift(); taken !== undefined; taken = untreated.shift()) {
        let { pairs } = taken;
        for (let piece = pieceOf(taken.entries); piece.length > 0; piece = pieceOf(taken.entries)) {
          cutPiece(piece);
          // A pair has one entry or more. What is in parcels must not be counted twice, or the tally would lack room.
          const cut = Math.min(pairs, piece.length);
          size -= cut;
          pairs -= cut;
          await turn();
        }
      }
    },
  };
}

/** Returns the next entries, as many as a parcel may have. */
function pieceOf(entries: Iterator<Tallied>): Tallied[] {
  const piece: Tallied[] = [];
  while (piece.length < PARCEL_ENTRIES) {
    const { value, done } = entries.next();
    if (done) break;
    piece.push(value);
  }
  return piece;
}

function toEntry({ hourMs, operation, key, statusClass, requests }: Tallied): Entry {
  return { hourMs, operation, key, statusClass, requests };
}
