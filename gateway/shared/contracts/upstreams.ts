// The names of upstreams, and the states of the gateway's credential at an upstream. An upstream has the name of its entry in
// upstreams.yaml. One of the `servers` of an entry is called `entry@host`. Names of entries contain no `@`.

export function nameOfServer(entry: string, server: string): string {
  return `${entry}@${server}`;
}

/** Returns the entry that an upstream belongs to, which contains its settings, its rules and its names of operations. */
export function entryOfUpstream(upstream: string): string {
  const at = upstream.indexOf('@');
  return at === -1 ? upstream : upstream.slice(0, at);
}

/** Whether the upstream is one of the `servers` of an entry. */
export function isServerOfEntry(upstream: string): boolean {
  return upstream.includes('@');
}

/** Returns the remedy if a service asks for a credential, and its entry has none. The remedy is a line to copy, and its place. */
export function credentialToAdd(upstream: string): string {
  const entry = entryOfUpstream(upstream);
  const secret = `${entry.replaceAll('-', '_')}_token`;
  return `\`credential: { bearer: { secret: ${secret} } }\` to upstreams.${entry} in upstreams.yaml`;
}

/**
 * `unproven`: one request at a time is sent with it. `proven`: the upstream has accepted it. `latched`: the upstream has refused it, so
 * requests are suspended. `no_secret`: its secret is missing or cannot be parsed, so requests are suspended.
 */
export type CredentialState = 'unproven' | 'proven' | 'latched' | 'no_secret';

/** The reason why requests are suspended: the secret was refused, is missing, or cannot be read or parsed. */
export interface CredentialFault {
  readonly reason: 'refused' | 'absent' | 'unusable';
  /** The entry of the secrets. */
  readonly secret: string;
  /** Why an unusable secret cannot be read, without its value; undefined if it does not have the form of its kind. */
  readonly detail?: string;
  /** The time since which nothing has been sent, in epoch milliseconds. */
  readonly beganAtMs?: number;
}

interface CredentialMeaning {
  /** The state of the upstream for operators while no requests are sent; undefined if requests are sent. */
  readonly upstreamState: 'credential_refused' | undefined;
  /** The state after an operator has asked for another try. */
  readonly afterRetry: CredentialState;
}

/**
 * The meaning of each state. Code that depends on a state reads this table. console/page/states.js has the same rows for the browser, with
 * colours, and a test compares both.
 */
export const CREDENTIAL_STATES: Readonly<Record<CredentialState, CredentialMeaning>> = {
  unproven: { upstreamState: undefined, afterRetry: 'unproven' },
  proven: { upstreamState: undefined, afterRetry: 'proven' },
  latched: { upstreamState: 'credential_refused', afterRetry: 'unproven' },
  no_secret: { upstreamState: 'credential_refused', afterRetry: 'no_secret' },
};

/** Whether requests to the upstream are suspended because of its credential; false for an upstream without a credential. */
export function isSuspended(credential: CredentialState | undefined): boolean {
  return credential !== undefined && CREDENTIAL_STATES[credential].upstreamState !== undefined;
}
