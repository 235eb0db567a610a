// The actions of the command line, by concern. Each concern has two implementations, on the stores of this machine (`commands/here/`), and
// by the contract of a remote gateway (`client/`). A command knows only this interface. Rejections are sentences for people.

import type { KeyRequest } from '../auth/issue-key.ts';
import type { AuditFilter, KeyStoreChange } from '../auth/store/key-store.ts';
import type { StoredKey } from '../auth/store/stored-key.ts';
import type { UpstreamReport } from '../console/causes/cause.ts';
import type { Organization } from '../exchange/caller.ts';
import type { ExchangeReport, OperatorReport } from '../explain/report.ts';
import type { LimitUsageReport, LimitUse, ResetReport } from '../limits/limit-usage.ts';
import type { Notice } from '../versions/notices.ts';
import type { Attention } from './attention.ts';
import type { OneKey } from './read-keys.ts';
import type { UsageInput } from './usage.ts';

/** The gateways in which a change is in force, and the gateways in which it is not yet. */
export interface InForceReport {
  /** The number of running gateways that have confirmed the change. */
  readonly confirmed: number;
  readonly unconfirmed: number;
  readonly waitedMs: number;
  /** A line, for people, for each gateway that has not confirmed the change; empty if only their number is known. */
  readonly missing: readonly string[];
  /** Members for programs, in addition to the members of the changed record. */
  readonly json: object;
}

/** A change that was made. */
export interface MadeChange<Result> {
  readonly result: Result;
  /** Waits until the change, which is made already, is in force. Rejects if this stays unknown. Undefined if the caller does not wait. */
  readonly inForce: (() => Promise<InForceReport>) | undefined;
}

export type OrganizationChange = 'suspend' | 'resume' | { readonly tier: string };

interface OrganizationActions {
  create(wanted: Omit<Organization, 'state'>): Promise<Organization>;
  /** Yields the organizations in the order of their ids, beginning after the id `after`. */
  list(after: string | undefined): AsyncIterable<readonly Organization[]>;
  /** @param waitMs undefined if the change is not waited for */
  change(id: string, change: OrganizationChange, waitMs: number | undefined): Promise<MadeChange<Organization>>;
}

export interface NewKey {
  /** The key itself. */
  readonly key: string;
  readonly record: StoredKey;
}

export interface KeyRotation extends NewKey {
  /** The replaced key, after the rotation. */
  readonly previous: StoredKey;
}

/** Scopes that a key gets and loses. */
interface ScopesChange {
  readonly add: readonly string[];
  readonly remove: readonly string[];
}

/** Returns the scopes of a key after a change. */
export function scopesAfter(before: readonly string[], { add, remove }: ScopesChange): string[] {
  return [...new Set([...before, ...add])].filter((scope) => !remove.includes(scope));
}

export type NewKeyRequest = Omit<KeyRequest, 'by' | 'organization'> & Pick<OneKey, 'organization'>;

interface KeyActions {
  /** Yields the keys, oldest first, beginning after the key `after`. */
  list(of: {
    readonly organization: string | undefined;
    readonly after: string | undefined;
  }): AsyncIterable<readonly StoredKey[]>;
  create(request: NewKeyRequest): Promise<NewKey>;
  changeScopes(one: OneKey, change: ScopesChange, waitMs: number | undefined): Promise<MadeChange<StoredKey>>;
  rotate(
    one: OneKey,
    how: { readonly overlapMs: number; readonly expiresAtMs: number | undefined },
    waitMs: number | undefined,
  ): Promise<MadeChange<KeyRotation>>;
  /** Revokes a key. @param how with `allowLast`, even if no key of the organization works afterwards */
  revoke(
    one: OneKey,
    how: { readonly reason: string | undefined; readonly allowLast: boolean },
    waitMs: number | undefined,
  ): Promise<MadeChange<StoredKey>>;
}

interface AuditActions {
  /** Returns the changes, newest first. */
  list(filter: AuditFilter): Promise<readonly KeyStoreChange[]>;
}

type OnMachine = 'rule' | 'rule_at' | 'source';

/** The usage of the limits of an organization. The rule and the store of a limit are known only on the machine of the gateway. */
export type ShownLimits = Omit<LimitUsageReport, 'limits'> & {
  readonly limits: readonly (Omit<LimitUse, OnMachine> & Partial<Pick<LimitUse, OnMachine>>)[];
};

interface LimitActions {
  /** Returns the use of limits. @param organization undefined for the organization of the acting key */
  show(organization: string | undefined): Promise<ShownLimits>;
  reset(organization: string): Promise<ResetReport>;
}

interface UsageOfOrganization {
  readonly data: readonly Readonly<Record<string, unknown>>[];
  /** ISO 8601. */
  readonly complete_until: string;
}

export type UsageRequest = Omit<UsageInput, 'position' | 'limit' | 'organization'> & Pick<OneKey, 'organization'>;

interface UsageActions {
  /** Returns the usage counts of all periods. @param question the organization in it is undefined for the organization of the acting key */
  list(question: UsageRequest): Promise<UsageOfOrganization>;
}

/** One explained request. The contract shows no log lines, but the remedy and the page of a refusal. */
export type ExplainedRequest = ExchangeReport &
  Partial<OperatorReport> & {
    readonly remedy?: string | null;
    readonly doc_url?: string | null;
  };

interface RequestActions {
  /** Returns the requests with this id, oldest first, at least one. @param id of the request, or the X-Request-Id of the client */
  explain(id: string): Promise<readonly ExplainedRequest[]>;
}

/** An organization that calls deprecated operations, as commands print it. Members that the contract does not contain are null. */
export interface CallerOfDeprecated {
  readonly organization: string;
  readonly name: string | null;
  readonly contacts: readonly string[];
  readonly calls: number | null;
  readonly last_call_at: string | null;
  readonly operations: readonly {
    readonly operation: string;
    readonly sunset: string | null;
    readonly calls: number | null;
    readonly last_call_at: string | null;
  }[];
}

interface DeprecationActions {
  uses(sinceMs: number): Promise<readonly CallerOfDeprecated[]>;
  /** Returns the messages to organizations. These are known only on the machine of the gateway, because the contract shows no contacts. */
  notices(sinceMs: number): Promise<readonly Notice[]>;
}

interface ShownUpstreams {
  /** The state of the process; null if the report came over the contract, which does not contain it. */
  readonly lifecycle: string | null;
  readonly upstreams: Readonly<Record<string, UpstreamReport>>;
}

interface UpstreamActions {
  /** Returns the upstreams as the answering gateway sees them. The contract shows neither the last errors nor the mode of a breaker. */
  states(): Promise<ShownUpstreams>;
  /** Sends a refused credential again. Resolves with false if no credential was refused. */
  retry(name: string): Promise<boolean>;
}

interface AlertActions {
  /** Returns the causes that need attention, and the state of alerts. */
  report(): Promise<Attention>;
  /** Begins a silence, or ends it. Resolves with its end, ISO 8601; with null if it was ended. @param seconds 0 ends the silence */
  silence(causes: string, seconds: number, reason: string): Promise<string | null>;
}

export interface Actions {
  readonly organizations: OrganizationActions;
  readonly keys: KeyActions;
  readonly audit: AuditActions;
  readonly limits: LimitActions;
  readonly usage: UsageActions;
  readonly requests: RequestActions;
  readonly deprecations: DeprecationActions;
  readonly upstreams: UpstreamActions;
  readonly alerts: AlertActions;
}

/** Loads and opens the actions of one concern. */
export type OpenActions = <Concern extends keyof Actions>(concern: Concern) => Promise<Actions[Concern]>;
