// Tells from the log line of a request whether the gateway refused it before a service had it, whether operators count it as failed, and
// which section of docs/operations.md is about it.

import { saysDiskFull } from './disk.ts';

/**
 * The codes with which `forward` refuses a request before it sends it, because the request got no place, the circuit breaker is open, or
 * the gateway has no credential that it may send. The value is the word that the console shows in place of the stage.
 */
export const REFUSED_UNSENT: Readonly<Record<string, string>> = {
  upstream_auth_failed: 'credential',
  upstream_overloaded: 'queue',
  upstream_unavailable: 'breaker',
};

interface EndedExchange {
  readonly code?: unknown;
  readonly stage?: unknown;
  /** The target that got the request; undefined if no target did. */
  readonly target?: unknown;
}

/**
 * Whether the gateway refused the request before it was sent to a service. A request that was sent may end with the same codes, but has a
 * target.
 */
export function wasRefused({ code, stage, target }: EndedExchange): boolean {
  if (code == null) return false;
  return stage !== 'forward' || (target == null && Object.hasOwn(REFUSED_UNSENT, String(code)));
}

/**
 * Whether an exchange has failed. If the gateway answers 5xx before the request is sent to the service, this is a refusal, and not a
 * failure.
 */
export function hasFailed(ended: EndedExchange & { readonly status?: unknown }): boolean {
  return Number(ended.status) >= 500 && !wasRefused(ended);
}

/** Whether the client got an answer that breaks the contract. */
export function brokeContract({ code, answer_violations: violations }: Readonly<Record<string, unknown>>): boolean {
  return code == null && violations != null;
}

const RUNBOOKS: Readonly<Record<string, string>> = {
  upstream_auth_failed: 'GatewayCredentialLatched',
  upstream_unreachable: 'GatewayTargetDown',
  upstream_unavailable: 'GatewayBreakerOpen',
  upstream_overloaded: 'GatewayShedding',
  gateway_overloaded: 'GatewayShedding',
  auth_unavailable: 'GatewayKeyStoreAway',
  records_unavailable: 'GatewayKeyStoreAway',
  internal_error: 'GatewayInternalErrors',
};

/** The sections about `gateway_overloaded` of the stages that refuse with it because their store cannot be reached. */
const RUNBOOKS_OF_STORES: Readonly<Record<string, string>> = {
  limit: 'GatewayLimitStoreAway',
  replay: 'GatewayKeyStoreAway',
};

/** Whether the gateway had no secret for the upstream of a request, so that the service has refused no secret, and nothing is latched. */
export function hadNoSecret(record: Readonly<Partial<Record<'code' | 'cause', unknown>>>): boolean {
  return lacksSecret(record) || lacksCredential(record);
}

/** Whether a request was not sent because the secret is missing or cannot be used. */
export function lacksSecret({ code, cause }: Readonly<Partial<Record<'code' | 'cause', unknown>>>): boolean {
  return code === 'upstream_auth_failed' && String(cause).startsWith(SECRET_OF_CREDENTIAL);
}

/** How the log line of such a request begins its `cause`. */
export const SECRET_OF_CREDENTIAL = 'the secret of the credential';

/** Whether the service refused a request because the entry of its upstream has no credential at all. */
export function lacksCredential({ code, cause }: Readonly<Partial<Record<'code' | 'cause', unknown>>>): boolean {
  return code === 'upstream_auth_failed' && String(cause).startsWith(WITHOUT_CREDENTIAL);
}

/** How the log line of such a request begins its `cause`. */
export const WITHOUT_CREDENTIAL = 'the service asks for a credential, and its entry sends none';

/** The codes of `REFUSED_UNSENT` that the gateway also uses for an answer of a service, which their sections do not describe. */
const OF_SERVICES_TOO = new Set(['upstream_overloaded', 'upstream_unavailable']);

/** Returns the section about a request; undefined if there is none. */
export function runbookOf(
  record: Readonly<
    Partial<Record<'code' | 'stage' | 'status' | 'target' | 'cause' | 'upstream_status' | 'answer_violations', unknown>>
  >,
): string | undefined {
  const code = String(record.code);
  const stage = String(record.stage);
  if (code === 'gateway_overloaded' && Object.hasOwn(RUNBOOKS_OF_STORES, stage))
    return saysDiskFull(String(record.cause)) ? 'GatewayDiskFull' : RUNBOOKS_OF_STORES[stage];
  if (hadNoSecret(record)) return 'GatewayCredentialMissing';
  if (record.answer_violations !== undefined) return 'GatewayAnswersBreakContract';
  const failed = hasFailed(record);
  // A service that responds with 504 gets this code, too.
  if (failed && code === 'upstream_timeout' && record.upstream_status == null) return 'GatewayTargetDown';
  // A service that responds with 503 gets the codes of the queue and the breaker, too.
  if (Object.hasOwn(RUNBOOKS, code) && !(failed && OF_SERVICES_TOO.has(code))) return RUNBOOKS[code];
  return failed ? 'GatewayUpstreamErrors' : undefined;
}

/** A target that is down has more ways to fail. */
const MORE_CODES: Readonly<Record<string, readonly string[]>> = {
  GatewayTargetDown: ['upstream_timeout', 'upstream_bad_response'],
};

/** Returns the codes of requests that are refused or fail for the reason that a section of the runbook describes. */
export function codesOfRunbook(title: string): readonly string[] {
  const codes = Object.keys(RUNBOOKS).filter((code) => RUNBOOKS[code] === title);
  return [...codes, ...(MORE_CODES[title] ?? [])];
}
