// Destroys connections to Redis on which bytes were damaged. The client then opens a new connection.

import type { Cluster, Redis } from 'ioredis';

type Report = (reason: string) => void;

const reports = new Set<Report>();

/** Calls `report` with the reason whenever this process drops such a connection. Returns a function that ends the reports. */
export function onGarbledRedis(report: Report): () => void {
  reports.add(report);
  return () => void reports.delete(report);
}

/** A question or its reply was damaged on the network. The stored data may be intact. */
export class GarbledReply extends Error {}

/**
 * Destroys the connection. During an orderly close, the client would still accept replies. For a Cluster, destroys all connections, because
 * a reply does not name its server.
 */
export function dropGarbled(client: Redis | Cluster, reason: string): void {
  const connections = 'nodes' in client ? client.nodes('all') : [client];
  const open = connections.filter(({ stream }) => stream !== undefined && !stream.destroyed);
  for (const { stream } of open) stream.destroy(new Error(`Redis gave ${reason}`));
  if (open.length > 0) for (const report of reports) report(reason);
}
