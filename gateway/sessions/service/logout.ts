// Handles POST /session/logout and POST /session/backchannel-logout, which end sessions here and at the provider. Throws
// logout_token_invalid, provider_unavailable, session_store_unavailable.

import { GatewayError } from '../../catalogue/errors.ts';
import { clearedSessionCookieLine } from '../cookies.ts';
import type { LogoutClaims } from '../provider/logout-token.ts';
import type { Provider } from '../provider/provider.ts';
import { awayIn, providerReason } from '../provider/provider-fetch.ts';
import { fromStore } from '../store-away.ts';
import { jsonAnswer, type SessionHandler, servedOrigin, setCookies } from './answer.ts';
import type { SessionDeps } from './deps.ts';
import { endAtProvider, openedTokensOf } from './end-at-provider.ts';

/** Ends the session here first, because the cookie must be worth nothing afterwards, even if the provider fails. */
export const logout: SessionHandler = async (deps, exchange) => {
  const { reader, live, settings } = deps;
  const { origin, isSecure } = servedOrigin(deps, exchange);
  const session = reader.sessionOf(exchange.caller);
  const ended = await fromStore(() => live.end(session.id, 'signed_out'));
  setCookies(exchange, [clearedSessionCookieLine(isSecure)]);
  if (ended !== undefined) endAtProvider(deps, ended);
  const tokens = openedTokensOf(deps, session);
  const address =
    tokens && (await deps.providers.get(session.provider)?.logoutAddress(tokens, origin + settings.afterLogout));
  return jsonAnswer({ provider_logout_url: address ?? null });
};

/** Ends sessions for a logout token. The provider sends this request, and not a browser, so only the token authenticates it. */
export const takeLogoutToken: SessionHandler = async (deps, exchange) => {
  const token = new URLSearchParams(exchange.rawBody?.toString('latin1') ?? '').get('logout_token') ?? '';
  const { provider, claims } = await verifyToken(deps, token);
  const { sid, subject, jti, refusedUntilMs } = claims;
  const logoutOf = { provider: provider.name, sid, subject, jti, rememberUntilMs: refusedUntilMs };
  const ended = await fromStore(() => deps.live.endByProvider(logoutOf));
  if (ended === undefined)
    throw new GatewayError('logout_token_invalid', { cause: new Error('its jti was seen before') });
  return jsonAnswer({ ended: ended.length });
};

/**
 * Returns the claims, verified by the first provider whose key has signed the token. The issuer in the token alone proves nothing, because
 * an attacker can write any issuer.
 */
async function verifyToken(
  { providers }: SessionDeps,
  token: string,
): Promise<{ readonly provider: Provider; readonly claims: LogoutClaims }> {
  let cause: unknown = new Error('there is no provider of this issuer');
  const issuer = issuerIn(token);
  for (const provider of providers.values()) {
    if (provider.settings.issuer.replace(/\/$/, '') !== issuer?.replace(/\/$/, '')) continue;
    try {
      return { provider, claims: await provider.verifyLogoutToken(token) };
    } catch (error) {
      if (awayIn(error) !== undefined)
        throw new GatewayError('provider_unavailable', { cause: new Error(providerReason(error)) });
      cause = error;
    }
  }
  throw new GatewayError('logout_token_invalid', { cause });
}

/** Reads the issuer of an unverified token. Use it only to choose the provider whose keys are tried. */
function issuerIn(token: string): string | undefined {
  try {
    const { iss } = JSON.parse(Buffer.from(token.split('.', 2)[1] ?? '', 'base64url').toString()) as { iss?: unknown };
    return typeof iss === 'string' ? iss : undefined;
  } catch {
    return undefined;
  }
}
