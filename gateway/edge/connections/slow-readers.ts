// Clients that ask and then do not read: an answer that waits for its client holds memory here and a connection to the upstream.

import type { Socket } from 'node:net';
import type { Arrived } from '../../exchange.ts';
import { lookEvery } from '../../shared/deadline.ts';
import { handleOf } from '../../sockets/unread-bytes.ts';
import { destroyIfReset } from './sockets.ts';

interface SlowReadersOptions {
  /** The longest time without progress while an answer waits. */
  readonly idleMs: number;
  /** The interval of the check, in milliseconds. */
  readonly everyMs: number;
  /** Exchanges in progress. */
  active(): Iterable<Arrived>;
  cut(socket: Socket): void;
}

/** How far the answers on a connection have got, and for how long they wait there. */
interface Waiting {
  /** Bytes of all writes that are complete. */
  readonly complete: number;
  /** Bytes of the write under way that the kernel, or over TLS the TCP connection, has not taken yet. */
  readonly queued: number;
  /** Looks since the last progress: while the process stands still, there are none, and no client can be seen to read. */
  readonly looks: number;
}

/** Starts the check of all exchanges at an interval, so that a single answer costs nothing. Returns a function that stops it. */
export function watchSlowReaders({ idleMs, everyMs, active, cut }: SlowReadersOptions): () => void {
  let waiting = new Map<Socket, Waiting>();

  function check(): void {
    const still = new Map<Socket, Waiting>();
    for (const { request } of active()) {
      const { socket } = request;
      if (socket.writableLength === 0 || socket.destroyed) continue;
      const next = waitingOn(socket, waiting.get(socket));
      if (next.looks * everyMs >= idleMs) cut(socket);
      else {
        destroyIfReset(socket);
        still.set(socket, next);
      }
    }
    waiting = still;
  }

  return lookEvery(everyMs, check);
}

/** Bytes that are merely added to an answer are no progress: only bytes that leave are. */
function waitingOn(socket: Socket, before: Waiting | undefined): Waiting {
  const complete = socket.bytesWritten - socket.writableLength;
  const queued = handleOf(socket)?.writeQueueSize ?? 0;
  const isIdle = before !== undefined && complete <= before.complete && queued >= before.queued;
  return { complete, queued, looks: isIdle ? before.looks + 1 : 0 };
}
