// The interface of session stores, which keep the sessions of people who have signed in. Every method settles within a bounded time, and
// rejects while the store cannot be reached.

import type { Awaitable } from '../../shared/awaitable.ts';

/** A session without its tokens, which the store keeps sealed. */
export interface Session {
  /** The name of the session in lists and logs, `ses_…`. It opens nothing. */
  readonly id: string;
  /** SHA-256 of the cookie, base64url. The cookie itself is not stored. */
  readonly hash: string;
  /** Configured name of the provider that has signed the person in. */
  readonly provider: string;
  /** `sub` of the provider. */
  readonly subject: string;
  /** `sid` of the provider; undefined if it names none. */
  readonly providerSid: string | undefined;
  /** Id of the organization. */
  readonly organization: string;
  /** The claims that the gateway needs later, as at the login. */
  readonly claims: Readonly<Record<string, unknown>>;
  /** The name of the device in a list of sessions. */
  readonly device: string;
  readonly createdAtMs: number;
  /** Absolute end. */
  readonly endsAtMs: number;
  /** The session ends after this time without a use. */
  readonly idleMs: number;
  /** The last use that was written; `touch` is not called for each use. */
  readonly usedAtMs: number;
  /** When the access token ends. */
  readonly accessEndsAtMs: number;
  /** The lifetime with which the access token was issued. */
  readonly accessLivesMs: number;
  /** Whether a refresh token is stored. Without a refresh token the session lives as long as its own times allow. */
  readonly refreshable: boolean;
  /** 0 at the login; counts the refreshes. */
  readonly generation: number;
  /** The sealed tokens: `openTokens` opens them. */
  readonly sealedTokens: string;
}

export interface SessionTokens {
  readonly accessToken: string;
  readonly refreshToken: string | undefined;
  readonly idToken: string | undefined;
}

/** Tokens with the life of the access token, counted from now. */
export interface IssuedTokens extends SessionTokens {
  readonly accessLivesMs: number;
}

/** A session as the login makes it, to which the store adds the times. */
export interface NewSession
  extends Pick<
    Session,
    'id' | 'hash' | 'provider' | 'subject' | 'providerSid' | 'organization' | 'claims' | 'device' | 'idleMs'
  > {
  /** Until the absolute end, counted from now. */
  readonly livesMs: number;
}

export interface LoginBounds {
  /** `nowMs()` of the store when the person was sent to the provider. */
  readonly begunAtMs: number;
  /** `sessions.perPersonMax`: the sessions of the person whose last use is longest ago end to make room. */
  readonly perPersonMax: number;
}

export type EndReason =
  /** The person signed out, here or on another device. */
  | 'signed_out'
  /** The provider sent a logout token. */
  | 'provider'
  /** The provider refuses to refresh: `invalid_grant`. */
  | 'refused'
  /** The outcome of the refresh is unknown, and the access token has ended. */
  | 'lost'
  | 'operator'
  /** A newer session of the person replaced this session. */
  | 'replaced';

/** A verified logout token (OpenID Connect Back-Channel Logout 1.0). One of `sid` and `subject` is set; `sid` has priority. */
export interface ProviderLogout {
  readonly provider: string;
  readonly sid: string | undefined;
  readonly subject: string | undefined;
  readonly jti: string;
  /** Until when a logout token with this `jti` is refused, which is at least as long as the token itself is accepted. */
  readonly rememberUntilMs: number;
}

/** One row of the log of ends, which running gateways follow. */
export interface SessionEnd {
  /** Increases in commit order, because a reader that continues after the last number must not miss an end. */
  readonly sequence: number;
  readonly atMs: number;
  readonly id: string;
  readonly hash: string;
  readonly reason: EndReason;
}

export interface EndsRead {
  readonly latest: number;
  readonly changes: readonly SessionEnd[];
  /** The clock of the store. */
  readonly nowMs: number;
  /** See `ChangesRead`. */
  readonly isAnother?: boolean;
}

interface SessionEnds {
  /** Oldest first. `latest`: the highest sequence number of the log. */
  since(sequence: number, limit: number): Awaitable<EndsRead>;
  /** Calls back soon after an end. A call may be lost, so poll `since` as well. Returns a function that ends the subscription. */
  subscribe(onAnnounced: () => void): () => void;
}

/** The sessions of an organization, or of a person. */
export type SessionsOf =
  | { readonly organization: string }
  | { readonly person: { readonly provider: string; readonly subject: string } };

export interface SessionPage {
  /** Sessions up to this one are left out. */
  readonly after?: Pick<Session, 'createdAtMs' | 'id'> | undefined;
  readonly limit: number;
}

/**
 * The right to redeem the refresh token of one generation of one session. While the lease runs it has one holder. After it has run out,
 * another holder gets it only if the token was not sent, or may be sent again.
 */
