// The interface between a refresher and a provider.

import type { IssuedTokens, Session, SessionTokens } from '../store/session-store.ts';

export type Redeemed =
  /** The provider has issued new tokens. If there is no new refresh token, the present one stays valid. */
  | { readonly kind: 'tokens'; readonly tokens: IssuedTokens }
  /** The provider refuses the token for good: `invalid_grant`. */
  | { readonly kind: 'ended' }
  /** `no`: the provider has certainly not taken the token, so it may be tried again. */
  | { readonly kind: 'away'; readonly redeemed: 'no' | 'unknown'; readonly reason: string };

export interface Redemption {
  /** Aborted when nothing waits for the answer. */
  readonly signal: AbortSignal;
  /** Call it right before the token is sent. Returns false if the token must not be sent. Rejects if the store is away. */
  announce(): Promise<boolean>;
}

/** Redeems the refresh token at the provider of the session. A rejection counts as `away` with an unknown outcome. */
export type Redeem = (session: Session, tokens: SessionTokens, redemption: Redemption) => Promise<Redeemed>;
