// Clients that ask and then do not read: an answer that waits for its client holds memory here and a connection to the upstream.

import type { Socket } from 'node:net';
import type { Arrived } from '../exchange.ts';
import { contain } from '../faults.ts';

export interface SlowReadersOptions {
  /** How long nothing at all may leave of an answer that waits. */
  readonly idleMs: number;
  /** How often is looked, in milliseconds. */
  readonly everyMs: number;
  /** Exchanges that are not over. */
  active(): Iterable<Arrived>;
  cut(socket: Socket): void;
}

interface Waiting {
  /** Different as soon as something has left. */
  readonly mark: string;
  readonly sinceMs: number;
}

/** Begins to look: at everything now and then, so that an answer in itself costs nothing. Answers how to stop that. */
export function watchSlowReaders({ idleMs, everyMs, active, cut }: SlowReadersOptions): () => void {
  let waiting = new Map<Socket, Waiting>();

  function look(): void {
    const now = performance.now();
    const still = new Map<Socket, Waiting>();
    for (const { request } of active()) {
      const { socket } = request;
      if (socket.writableLength === 0 || socket.destroyed) continue;
      const mark = markOf(socket);
      const before = waiting.get(socket);
      const sinceMs = before?.mark === mark ? before.sinceMs : now;
      if (now - sinceMs >= idleMs) cut(socket);
      else still.set(socket, { mark, sinceMs });
    }
    waiting = still;
  }

  const timer = setInterval(() => contain(look), everyMs).unref();
  return () => clearInterval(timer);
}

/** What Node's own socket timeouts go by: how much of a write that is under way the kernel has not taken yet, beside what waits here. */
function markOf(socket: Socket): string {
  const { _handle: handle } = socket as Socket & { readonly _handle?: { readonly writeQueueSize?: number } | null };
  return `${socket.bytesWritten} ${socket.writableLength} ${handle?.writeQueueSize}`;
}