export interface RefreshLease {
  readonly hash: string;
  readonly generation: number;
  /** The name of the holder. A call whose reply was lost can be repeated with the same name. */
  readonly owner: string;
  /** The fencing token, which grows with each lease of a session. */
  readonly fence: number;
  /** The time after the first sending in which the provider accepts the token again; 0 if it never does. */
  readonly reuseMs: number;
}

export interface RefreshTerms extends Pick<RefreshLease, 'reuseMs'> {
  /** The lease ends after this time without `renew`. */
  readonly forMs: number;
  /** A call that reaches the store later takes nothing, because its caller no longer waits for the lease, and would not use it. */
  readonly notAfterMs: number;
}

export type RefreshTake =
  | { readonly state: 'taken'; readonly lease: RefreshLease; readonly session: Session }
  /** Another holder has the lease. `endsInMs`: when its lease runs out unless the holder renews it. */
  | { readonly state: 'held'; readonly endsInMs: number }
  /** An earlier holder may have redeemed the token, and its lease has run out. */
  | { readonly state: 'unknown'; readonly session: Session }
  /** The call came too late. */
  | { readonly state: 'late' }
  /** The stored generation is a later one. */
  | { readonly state: 'succeeded'; readonly session: Session }
  | { readonly state: 'ended' };

/** The steps of a refresh, which `refresh/` calls. Each step may be repeated. */
export interface SessionRefreshes {
  take(session: Session, owner: string, terms: RefreshTerms): Awaitable<RefreshTake>;
  /**
   * Prolongs a lease, and restores it if the store has lost it. Returns false if the lease is over, or if the token may not be sent again.
   * Call it with `sentForMs` 0 before the token is sent. The store then notes the sending, and the token may be sent only if this call
   * returns true.
   *
   * @param sentForMs the time since the token was sent; 0 if it is about to be sent; undefined if it is not sent yet
   */
  renew(lease: RefreshLease, forMs: number, sentForMs: number | undefined): Awaitable<boolean>;
  /**
   * Writes the successor, and returns the stored session: another one if a later holder has written, or may. Returns undefined if the
   * session has ended.
   */
  replaceTokens(lease: RefreshLease, tokens: IssuedTokens): Awaitable<Session | undefined>;
  /**
   * Gives the lease back, because this holder has certainly not redeemed the token. The next holder may redeem it, unless another holder
   * may have done so. If another holder has the lease now, only the note is deleted that this holder may have sent the token.
   */
  release(lease: RefreshLease): Awaitable<void>;
  /** Ends the lease of a holder that does not know whether the token was redeemed. Other instances then no longer wait for this holder. */
  giveUp(lease: RefreshLease): Awaitable<void>;
}

/** Times are epoch milliseconds by the clock of the store, because instances compare times that others have written. */
export interface SessionStore {
  nowMs(): Awaitable<number>;
  /**
   * Stores a session and returns it. Stores nothing and returns undefined in three cases. (1) A logout of the provider for its `sid` has
   * arrived before. (2) A logout for its subject has arrived since the login began. (3) The login took longer than logouts are remembered.
   */
  create(session: NewSession, tokens: IssuedTokens, login: LoginBounds): Awaitable<Session | undefined>;
  /** Returns the session; undefined if it is unknown, ended, idle for too long, or beyond its absolute end. */
  find(hash: string): Awaitable<Session | undefined>;
  /** Returns the session with this id; undefined if there is none. */
  get(id: string): Awaitable<Session | undefined>;
  /** Returns sessions by time of creation, then by id. */
  list(of: SessionsOf, page: SessionPage): Awaitable<readonly Session[]>;
  /** Writes the last uses, by hash. Never replaces a later use by an earlier one, writes nothing else, and leaves ended sessions ended. */
  touch(uses: ReadonlyMap<string, number>): Awaitable<void>;
  /** Ends a session. Returns the session as it was; undefined if it had ended before. */
  end(id: string, reason: EndReason): Awaitable<Session | undefined>;
  /** Ends all sessions of a person, and refuses logins of this person that are in progress. Returns the sessions. */
  endSubject(provider: string, subject: string, reason: EndReason): Awaitable<readonly Session[]>;
  /**
   * Ends the sessions and the logins in progress that a logout token names. Does nothing and returns undefined if the `jti` was used
   * before.
   */
  endByProvider(logout: ProviderLogout): Awaitable<readonly Session[] | undefined>;
  /** Throws an Error for operators if the tokens cannot be opened, because no known key has sealed them, or because they were changed. */
  openTokens(session: Session): SessionTokens;
  readonly refreshes: SessionRefreshes;
  readonly ends: SessionEnds;
  close(): Awaitable<void>;
}
