// Cuts off clients that send a request and do not read its answer, because such an answer holds memory here and a connection to the
// upstream.

import type { Socket } from 'node:net';
import type { Arrived } from '../../exchange/exchange.ts';
import { checkEvery } from '../../shared/deadline.ts';
import { handleOf } from '../../sockets/handle.ts';
import { destroyIfReset } from './socket-errors.ts';

interface SlowReadersOptions {
  /** The longest time without progress while an answer waits. */
  readonly idleMs: number;
  /** The interval of the check, in milliseconds. */
  readonly everyMs: number;
  /** Returns the exchanges in progress. */
  inProgress(): Iterable<Arrived>;
  cut(socket: Socket): void;
}

/** Progress of the answers on a connection, and how long they have made none. */
interface ReaderProgress {
  /** Bytes of all writes that are complete. */
  readonly complete: number;
  /** Bytes of the write in progress that the kernel, or over TLS the TCP connection, has not taken yet. */
  readonly queued: number;
  /**
   * The number of checks without progress. Checks are counted instead of time, because clients are not to blame for a pause of this
   * process.
   */
  readonly checks: number;
}

/** Starts the check. One timer checks all exchanges, so that a single answer needs no timer. Returns a function that stops it. */
export function watchSlowReaders({ idleMs, everyMs, inProgress, cut }: SlowReadersOptions): () => void {
  let waiting = new Map<Socket, ReaderProgress>();

  function check(): void {
    const still = new Map<Socket, ReaderProgress>();
    for (const { request } of inProgress()) {
      const { socket } = request;
      if (socket.writableLength === 0 || socket.destroyed) continue;
      const next = waitingOn(socket, waiting.get(socket));
      if (next.checks * everyMs >= idleMs) cut(socket);
      else {
        destroyIfReset(socket);
        still.set(socket, next);
      }
    }
    waiting = still;
  }

  return checkEvery(everyMs, check);
}

/** Returns what the socket waits for now. Bytes that leave are progress. Bytes that are added to the answer are not. */
function waitingOn(socket: Socket, before: ReaderProgress | undefined): ReaderProgress {
  const complete = socket.bytesWritten - socket.writableLength;
  const queued = handleOf(socket)?.writeQueueSize ?? 0;
  const isIdle = before !== undefined && complete <= before.complete && queued >= before.queued;
  return { complete, queued, checks: isIdle ? before.checks + 1 : 0 };
}
