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
