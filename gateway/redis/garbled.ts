// What becomes of a connection to Redis on which bytes were damaged: it is destroyed, and a new one takes its place.

import type { Cluster, Redis } from 'ioredis';

type Report = (reason: string) => void;

const reports = new Set<Report>();

/** Calls `report` with the reason whenever a connection of this process was dropped. Returns a function that unsubscribes. */
export function onGarbledRedis(report: Report): () => void {
  reports.add(report);
  return () => void reports.delete(report);
}

/** A reply, or the question that Redis got, is not the one that was sent. It says nothing about what is stored. */
export class GarbledReply extends Error {}

/**
 * Destroys the connection: replies that arrived during an orderly close would still be taken for answers. Of a Cluster, all of them, because a
 * reply does not tell its server.
 */
export function dropGarbled(client: Redis | Cluster, reason: string): void {
  const connections = 'nodes' in client ? client.nodes('all') : [client];
  const open = connections.filter(({ stream }) => stream !== undefined && !stream.destroyed);
  for (const { stream } of open) stream.destroy(new Error(`Redis gave ${reason}`));
  if (open.length > 0) for (const report of reports) report(reason);
}
