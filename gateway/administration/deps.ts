// The dependencies of actions. Each action names the dependencies that it needs; a command has only some of them.

import type { DigestOf } from '../auth/api-key.ts';
import type { RandomBytes } from '../auth/base62.ts';
import type { KeyStore } from '../auth/store/key-store.ts';
import type { Configuration } from '../configuration.ts';
import type { LimitUsage } from '../limits/limit-usage.ts';
import type { OperatorSessions } from '../sessions/service/operators.ts';
import type { AskFleet } from '../shared/questions/fleet.ts';
import type { Usage } from '../usage/usage.ts';
import type { AffectedOrganization } from '../versions/report.ts';
import type { UpstreamView } from './upstream-states.ts';

/** The facts about a certificate that the contract shows. */
interface ServedCertificate {
  readonly names: readonly string[];
  /** ISO 8601; null if none has been issued yet. */
  readonly expires_at: string | null;
  /** The server that issues a certificate which the gateway orders. */
  readonly acme?: string;
}

export interface AdministrationDeps {
  readonly store: KeyStore;
  readonly digestOf: DigestOf;
  readonly randomBytes: RandomBytes;
  /** Epoch milliseconds. */
  now(): number;
  /** Returns the configuration in force. */
  configuration(): Configuration;
  /** Returns the time since which the configuration is in force, in epoch milliseconds. */
  inForceSinceMs(): number;
  /** The use of limits by organizations. */
  readonly limitUsage: LimitUsage;
  /** The usage counts of organizations. */
  readonly usage: Pick<Usage, 'page'>;
  /** Asks all processes of all instances. */
  readonly askFleet: AskFleet;
  /** Returns the state of the upstreams in this process. */
  upstreams(): readonly UpstreamView[];
  /** Returns the certificates that this process serves. */
  certificates(): readonly ServedCertificate[];
  /** Returns the deprecated operations that were called lately, by organization, for one organization or for all. */
  deprecatedUses(organization?: string): Promise<readonly AffectedOrganization[]>;
  /** The sessions of people; undefined if people cannot sign in. */
  readonly sessions: OperatorSessions | undefined;
  /** The name of the instance: `host:port`. */
  readonly instance: string;
  /** Version of the gateway. */
  readonly version: string;
}
