// Who acts: the author of a change, as the audit log names it, and the most that its grants may hold.

/** What an acting key holds. Nothing that it grants may go beyond it. */
export interface Grants {
  readonly scopes: ReadonlySet<string>;
  /** Addresses and ranges from which the key may be used; empty: any. */
  readonly allowedCidrs: readonly string[];
  /** Epoch milliseconds; Infinity: no end. */
  readonly expiresAtMs: number;
}

export interface Actor {
  readonly kind: 'key' | 'token' | 'operator' | 'command';
  /** For the audit log: `key_…`, `<issuer>:<subject>`, the name of an operator, or the user of a command. */
  readonly by: string;
  /** Id of the request that makes the change; undefined for a command. */
  readonly requestId?: string | undefined;
  /** Id of the organization of a key or token. */
  readonly organization?: string | undefined;
  /** What the key of the actor allows; undefined for commands and operators of the console, which have no key. */
  readonly may?: Grants | undefined;
}
