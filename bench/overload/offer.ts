// Open-loop load that separates served and refused requests: requests come at their own rate, for any answers.

import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { type Connection, openConnection } from '../connection.ts';

interface Offer {
  readonly port: number;
  readonly requests: readonly Buffer[];
  readonly perSecond: number;
  readonly durationMs: number;
  readonly connections: number;
}

export interface Outcome {
  readonly statuses: Readonly<Record<number, number>>;
  /** Milliseconds from when a request was due to its answer of 200, in ascending order. */
  readonly servedMs: readonly number[];
  /** How many of these had been answered when the last request was due. */
  readonly servedInTime: number;
  /** The same of refusals. */
  readonly refusedMs: readonly number[];
  readonly seconds: number;
}

export async function offer({ port, requests, perSecond, durationMs, connections }: Offer): Promise<Outcome> {
  const statuses: Record<number, number> = {};
  const servedMs: number[] = [];
  const refusedMs: number[] = [];
  const due: number[] = [];
  const free: Slot[] = [];
  let next = 0;
  let servedInTime = 0;
  let isOver = false;
  let drained = () => {};

  interface Slot {
    readonly connection: Connection;
    dueAt: number;
  }

  function dispatch(): void {
    while (free.length > 0 && due.length > 0) {
      const slot = free.shift() as Slot;
      slot.dueAt = due.shift() as number;
      slot.connection.send(requests[next++ % requests.length] as Buffer);
    }
    if (free.length === connections) drained();
  }

  async function open(): Promise<void> {
    const slot: Slot = {
      connection: await openConnection(port, (status) => {
        statuses[status] = (statuses[status] ?? 0) + 1;
        if (status === 200 && !isOver) servedInTime += 1;
        (status === 200 ? servedMs : refusedMs).push(performance.now() - slot.dueAt);
        free.push(slot);
        dispatch();
      }),
      dueAt: 0,
    };
    free.push(slot);
  }

  await Promise.all(Array.from({ length: connections }, open));
  const slots = [...free];
  const startedAt = performance.now();
  const metronome = new Worker(new URL('../metronome.ts', import.meta.url), { workerData: { perSecond, durationMs } });
  metronome.on('message', () => {
    due.push(performance.now());
    dispatch();
  });
  await once(metronome, 'exit');
  isOver = true;
  const seconds = (performance.now() - startedAt) / 1000;
  await new Promise<void>((resolve) => {
    drained = resolve;
    dispatch();
  });
  for (const { connection } of slots) connection.close();
  const ascending = (numbers: number[]) => numbers.sort((one, other) => one - other);
  return { statuses, servedInTime, servedMs: ascending(servedMs), refusedMs: ascending(refusedMs), seconds };
}
