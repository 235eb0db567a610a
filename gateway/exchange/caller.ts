// The types of a caller: the owner of the credentials of a request, and its organization.

export type Mode = 'live' | 'test';

/** A customer of the platform, and the facts that all its keys share. */
export interface Organization {
  readonly id: string;
  readonly name: string;
  readonly tier: string;
  readonly state: 'active' | 'suspended';
  /** E-mail addresses for notices. */
  readonly contacts: readonly string[];
  /** Whether this is the organization of the platform's own staff. Only its keys may hold operator scopes. */
  readonly operator: boolean;
}

/**
 * How a caller authenticates. `apiKey` is an API key or a token; `basic` is user name and password; `session` is the cookie of a person who
 * has signed in.
 */
export type Scheme = 'apiKey' | 'basic' | 'session';

/** Written and read by `caller-memory.ts` alone. */
export type CallerMemory = unknown[];

/** The owner of the credentials. Every request of a caller has the same object, until something about the caller changes. */
export interface Caller {
  /** Key id, the subject of a token as its issuer names it, or `anonymous` on public operations. */
  readonly subject: string;
  readonly scheme: Scheme;
  /** The configured name of the issuer of a token, or of the provider of a session. A subject is unique only within its issuer. */
  readonly issuer: string | undefined;
  /** The organization; undefined only on public operations. */
  readonly organization: Organization | undefined;
  readonly mode: Mode;
  readonly scopes: ReadonlySet<string>;
  readonly revoked: boolean;
  /** Epoch milliseconds; Infinity for a key without an end. */
  readonly expiresAtMs: number;
  /** Whether a client address may use this key; absent if any may. */
  readonly allowsAddress: ((address: string) => boolean) | undefined;
  /** Id of the session. */
  readonly session?: string | undefined;
  /** Values that the gateway caches with the caller between requests; undefined for a caller that is made for one request. */
  readonly memory?: CallerMemory;
}
