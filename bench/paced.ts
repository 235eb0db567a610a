// Open-loop load: requests come at their own rate, also while answers are missing. It measures how long a caller waits.

import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { type Connection, openConnection } from './connection.ts';
import { createTally, type LoadOptions, type LoadResult } from './load.ts';

interface PacedOptions extends Omit<LoadOptions, 'pauseMs'> {
  readonly perSecond: number;
  /** Gets each answered request: its number, and when it was due, sent and answered (`performance.now()`). */
  onAnswer?(index: number, dueAt: number, sentAt: number, answeredAt: number): void;
}

interface Slot {
  readonly connection: Connection;
  index: number;
  dueAt: number;
  sentAt: number;
}

/** Latency counts from the moment a request is due, so that waiting for a free connection is part of it. */
export async function runPaced(options: PacedOptions): Promise<LoadResult> {
  const { durationMs, perSecond, requests } = options;
  const tally = createTally();
  const due: number[] = [];
  let next = 0;
  let drained: (() => void) | undefined;

  async function openSlot(): Promise<Slot> {
    const connection = await openConnection(options.port, (status, bodyBytes) => {
      const now = performance.now();
      tally.note(status, bodyBytes, now - slot.dueAt);
      options.onAnswer?.(slot.index, slot.dueAt, slot.sentAt, now);
      free.push(slot);
      dispatch();
    });
    const slot: Slot = { connection, index: 0, dueAt: 0, sentAt: 0 };
    return slot;
  }

  function dispatch(): void {
    while (free.length > 0 && due.length > 0) {
      // The one that has rested longest: none is idle for so long that a server closes it.
      const slot = free.shift() as Slot;
      slot.index = next++;
      slot.dueAt = due.shift() as number;
      slot.sentAt = performance.now();
      slot.connection.send(requests[slot.index % requests.length] as Buffer);
    }
    if (free.length === slots.length) drained?.();
  }

  const slots = await Promise.all(Array.from({ length: options.connections }, openSlot));
  const free = [...slots];
  const startedAt = performance.now();
  const metronome = new Worker(new URL('metronome.ts', import.meta.url), { workerData: { perSecond, durationMs } });
  metronome.on('message', (beats: number) => {
    const now = performance.now();
    for (let beat = 0; beat < beats; beat += 1) due.push(now);
    dispatch();
  });
  await once(metronome, 'exit');
  await new Promise<void>((resolve) => {
    drained = resolve;
    dispatch();
  });
  for (const { connection } of slots) connection.close();
  return tally.result((performance.now() - startedAt) / 1000);
}
