// Types of the status that causes are read from, and of the causes that are found. Makes causes.

import type { Cause } from '../../shared/contracts/cause.ts';
import type { CredentialFault, CredentialState } from '../../shared/contracts/upstreams.ts';
import type { EventFigures } from '../history/gateway-event.ts';
import type { StoreStates } from '../stores.ts';
import { effectText } from './effect.ts';
import type { Extent } from './extent.ts';
import { count, type Telling, telling, toldText } from './telling.ts';

/** The members of `/status` that are read here. Each may be absent. */
export interface StatusForCauses extends StoreStates {
  readonly lifecycle?: string;
  /** The Redis of the gateway. `failure` is the last error of a connection to it. */
  readonly redis?: { readonly address: string; readonly failure?: string | undefined };
  /** The disk of the data directory. */
  readonly disk?: { readonly directory: string; readonly free_bytes: number; readonly total_bytes: number };
  readonly upstreams?: Readonly<Record<string, UpstreamReport>>;
  readonly issuers?: Readonly<Record<string, { readonly failure?: string; readonly read_at?: string }>>;
  /** Tiers of organizations that are missing in `limits.yaml`. */
  readonly missing_tiers?: readonly {
    readonly tier: string;
    readonly organizations: number;
    readonly in_place?: string;
  }[];
  readonly overload?: { readonly shedding?: boolean; readonly loop_overloaded?: boolean };
  readonly certificates?: readonly {
    readonly names?: readonly string[];
    /** The file; undefined for a certificate that the gateway orders. */
    readonly file?: string;
    readonly state?: string;
    readonly days_left?: number | null;
    readonly expires_at?: string | null;
    readonly last_failure?: { readonly at?: string; readonly reason: string; readonly failures?: number } | null;
  }[];
  readonly workers?: readonly {
    readonly worker: number;
    readonly state: string;
    readonly starts_at?: string | null;
    readonly restarts?: number;
    readonly since?: string;
    readonly pid?: number | null;
    /** How the last worker of this place ended by itself. */
    readonly last_death?: {
      readonly at?: string;
      readonly pid?: number;
      readonly code?: number | null;
      readonly signal?: string | null;
    };
  }[];
  /** The receivers of alerts, by name. */
  readonly alerts?: {
    readonly receivers: Readonly<
      Record<string, { readonly state: string; readonly reason: string | null; readonly failing_since: string | null }>
    >;
  };
  readonly configuration?: {
    readonly version?: string;
    readonly loaded_at?: string;
    /** The changes of the last reload; undefined before the first reload. */
    readonly changes?: readonly string[];
    readonly last_failure?: {
      readonly at: string;
      readonly needs_restart?: boolean;
      readonly mistakes: readonly string[];
    } | null;
  };
}

export interface UpstreamReport {
  readonly targets?: readonly {
    readonly address: string;
    /** The origin of the requests to it. Absent from a process of an earlier version. */
    readonly origin?: string;
    readonly mode: string;
    readonly state: string;
    /** When the latest answered request was sent; null before the first one. */
    readonly answered_at?: string | null;
    readonly last_check?: { readonly at: string } | null;
    readonly last_error?: string | null;
    readonly failing_since?: string | null;
    readonly ejected_until?: string | null;
  }[];
  readonly breaker?: Readonly<Record<string, string>>;
  readonly isolated_until?: string | null;
  readonly credential?: CredentialState;
  /** Present while nothing is sent because of the credential. */
  readonly credential_fault?: CredentialFault & { readonly began_at?: string };
  readonly shedding?: boolean;
  readonly in_flight?: number;
  readonly places?: number;
  readonly waiting?: number;
  /** Requests that the upstream has had for seconds without beginning to answer, by operation and mode. */
  readonly unanswered?: readonly {
    readonly operation: string;
    /** Absent from a process of an earlier version. */
    readonly mode?: string;
    readonly requests: number;
    readonly oldest_ms: number;
  }[];
}

/**
 * What causes are about. Each topic begins the ids of its causes, which operators write in silences and receivers: see docs/alerts.md.
 * Causes of the same severity are listed in this order: first the causes that may explain others, last those that clients do not notice.
 */
export const TOPICS = [
  'redis',
  'stores',
  'keys lost',
  'store writes',
  'silent',
  'loop',
  'shedding',
  'instance',
  'worker',
  'certificate',
  'upstream',
  'operation',
  'operations of',
  'contract',
  'slow',
  'slow operations of',
  'unknown callers',
  'errors',
  'organization',
  'near',
  'lifecycle',
  'configuration',
  'clock',
  'tier',
  'issuer',
  'receiver',
  'more',
] as const;

type Topic = (typeof TOPICS)[number];

