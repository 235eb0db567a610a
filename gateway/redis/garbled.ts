// Destroys a connection to Redis on which bytes were damaged, so that a new one takes its place.

import type { Cluster, Redis } from 'ioredis';

type Report = (reason: string) => void;

const reports = new Set<Report>();

/** Calls `report` with the reason whenever a connection of this process was dropped. Returns a function that unsubscribes. */
export function onGarbledRedis(report: Report): () => void {
  reports.add(report);
  return () => void reports.delete(report);
}

/** A question or its reply was damaged on its way. This says nothing about the stored data. */
export class GarbledReply extends Error {}

/**
 * Destroys the connection: replies that arrive during an orderly close would still be taken for answers. For a Cluster, destroys all
 * connections, because a reply does not name its server.
 */
export function dropGarbled(client: Redis | Cluster, reason: string): void {
  const connections = 'nodes' in client ? client.nodes('all') : [client];
  const open = connections.filter(({ stream }) => stream !== undefined && !stream.destroyed);
  for (const { stream } of open) stream.destroy(new Error(`Redis gave ${reason}`));
  if (open.length > 0) for (const report of reports) report(reason);
}
