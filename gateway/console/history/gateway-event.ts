// The type of a marker on charts.

export interface GatewayEvent {
  readonly kind: 'start' | 'reload' | 'refused' | 'restart' | 'outage' | 'warning' | 'uncounted';
  /** ISO 8601, UTC. */
  readonly at: string;
  /** The end of an outage or of a time without counts; null if it lasts. Equal to `at` for all other markers. */
  readonly until: string | null;
  readonly text: string;
  /** The subject of an outage; absent if it is the gateway. */
  readonly subject?: ShownSubject | undefined;
  /** The requests of the subject in this time; absent if none of them failed, and from an instance of an earlier version. */
  readonly figures?: EventFigures | undefined;
}

/** The number of all requests, and one of the others: that of the requests that suffered. */
export interface EventFigures {
  readonly requests: number;
  /** 5xx of the service. */
  readonly failed?: number;
  /** Refusals of an organization. */
  readonly refused?: number;
  /** 5xx of the gateway and of services. */
  readonly server_errors?: number;
}

/** A page of the console, and the name that it is about. */
export interface ShownSubject {
  readonly kind: string;
  readonly name: string;
}
