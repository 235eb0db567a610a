// Upstreams: their names, and the state of the gateway's credential there, as `/status`, metrics, the console and the service for
// operators have it. The name of an upstream is the name of an entry in upstreams.yaml, or `entry@host` for one of its `servers`. Names of
// entries contain no `@`.

export function nameOfServer(entry: string, server: string): string {
  return `${entry}@${server}`;
}

/** Returns the entry that an upstream belongs to, which has its settings, its rules and its names of operations. */
export function entryOfUpstream(upstream: string): string {
  const at = upstream.indexOf('@');
  return at === -1 ? upstream : upstream.slice(0, at);
}

export function isFurtherServer(upstream: string): boolean {
  return upstream.includes('@');
}

/**
 * `unproven`: one request at a time is sent with it. `proven`: the upstream has accepted it. `latched`: it cannot be used, so requests are
 * suspended.
 */
export type CredentialState = 'unproven' | 'proven' | 'latched';

interface CredentialMeaning {
  /** The state of the upstream for operators while nothing is sent to it; undefined if requests are sent. */
  readonly upstreamState: 'credential_refused' | undefined;
  /** The state after an operator has asked for another try. */
  readonly afterRetry: CredentialState;
}

/** What each state means. Other code reads this table and does not compare states. console/page/states.js has their colours. */
export const CREDENTIAL_STATES: Readonly<Record<CredentialState, CredentialMeaning>> = {
  unproven: { upstreamState: undefined, afterRetry: 'unproven' },
  proven: { upstreamState: undefined, afterRetry: 'proven' },
  latched: { upstreamState: 'credential_refused', afterRetry: 'unproven' },
};

/** Whether requests to the upstream are suspended because of its credential; false for an upstream without one. */
export function isSuspended(credential: CredentialState | undefined): boolean {
  return credential !== undefined && CREDENTIAL_STATES[credential].upstreamState !== undefined;
}
