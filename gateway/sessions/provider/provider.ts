// The client of one configured provider: logins, refreshes, revocations and logouts.

import type * as OpenidClient from 'openid-client';
import { isSubject } from '../grants.ts';
import type { ProviderSettings } from '../settings.ts';
import type { IssuedTokens, Session, SessionTokens } from '../store/session-store.ts';
import { createDiscovery, type DiscoveredProvider, type DiscoveryOptions } from './discovery.ts';
import { type LogoutClaims, verifyLogoutToken } from './logout-token.ts';
import { awayIn, oauthCodeIn, providerReason } from './provider-fetch.ts';
import { checkSignature } from './provider-keys.ts';

/** The values that bind one login to one browser. */
export interface LoginSecrets {
  readonly state: string;
  readonly nonce: string;
  readonly codeVerifier: string;
}

export interface SignedIn {
  readonly subject: string;
  /** `sid`: the session at the provider. */
  readonly providerSid: string | undefined;
  readonly claims: Readonly<Record<string, unknown>>;
  readonly tokens: IssuedTokens;
}

/** The outcome of a refresh. */
export type RefreshOutcome =
  /** The provider has issued new tokens. If there is no new refresh token, the current one stays valid. */
  | { readonly kind: 'tokens'; readonly tokens: IssuedTokens }
  /** The provider refuses the token for good: `invalid_grant`. */
  | { readonly kind: 'ended' }
  /** `no`: the provider has certainly not taken the token, so the token may be sent again. */
  | { readonly kind: 'away'; readonly redeemed: 'no' | 'unknown'; readonly reason: string };

/** The conditions that a refresh checks before it sends its token. */
export interface Redemption {
  /** Aborted when nothing waits for the answer. */
  readonly signal: AbortSignal;
  /** Call it right before the token is sent. Returns false if the token must not be sent. Rejects if the store cannot be reached. */
  announce(): Promise<boolean>;
}

interface ProviderOptions extends DiscoveryOptions {
  readonly name: string;
  /** The lifetime of an access token, if the provider does not send `expires_in`. */
  readonly absoluteSeconds: number;
}

export class Provider {
  readonly name: string;
  readonly settings: ProviderSettings;
  readonly #absoluteSeconds: number;
  readonly #discovered: () => Promise<DiscoveredProvider>;
  readonly #now: () => number;

  constructor({ name, settings, absoluteSeconds, readSecret, now }: ProviderOptions) {
    this.name = name;
    this.settings = settings;
    this.#absoluteSeconds = absoluteSeconds;
    this.#discovered = createDiscovery({ settings, readSecret, now });
    this.#now = now;
  }

  /** Returns the address at which a login begins at the provider. Rejects with ProviderAway. */
  async loginAddress(redirectUri: string, { state, nonce, codeVerifier }: LoginSecrets): Promise<string> {
    const { scopes, parameters: additional, pushedRequests } = this.settings;
    const { library, configuration } = await this.#discovered();
    const parameters = {
      ...additional,
      redirect_uri: redirectUri,
      scope: scopes.join(' '),
      state,
      nonce,
      code_challenge: await library.calculatePKCECodeChallenge(codeVerifier),
      code_challenge_method: 'S256',
    };
    const isOffered = configuration.serverMetadata().pushed_authorization_request_endpoint !== undefined;
    const address =
      isOffered && pushedRequests === 'where_offered'
        ? await library.buildAuthorizationUrlWithPAR(configuration, parameters)
        : library.buildAuthorizationUrl(configuration, parameters);
    return address.href;
  }

