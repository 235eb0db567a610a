// The type of an actor: the author of a change for the audit log, and the rights that it may grant.

/** The rights of an acting key. A key that it creates or changes may have no other rights. */
export interface Grants {
  readonly scopes: ReadonlySet<string>;
  /** Addresses and ranges from which the key may be used; empty if any address may use it. */
  readonly allowedCidrs: readonly string[];
  /** Epoch milliseconds; Infinity if there is no end. */
  readonly expiresAtMs: number;
}

export interface Actor {
  readonly kind: 'key' | 'token' | 'operator' | 'command';
  /** The author in the audit log: `key_…`, `<issuer>:<subject>`, the name of an operator, or the user of a command. */
  readonly by: string;
  /** The id of the request that makes the change; undefined for a command. */
  readonly requestId?: string | undefined;
  /** Id of the organization of a key or token. */
  readonly organization?: string | undefined;
  /** The rights of the acting key; undefined for commands and operators of the console, who have no key. */
  readonly may?: Grants | undefined;
}
