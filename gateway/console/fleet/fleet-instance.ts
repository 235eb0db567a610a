// Types of the gateways that share a Redis.

/** A running gateway: one process, or the primary process of several workers. */
export interface FleetInstance {
  readonly id: string;
  /** Host and port of its listener. */
  readonly name: string;
  readonly version: string;
  /** ISO 8601, UTC. */
  readonly started_at: string;
  /** The port of its admin listener, and the id of its process. An instance of an earlier version does not say them. */
  readonly admin_port?: number | undefined;
  readonly pid?: number | undefined;
  /** Whether the instance is shutting down in order, so that it is not missing if it does not answer afterwards. */
  readonly ending?: boolean | undefined;
}

export interface MissingInstance extends FleetInstance {
  /** The time of its last message or beat, in ISO 8601, UTC. */
  readonly missing_since: string;
  /** Whether its process runs; absent if it ran on another machine. */
  readonly runs?: boolean | undefined;
}

export function machineOf({ name }: Pick<FleetInstance, 'name'>): string {
  return name.slice(0, name.lastIndexOf(':'));
}

/**
 * The time after which an instance that does not answer is treated as gone for good. A container, for example, may have another name at its
 * next start.
 */
export const GONE_MS = 3_600_000;

/** An instance that was missing until a moment ago. Times are ISO 8601, UTC. */
export interface ReturnedInstance extends Pick<MissingInstance, 'id' | 'name' | 'missing_since'> {
  readonly at: string;
  /** Why the instance is no longer missing, in a sentence for operators. */
  readonly why: string;
}