  /** Redeems the code of a callback. Rejects with ProviderAway, or with the library's error about the callback. */
  async signIn(callback: URL, { state, nonce, codeVerifier }: LoginSecrets): Promise<SignedIn> {
    const { library, configuration, keys } = await this.#discovered();
    const answer = await library.authorizationCodeGrant(configuration, callback, {
      pkceCodeVerifier: codeVerifier,
      expectedState: state,
      expectedNonce: nonce,
      idTokenExpected: true,
    });
    // The signature is checked although the token came over TLS.
    await checkSignature(answer.id_token ?? '', keys);
    const claims = answer.claims() ?? {};
    const { sub: subject, sid } = claims as { sub?: unknown; sid?: unknown };
    if (!isSubject(subject)) throw new Error('its subject cannot be used');
    const providerSid = typeof sid === 'string' && sid !== '' && sid.length <= 255 ? sid : undefined;
    return { subject, providerSid, claims: { ...claims }, tokens: this.#issuedBy(answer, undefined) };
  }

  /** Redeems a refresh token. Never rejects. */
  async redeem(session: Session, tokens: SessionTokens, redemption: Redemption): Promise<RefreshOutcome> {
    const { refreshToken } = tokens;
    if (refreshToken === undefined) return { kind: 'ended' };
    let isSent = false;
    try {
      const { library, configuration } = await this.#discovered();
      if (redemption.signal.aborted) return { kind: 'away', redeemed: 'no', reason: 'it was given up' };
      if (!(await redemption.announce())) return { kind: 'away', redeemed: 'no', reason: 'it could not begin in time' };
      isSent = true;
      // The signature of a new ID token is not checked, because if the keys could not be read now, the session would be lost.
      const answer = await library.refreshTokenGrant(configuration, refreshToken);
      const claims = answer.claims();
      // The new ID token must be about the same person (OpenID Connect Core section 12.2).
      if (claims !== undefined && claims.sub !== session.subject) return { kind: 'ended' };
      return { kind: 'tokens', tokens: this.#issuedBy(answer, tokens) };
    } catch (error) {
      return isSent ? outcomeOf(error) : { kind: 'away', redeemed: 'no', reason: providerReason(error) };
    }
  }

  /** Revokes the tokens of a session, if the provider supports it. Never rejects; resolves with the reason of a failure. */
  async revoke({ refreshToken, accessToken }: SessionTokens): Promise<string | undefined> {
    try {
      const { library, configuration } = await this.#discovered();
      if (configuration.serverMetadata().revocation_endpoint === undefined) return undefined;
      const token = refreshToken ?? accessToken;
      const hint = refreshToken === undefined ? 'access_token' : 'refresh_token';
      await library.tokenRevocation(configuration, token, { token_type_hint: hint });
      return undefined;
    } catch (error) {
      return providerReason(error);
    }
  }

  /**
   * Returns the address at which the browser ends the session at the provider; undefined if the provider has no such address, or cannot be
   * reached.
   */
  async logoutAddress({ idToken }: SessionTokens, returnTo: string): Promise<string | undefined> {
    try {
      const { library, configuration } = await this.#discovered();
      if (configuration.serverMetadata().end_session_endpoint === undefined) return undefined;
      return library.buildEndSessionUrl(configuration, {
        post_logout_redirect_uri: returnTo,
        ...(idToken !== undefined && { id_token_hint: idToken }),
      }).href;
    } catch {
      return undefined;
    }
  }

  /** Rejects with a reason, or with ProviderAway. */
  async verifyLogoutToken(token: string): Promise<LogoutClaims> {
    const { clientId, clockToleranceSeconds } = this.settings;
    const { configuration, keys } = await this.#discovered();
    const rules = { issuer: configuration.serverMetadata().issuer, clientId, clockToleranceSeconds };
    return verifyLogoutToken(token, keys, rules, this.#now());
  }

  #issuedBy(
    answer: OpenidClient.TokenEndpointResponse & OpenidClient.TokenEndpointResponseHelpers,
    before: SessionTokens | undefined,
  ): IssuedTokens {
    return {
      accessToken: answer.access_token,
      refreshToken: answer.refresh_token ?? before?.refreshToken,
      idToken: answer.id_token ?? before?.idToken,
      accessLivesMs: (answer.expiresIn() ?? this.#absoluteSeconds) * 1000,
    };
  }
}

/** Converts the error of a refused refresh into an outcome. */
function outcomeOf(error: unknown): RefreshOutcome {
  const away = awayIn(error);
  if (away !== undefined) return { kind: 'away', redeemed: away.executed, reason: away.message };
  const code = oauthCodeIn(error);
  if (code === 'invalid_grant') return { kind: 'ended' };
  // After another OAuth error, such as invalid_client, the provider has not used the refresh token. After an answer that is not an OAuth
  // error, it may have used the token.
  return { kind: 'away', redeemed: code === undefined ? 'unknown' : 'no', reason: code ?? providerReason(error) };
}
