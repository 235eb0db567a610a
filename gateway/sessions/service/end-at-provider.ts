// Ends sessions at their providers, after they have ended here.

import { providerReason } from '../provider/provider-fetch.ts';
import type { Session, SessionTokens } from '../store/session-store.ts';
import type { SessionDeps } from './deps.ts';

/** Revokes the tokens of an ended session in the background, because no person should wait for a provider that cannot be reached. */
export function endAtProvider(deps: SessionDeps, session: Session): void {
  const tokens = openedTokensOf(deps, session);
  const provider = deps.providers.get(session.provider);
  if (tokens === undefined || provider === undefined) return;
  void provider.revoke(tokens).then((reason) => {
    if (reason !== undefined) deps.onProviderFailure(provider.name, 'revocation', reason);
  });
}

/**
 * Returns the tokens of a session; undefined if no known key opens them. The gateway cannot revoke such tokens, but without that key they
 * are of no use to an attacker either.
 */
export function openedTokensOf({ store, onProviderFailure }: SessionDeps, session: Session): SessionTokens | undefined {
  try {
    return store.openTokens(session);
  } catch (error) {
    onProviderFailure(session.provider, 'opening of stored tokens', providerReason(error));
    return undefined;
  }
}
