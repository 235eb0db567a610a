// The type of a marker on charts.

import type { Pauses } from '../../shared/contracts/cause.ts';
import type { About } from '../causes/cause.ts';

export interface GatewayEvent {
  readonly kind: 'start' | 'reload' | 'refused' | 'restart' | 'outage' | 'warning' | 'uncounted';
  /** ISO 8601, UTC. */
  readonly at: string;
  /** The end of an outage or of a time without counts; null if it lasts. Equal to `at` for all other markers. */
  readonly until: string | null;
  /** When a request suffered last, if the event lasts and its requests are counted. It is the end if the process is killed. */
  readonly lastAt?: string | undefined;
  readonly text: string;
  /** The cause of an outage or a warning, and its fault if the subject has several; absent from an instance of an earlier version. */
  readonly about?: About | undefined;
  readonly fault?: string | undefined;
  /** The subject of an outage; absent if it is the gateway. */
  readonly subject?: ShownSubject | undefined;
  /** The operations of the upstream that the cause is about; absent if it is about all, and from an instance of an earlier version. */
  readonly operations?: readonly string[] | undefined;
  /** The organizations whose requests suffered, as far as they are known; absent from an instance of an earlier version. */
  readonly organizations?: readonly string[] | undefined;
  /** The error codes that the causes of an outage name; absent if there are none, and from an instance of an earlier version. */
  readonly codes?: readonly string[] | undefined;
  /** The times within this one in which the cause was gone; absent if there were none. */
  readonly pauses?: Pauses | undefined;
  /** The requests of the subject in this time; absent if none of them failed, and from an instance of an earlier version. */
  readonly figures?: EventFigures | undefined;
}

/** The number of all requests, and one of the others: that of the requests that suffered. */
export interface EventFigures {
  readonly requests: number;
  /** 5xx of the service. */
  readonly failed?: number;
  /** 5xx of the gateway itself, about an operation or upstream. */
  readonly unserved?: number;
  /** Refusals of an organization, or of callers that are not known. */
  readonly refused?: number;
  /** 5xx of the gateway and of services. */
  readonly server_errors?: number;
  /** The 90th percentile of a slow operation. */
  readonly p90_ms?: number;
  /** Answers that broke the contract, and that clients got. */
  readonly broken?: number;
}

/** A page of the console, and the name that it is about. */
export interface ShownSubject {
  readonly kind: string;
  readonly name: string;
}
