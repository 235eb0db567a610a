// The client of one configured provider: logins, refreshes, revocations and logouts. It uses the library openid-client, which is loaded when
// the first provider is used.

import type * as OpenidClient from 'openid-client';
import { isSubject } from '../grants.ts';
import type { Redeemed, Redemption } from '../refresh/redeem.ts';
import type { ProviderSettings } from '../settings.ts';
import type { IssuedTokens, Session, SessionTokens } from '../store/session-store.ts';
import { clientAuthentication } from './client-authentication.ts';
import { type LogoutClaims, verifyLogoutToken } from './logout-token.ts';
import { awayIn, createProviderFetch } from './provider-fetch.ts';
import { checkSignature, createProviderKeys, type ProviderKeys } from './provider-keys.ts';

/** The discovery document is read again after this time. */
const DISCOVERED_FOR_MS = 3_600_000;

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

export interface Provider {
  readonly name: string;
  readonly settings: ProviderSettings;
  /** Returns the address at which a login begins at the provider. Rejects with ProviderAway. */
  loginAddress(redirectUri: string, secrets: LoginSecrets): Promise<string>;
  /** Redeems the code of a callback. Rejects with ProviderAway, or with the library's error about the callback. */
  signIn(callback: URL, secrets: LoginSecrets): Promise<SignedIn>;
  /** Redeems a refresh token. Never rejects. */
  redeem(session: Session, tokens: SessionTokens, redemption: Redemption): Promise<Redeemed>;
  /** Revokes the tokens of a session, if the provider supports it. Never rejects; resolves with the reason of a failure. */
  revoke(tokens: SessionTokens): Promise<string | undefined>;
  /** Returns the address at which the browser ends the session at the provider; undefined if the provider has none, or is away. */
  logoutAddress(tokens: SessionTokens, returnTo: string): Promise<string | undefined>;
  /** Rejects with a reason, or with ProviderAway. */
  verifyLogoutToken(token: string): Promise<LogoutClaims>;
  /** Reads the discovery document. Rejects with ProviderAway or a reason. */
  discover(): Promise<OpenidClient.ServerMetadata>;
}

export interface ProviderOptions {
  readonly name: string;
  readonly settings: ProviderSettings;
  /** The lifetime of an access token, if the provider does not send `expires_in`. */
  readonly absoluteSeconds: number;
  /** Reads the secret of the client; throws a sentence. */
  readSecret(): string;
  now(): number;
}

interface Discovered {
  readonly library: typeof OpenidClient;
  readonly configuration: OpenidClient.Configuration;
  readonly keys: ProviderKeys;
  readonly secret: string;
  readonly atMs: number;
}

