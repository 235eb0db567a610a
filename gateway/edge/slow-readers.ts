// Clients that ask and then do not read: an answer that waits for its client holds memory here and a connection to the upstream.

import type { Socket } from 'node:net';
import type { Arrived } from '../exchange.ts';
import { contain } from '../shared/faults.ts';
import { handleOf } from '../sockets/unread-bytes.ts';
import { destroyIfReset } from './sockets.ts';

export interface SlowReadersOptions {
  /** The longest time without progress while an answer waits. */
  readonly idleMs: number;
  /** The interval of the check, in milliseconds. */
  readonly everyMs: number;
  /** Exchanges in progress. */
  active(): Iterable<Arrived>;
  cut(socket: Socket): void;
}

/** How far the answers on a connection have got, and since when they wait there. */
interface Waiting {
  /** Bytes of all writes that are complete. */
  readonly complete: number;
  /** Bytes of the write under way that the kernel, or over TLS the TCP connection, has not taken yet. */
  readonly queued: number;
  readonly sinceMs: number;
}

/** Starts the check of all exchanges at an interval, so that a single answer costs nothing. Returns a function that stops it. */
export function watchSlowReaders({ idleMs, everyMs, active, cut }: SlowReadersOptions): () => void {
  let waiting = new Map<Socket, Waiting>();

  function check(): void {
    const now = performance.now();
    const still = new Map<Socket, Waiting>();
    for (const { request } of active()) {
      const { socket } = request;
      if (socket.writableLength === 0 || socket.destroyed) continue;
      const next = waitingSince(now, socket, waiting.get(socket));
      if (now - next.sinceMs >= idleMs) cut(socket);
      else {
        destroyIfReset(socket);
        still.set(socket, next);
      }
    }
    waiting = still;
  }

  const timer = setInterval(() => contain(check), everyMs).unref();
  return () => clearInterval(timer);
}

/** Bytes that are merely added to an answer are no progress: only bytes that leave are. */
function waitingSince(now: number, socket: Socket, before: Waiting | undefined): Waiting {
  const complete = socket.bytesWritten - socket.writableLength;
  const queued = handleOf(socket)?.writeQueueSize ?? 0;
  const isIdle = before !== undefined && complete <= before.complete && queued >= before.queued;
  return { complete, queued, sinceMs: isIdle ? before.sinceMs : now };
}
