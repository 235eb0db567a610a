// Rescues connections that were sent to a worker but not yet accepted when it was killed. Node 24 forgets such connections, so they stay
// open and their clients wait forever. While such a connection is in transit, Node also does not report the end of the worker's channel.

import type { ChildProcess } from 'node:child_process';
import type { Worker } from 'node:cluster';
import { Socket } from 'node:net';
import type { Gap } from './gap.ts';

/** Internal messages of node:cluster. With a Node version that has other messages, connections are lost as without this file. */
interface ClusterMessage {
  readonly cmd?: string;
  readonly act?: string;
  readonly key?: string;
  readonly seq?: number;
  readonly ack?: number;
}

/** `newconn` comes with the connection. */
type ConnectionHandle = object;

/**
 * Tracks connections that were sent to a worker, and that the worker has not accepted. Returns a function to call after the end of the
 * worker. It passes these connections to other workers, or to the gap if no other worker listens.
 */
export function followConnections({ id, process: child }: Worker, gap: Gap): () => void {
  const unaccepted = new Map<number, ConnectionHandle>();
  /** Keys of the listeners that node:cluster has for the worker. */
  const keys = new Set<string>();
  const send = child.send.bind(child) as (...args: unknown[]) => boolean;
  child.send = ((message: ClusterMessage, ...others: unknown[]) => {
    if (message.act === 'newconn' && message.seq !== undefined) unaccepted.set(message.seq, others[0] as object);
    else if (message.ack !== undefined && message.key !== undefined) keys.add(message.key);
    return send(message, ...others);
  }) as ChildProcess['send'];
  // This listener runs before node:cluster, which opens the listener of the worker.
  child.prependListener('internalMessage', ({ act, ack }: ClusterMessage) => {
    if (act === 'queryServer') gap.makeWay(id);
    if (ack !== undefined) unaccepted.delete(ack);
  });
  // This listener runs after node:cluster, which has closed the listener if no other worker has it.
  child.on('internalMessage', ({ act }: ClusterMessage) => {
    if (act === 'close') gap.begin(id);
  });
  onDisconnected(child, () => {
    // Until node:cluster hears of the end, some turns later, it would lose each connection for which it is this worker's turn.
    for (const key of keys) child.emit('internalMessage', { cmd: 'NODE_CLUSTER', act: 'close', key });
    gap.begin(id);
  });

  return () => {
    // A worker acknowledges a connection before it reads from it, so an unacknowledged connection has lost no bytes.
    for (const [ack, handle] of unaccepted) {
      if (gap.isClosed()) child.emit('internalMessage', { cmd: 'NODE_CLUSTER', ack, accepted: false });
      // node:cluster closes the listener with its last worker, and would never pass on a connection that is given back later.
      else gap.hold(new Socket({ handle, pauseOnCreate: true, allowHalfOpen: true } as object));
    }
  };
}

/** Calls back at once when the channel of a process is at its end. Node emits an event for this some turns later. */
function onDisconnected(child: ChildProcess, handle: () => void): void {
  let isConnected = child.connected;
  Object.defineProperty(child, 'connected', {
    configurable: true,
    enumerable: true,
    get: () => isConnected,
    set(next: boolean) {
      if (isConnected && !next) handle();
      isConnected = next;
    },
  });
}

/** Interval of the checks for a closed channel. */
const LOOK_MS = 100;

/** Tells node:cluster that the channel of an ended worker has ended, if Node has not done so. */
export function endChannel(worker: Worker, disconnected: Promise<void>): void {
  const timer = setInterval(() => {
    if (!worker.isConnected()) worker.process.emit('disconnect');
  }, LOOK_MS);
  void disconnected.then(() => clearInterval(timer));
}
