// Connections on their way to a worker. Node 24 forgets those that a worker had not taken when it was killed: nobody would ever close
// them, their clients would wait for ever, and while one was being handed over, that the channel has ended would not be told.

import type { ChildProcess } from 'node:child_process';
import type { Worker } from 'node:cluster';

/** What the two sides of node:cluster say to each other; a version that says it otherwise rescues nothing and breaks nothing. */
interface ClusterMessage {
  readonly cmd?: string;
  readonly act?: string;
  readonly seq?: number;
  readonly ack?: number;
}

/** Notes which connections the worker has been handed and has not taken. Answers how to give those to others, once it has ended. */
export function followConnections({ process: child }: Worker): () => void {
  const untaken = new Set<number>();
  const send = child.send.bind(child) as (...args: unknown[]) => boolean;
  child.send = ((message: ClusterMessage, ...others: unknown[]) => {
    if (message.act === 'newconn' && message.seq !== undefined) untaken.add(message.seq);
    return send(message, ...others);
  }) as ChildProcess['send'];
  child.on('internalMessage', ({ ack }: ClusterMessage) => {
    if (ack !== undefined) untaken.delete(ack);
  });

  return () => {
    // A worker says that it takes a connection before it reads from it: what it has not said so of is as the client left it.
    for (const ack of untaken) child.emit('internalMessage', { cmd: 'NODE_CLUSTER', ack, accepted: false });
  };
}

/** How often it is looked whether the channel of a worker that has ended has ended too. */
const LOOK_MS = 100;

/** Has node:cluster see that the channel of a worker, which has ended, has ended too, in case it does not by itself. */
export function endChannel(worker: Worker, disconnected: Promise<void>): void {
  const look = setInterval(() => {
    if (!worker.isConnected()) worker.process.emit('disconnect');
  }, LOOK_MS);
  void disconnected.then(() => clearInterval(look));
}