/** The causes of which no request has to fail. */
export const SLOW_TOPICS: readonly Topic[] = ['slow', 'slow operations of'];

/** The subject of a cause. Its id is made of these parts. */
export interface About {
  readonly topic: Topic;
  /** The upstream, organization, certificate, …; absent if the topic has one subject only. */
  readonly name?: string;
  /** Distinguishes causes with the same subject. */
  readonly detail?: string;
}

/**
 * A cause that this process has found. Other code links causes by `about`. In this form instances exchange their causes; an instance of an
 * earlier version leaves out the members that `Cause` does not have.
 */
export interface FoundCause extends Cause {
  readonly about: About;
  /**
   * Distinguishes the faults of one subject that are separate incidents, such as `down` and `silent`. It is absent if the subject has one.
   */
  readonly fault?: string | undefined;
  /** The texts, with references to figures; absent if the texts have none. */
  readonly told?: { readonly cause: string | Telling; readonly consequence: string | Telling } | undefined;
  /** The operations of an upstream that the cause is about; absent if it is about all. */
  readonly operations?: readonly string[] | undefined;
  /** The counts that are the figures; absent if the figures of several instances are added. */
  readonly extent?: Extent | undefined;
  /** The requests since the cause began; absent if it concerns none. */
  readonly suffered?: EventFigures | undefined;
}

/** The fault of a service that takes requests and does not answer in time. */
export const SILENT = 'silent';

export function idOf({ topic, name, detail }: About): string {
  return [topic, name, detail].filter((part) => part !== undefined).join(' ');
}

type CauseDetails = Partial<
  Pick<
    FoundCause,
    | 'title'
    | 'since'
    | 'until'
    | 'runbook'
    | 'reason'
    | 'next'
    | 'details'
    | 'figures'
    | 'symptoms'
    | 'hasRecovered'
    | 'fault'
    | 'extent'
    | 'upstream'
    | 'operations'
  >
>;

type Text = string | Telling;

export function failureCause(about: About, cause: Text, consequence: Text, more: CauseDetails = {}): FoundCause {
  return { about, id: idOf(about), kind: 'bad', ...toldIn(cause, consequence, more), ...more };
}

export function warningCause(about: About, cause: Text, consequence: Text, more: CauseDetails = {}): FoundCause {
  return { about, id: idOf(about), kind: 'warn', ...toldIn(cause, consequence, more), ...more };
}

/** Returns the texts of a cause, with its own figures. */
export function toldIn(
  cause: Text,
  consequence: Text,
  { figures, symptoms }: Pick<Cause, 'figures' | 'symptoms'>,
): Pick<FoundCause, 'cause' | 'consequence' | 'told'> {
  const hasReferences = typeof cause !== 'string' || typeof consequence !== 'string';
  return {
    cause: toldText(cause, figures, symptoms),
    consequence: toldText(consequence, figures, symptoms),
    ...(hasReferences && { told: { cause, consequence } }),
  };
}

/** Returns the cause in the form for operators. */
export function published({
  about,
  fault: _,
  told: __,
  extent: ___,
  operations: ____,
  suffered,
  ...cause
}: FoundCause): Cause {
  if (suffered === undefined) return cause;
  const whose = about.topic === 'organization' ? '' : organizationsText(cause.organizations);
  const effect = `${effectText(suffered)}${whose}`;
  const counted = { ...cause, suffered, effect };
  return cause.hasRecovered
    ? counted
    : { ...counted, consequence: `So far: ${effect}. ${cause.consequence}`.trimEnd() };
}

const ORGANIZATIONS_NAMED_MAX = 3;

function organizationsText(names: readonly string[] = []): string {
  if (names.length === 0) return '';
  const more = names.length - ORGANIZATIONS_NAMED_MAX;
  const named = names.slice(0, ORGANIZATIONS_NAMED_MAX).join(', ');
  return `; ${names.length === 1 ? 'organization' : 'organizations'} ${named}${more > 0 ? ` and ${more} more` : ''}`;
}

/** Maximum number of causes of one kind that are shown. The others are only counted. */
const SHOWN_MAX = 4;

/** Returns the first causes, and one more that counts the others. */
export function atMost(causes: readonly FoundCause[], what: string, details: string): FoundCause[] {
  const more = causes.length - SHOWN_MAX;
  if (more <= 0) return [...causes];
  const isBad = causes.some(({ kind }) => kind === 'bad');
  const names = causes.slice(SHOWN_MAX).map(({ id }) => id);
  const rest = (isBad ? failureCause : warningCause)(
    { topic: 'more', name: what },
    telling`${count('others')} more ${what}.`,
    '',
    { details, figures: { others: more }, extent: { of: 'others', names } },
  );
  return [...causes.slice(0, SHOWN_MAX), rest];
}
