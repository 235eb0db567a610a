// Rescues connections that were sent to a worker but not yet accepted when it was killed. Node 24 forgets them: they stay open and their
// clients wait for ever. While such a connection is in transit, Node also does not report the end of the worker's channel.

import type { ChildProcess } from 'node:child_process';
import type { Worker } from 'node:cluster';

/** Internal messages of node:cluster. With a Node version that uses others, nothing is rescued and nothing breaks. */
interface ClusterMessage {
  readonly cmd?: string;
  readonly act?: string;
  readonly seq?: number;
  readonly ack?: number;
}

/** Tracks connections that were sent to the worker but not accepted. Returns a function that hands them to other workers after its end. */
export function followConnections({ process: child }: Worker): () => void {
  const unaccepted = new Set<number>();
  const send = child.send.bind(child) as (...args: unknown[]) => boolean;
  child.send = ((message: ClusterMessage, ...others: unknown[]) => {
    if (message.act === 'newconn' && message.seq !== undefined) unaccepted.add(message.seq);
    return send(message, ...others);
  }) as ChildProcess['send'];
  child.on('internalMessage', ({ ack }: ClusterMessage) => {
    if (ack !== undefined) unaccepted.delete(ack);
  });

  return () => {
    // A worker acknowledges a connection before it reads from it, so an unacknowledged connection has lost no bytes.
    for (const ack of unaccepted) child.emit('internalMessage', { cmd: 'NODE_CLUSTER', ack, accepted: false });
  };
}

/** Interval of the checks for a closed channel. */
const LOOK_MS = 100;

/** Reports the end of an ended worker's channel to node:cluster, in case Node does not by itself. */
export function endChannel(worker: Worker, disconnected: Promise<void>): void {
  const timer = setInterval(() => {
    if (!worker.isConnected()) worker.process.emit('disconnect');
  }, LOOK_MS);
  void disconnected.then(() => clearInterval(timer));
}