export function createProvider({ name, settings, absoluteSeconds, readSecret, now }: ProviderOptions): Provider {
  const { issuer, clientId, scopes, clockToleranceSeconds } = settings;
  const fetchFrom = createProviderFetch(
    new Set([new URL(issuer).origin, ...settings.endpointOrigins]),
    settings.timeoutMs,
  );
  let discovered: Discovered | undefined;
  let discovering: Promise<Discovered> | undefined;

  async function discoverNow(): Promise<Discovered> {
    const library = await import('openid-client');
    const secret = readSecret();
    const configuration = await library.discovery(
      new URL(issuer),
      clientId,
      { [library.clockTolerance]: clockToleranceSeconds },
      await clientAuthentication(library, settings.authentication, secret),
      {
        [library.customFetch]: fetchFrom,
        timeout: settings.timeoutMs / 1000,
        execute: isPlain(issuer) ? [library.allowInsecureRequests] : [],
      },
    );
    const keys = createProviderKeys(configuration.serverMetadata(), fetchFrom);
    return { library, configuration, keys, secret, atMs: now() };
  }

  /** Returns the discovery document. Reads it at most once at a time. An outdated document is used while the provider is away. */
  function discovery(): Promise<Discovered> {
    const known = discovered;
    const isCurrent = known !== undefined && known.secret === readSecret();
    if (isCurrent && now() - known.atMs < DISCOVERED_FOR_MS) return Promise.resolve(known);
    discovering ??= discoverNow()
      .then((found) => {
        discovered = found;
        return found;
      })
      .finally(() => {
        discovering = undefined;
      });
    return isCurrent ? discovering.catch(() => known) : discovering;
  }

  function issuedBy(
    answer: OpenidClient.TokenEndpointResponse & OpenidClient.TokenEndpointResponseHelpers,
    before: SessionTokens | undefined,
  ): IssuedTokens {
    return {
      accessToken: answer.access_token,
      refreshToken: answer.refresh_token ?? before?.refreshToken,
      idToken: answer.id_token ?? before?.idToken,
      accessLivesMs: (answer.expiresIn() ?? absoluteSeconds) * 1000,
    };
  }

  async function redeem(session: Session, tokens: SessionTokens, redemption: Redemption): Promise<Redeemed> {
    const { refreshToken } = tokens;
    if (refreshToken === undefined) return { kind: 'ended' };
    let isSent = false;
    try {
      const { library, configuration } = await discovery();
      if (redemption.signal.aborted) return { kind: 'away', redeemed: 'no', reason: 'it was given up' };
      if (!(await redemption.announce())) return { kind: 'away', redeemed: 'no', reason: 'it could not begin in time' };
      isSent = true;
      // The signature of a new ID token is not checked: if the keys could not be read now, the session would be lost.
      const answer = await library.refreshTokenGrant(configuration, refreshToken);
      const claims = answer.claims();
      // The new ID token has to be about the same person (OpenID Connect Core section 12.2).
      if (claims !== undefined && claims.sub !== session.subject) return { kind: 'ended' };
      return { kind: 'tokens', tokens: issuedBy(answer, tokens) };
    } catch (error) {
      return isSent ? outcomeOf(error) : { kind: 'away', redeemed: 'no', reason: providerReason(error) };
    }
  }

  return {
    name,
    settings,
    async loginAddress(redirectUri, { state, nonce, codeVerifier }) {
      const { library, configuration } = await discovery();
      const parameters = {
        ...settings.parameters,
        redirect_uri: redirectUri,
        scope: scopes.join(' '),
        state,
        nonce,
        code_challenge: await library.calculatePKCECodeChallenge(codeVerifier),
        code_challenge_method: 'S256',
      };
      const isOffered = configuration.serverMetadata().pushed_authorization_request_endpoint !== undefined;
      const address =
        isOffered && settings.pushedRequests === 'where_offered'
          ? await library.buildAuthorizationUrlWithPAR(configuration, parameters)
          : library.buildAuthorizationUrl(configuration, parameters);
      return address.href;
    },
    async signIn(callback, { state, nonce, codeVerifier }) {
      const { library, configuration, keys } = await discovery();
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
      return { subject, providerSid, claims: { ...claims }, tokens: issuedBy(answer, undefined) };
    },
    redeem,
    async revoke({ refreshToken, accessToken }) {
      try {
        const { library, configuration } = await discovery();
        if (configuration.serverMetadata().revocation_endpoint === undefined) return undefined;
        const token = refreshToken ?? accessToken;
        const hint = refreshToken === undefined ? 'access_token' : 'refresh_token';
        await library.tokenRevocation(configuration, token, { token_type_hint: hint });
        return undefined;
      } catch (error) {
        return providerReason(error);
      }
    },
    async logoutAddress({ idToken }, returnTo) {
      try {
        const { library, configuration } = await discovery();
        if (configuration.serverMetadata().end_session_endpoint === undefined) return undefined;
        return library.buildEndSessionUrl(configuration, {
          post_logout_redirect_uri: returnTo,
          ...(idToken !== undefined && { id_token_hint: idToken }),
        }).href;
      } catch {
        return undefined;
      }
    },
    async verifyLogoutToken(token) {
      const { configuration, keys } = await discovery();
      const rules = { issuer: configuration.serverMetadata().issuer, clientId, clockToleranceSeconds };
      return verifyLogoutToken(token, keys, rules, now());
    },
    discover: async () => (await discoverNow()).configuration.serverMetadata(),
  };
}

/** Converts the error of a refused refresh into an outcome. */
function outcomeOf(error: unknown): Redeemed {
  const away = awayIn(error);
  if (away !== undefined) return { kind: 'away', redeemed: away.executed, reason: away.message };
  const code = oauthCodeIn(error);
  if (code === 'invalid_grant') return { kind: 'ended' };
  // With another OAuth error, such as invalid_client, the provider has not used the refresh token. With an answer that is not an OAuth
  // error, it may have.
  return { kind: 'away', redeemed: code === undefined ? 'unknown' : 'no', reason: code ?? providerReason(error) };
}

/** Returns the code of an OAuth error (RFC 6749 section 5.2), from the body, or from the challenge to a client that is refused. */
function oauthCodeIn(thrown: unknown): string | undefined {
  for (let error = thrown, depth = 0; error instanceof Error && depth < 8; error = error.cause, depth += 1) {
    const { error: code, status } = error as { error?: unknown; status?: unknown };
    if (typeof code === 'string') return code;
    if (status === 401) return 'invalid_client';
  }
  return undefined;
}

/** Returns the reason of a failure, for operators. */
export function providerReason(error: unknown): string {
  const away = awayIn(error);
  if (away !== undefined) return away.message;
  return oauthCodeIn(error) ?? (error instanceof Error ? error.message : String(error));
}

export { awayIn };

function isPlain(issuer: string): boolean {
  return issuer.startsWith('http:');
}
