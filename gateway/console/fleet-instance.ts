// Types of the gateways that share a Redis.

/** A running gateway: one process, or the primary process of several workers. */
export interface FleetInstance {
  readonly id: string;
  /** Host and port of its listener. */
  readonly name: string;
  readonly version: string;
  /** ISO 8601, UTC. */
  readonly started_at: string;
  /** Whether it ends in order: its silence afterwards is intended. */
  readonly ending?: boolean | undefined;
}

export interface MissingInstance extends FleetInstance {
  /** ISO 8601, UTC: when it was asked first and did not answer. */
  readonly missing_since: string;
}
