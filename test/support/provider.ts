// A provider that people sign in with, for tests: `oidc-provider` in the process of the test, with rotation of refresh tokens and detection
// of their reuse. It signs in whom the test names, without a form.

import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { SignJWT } from 'jose';
import Provider, { type ClientMetadata, type Configuration } from 'oidc-provider';

interface TestPerson {
  readonly subject: string;
  readonly claims?: Readonly<Record<string, unknown>>;
}

export interface TestProvider {
  readonly issuer: string;
  /** The secret of the client: a text, or a private JWK. */
  readonly secret: string;
  /** Its entry under `sessions.providers`, without the secrets entry. */
  readonly entry: Readonly<Record<string, unknown>>;
  /** The person who signs in from now on; `refuse` for none. */
  person: TestPerson | 'refuse';
  /** Every request that has arrived: method and path. */
  readonly requests: string[];
  /** Replaces the answer to requests for this path. */
  answers(path: string, answer: RequestListener | undefined): void;
  /** Codes of errors that the provider has given, such as invalid_grant. */
  readonly errors: string[];
  /** Returns a logout token with valid claims, replaced by these claims. An undefined claim is left out. */
  logoutToken(claims: Readonly<Record<string, unknown>>, header?: Readonly<Record<string, unknown>>): Promise<string>;
  /** The provider itself. */
  readonly provider: Provider;
  close(): Promise<void>;
}

export interface ProviderOptions {
  /** The origin of the gateway. */
  readonly gatewayOrigin: string;
  readonly authentication?: 'private_key_jwt' | 'client_secret_basic' | 'client_secret_post';
  readonly requirePushedRequests?: boolean;
  /** The lifetime of access tokens. */
  readonly accessSeconds?: number;
  readonly client?: Partial<ClientMetadata>;
  readonly configuration?: Configuration;
}

export const PROVIDER_SECRET_ENTRY = 'session_client';

export async function startProvider(options: ProviderOptions): Promise<TestProvider> {
  const { gatewayOrigin, authentication = 'client_secret_basic', accessSeconds = 3600 } = options;
  let handle: RequestListener = (_request, response) => response.writeHead(503).end();
  const requests: string[] = [];
  const errors: string[] = [];
  const instead = new Map<string, RequestListener>();
  const server = createServer((request, response) => {
    const path = (request.url ?? '').replace(/\?.*/, '');
    requests.push(`${request.method} ${path}`);
    (instead.get(path) ?? handle)(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const signingKey = { ...privateKey.export({ format: 'jwk' }) };
  const { secret, metadata } = clientOf(authentication);
  const state: { person: TestPerson | 'refuse' } = { person: { subject: 'ada', claims: { org: 'org_test' } } };
  const claimsOf = new Map<string, Readonly<Record<string, unknown>>>();

  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: 'gateway',
        ...metadata,
        redirect_uris: [`${gatewayOrigin}/session/callback`],
        post_logout_redirect_uris: [`${gatewayOrigin}/`],
        backchannel_logout_uri: `${gatewayOrigin}/session/backchannel-logout`,
        backchannel_logout_session_required: true,
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        ...options.client,
      },
    ],
    jwks: { keys: [{ ...signingKey, kid: 'provider-1', alg: 'RS256', use: 'sig' }] },
    cookies: { keys: [randomBytes(16).toString('hex')] },
    scopes: ['openid', 'offline_access', 'profile'],
    claims: { openid: ['sub', 'org', 'roles'], profile: ['name', 'email'] },
    conformIdTokenClaims: false,
    features: {
      devInteractions: { enabled: false },
      backchannelLogout: { enabled: true },
      pushedAuthorizationRequests: {
        enabled: true,
        requirePushedAuthorizationRequests: options.requirePushedRequests === true,
      },
      revocation: { enabled: true },
      rpInitiatedLogout: { enabled: true },
    },
    ttl: {
      AccessToken: accessSeconds,
      IdToken: 3600,
      RefreshToken: 86_400,
      Session: 86_400,
      Grant: 86_400,
      Interaction: 600,
    },
    rotateRefreshToken: true,
    issueRefreshToken: async () => true,
    findAccount: async (_context, subject) => ({
      accountId: subject,
      claims: async () => ({ sub: subject, ...claimsOf.get(subject) }),
    }),
    // It refuses addresses of this machine, where the gateway of a test is.
    fetch(url, init = {}) {
      const { dispatcher: _, ...others } = init as RequestInit & { readonly dispatcher?: unknown };
      return fetch(url, others);
    },
    interactions: { url: (_context, interaction) => `/interaction/${interaction.uid}` },
    ...options.configuration,
  });
  const events: { on(event: string, listener: (context: unknown, error: Error) => void): unknown } = provider;
  for (const event of ['grant.error', 'authorization.error', 'revocation.error', 'server_error', 'backchannel.error'])
    events.on(event, (_context, error) => errors.push(`${event}: ${error.message}`));

  async function interact(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { person } = state;
    const { prompt, params, grantId } = await provider.interactionDetails(request, response);
    if (person === 'refuse') {
      const refused = { error: 'access_denied', error_description: 'The person declined.' };
      return provider.interactionFinished(request, response, refused, { mergeWithLastSubmission: false });
    }
    if (prompt.name === 'login') {
      claimsOf.set(person.subject, person.claims ?? {});
      const login = { accountId: person.subject };
      return provider.interactionFinished(request, response, { login }, { mergeWithLastSubmission: false });
    }
    const { session } = await provider.interactionDetails(request, response);
    const known = grantId === undefined ? undefined : await provider.Grant.find(grantId);
    const grant =
      known ?? new provider.Grant({ accountId: session?.accountId as string, clientId: String(params.client_id) });
    grant.addOIDCScope(String(params.scope));
    return provider.interactionFinished(
      request,
      response,
      { consent: { grantId: await grant.save() } },
      { mergeWithLastSubmission: true },
    );
  }

  const callback = provider.callback();
  handle = (request, response) => {
    if (!request.url?.startsWith('/interaction/')) return void callback(request, response);
    interact(request, response).catch((error: Error) => {
      errors.push(`interaction: ${error.message}`);
      response.writeHead(500).end();
    });
  };

  return {
    issuer,
    secret,
    entry: {
      issuer,
      clientId: 'gateway',
      authentication: { method: authentication, secret: PROVIDER_SECRET_ENTRY },
      scopes: ['openid', 'offline_access', 'profile'],
      parameters: { prompt: 'consent' },
      grants: [{ scopes: ['things:read', 'things:write'] }],
    },
    get person() {
      return state.person;
    },
    set person(next) {
      state.person = next;
    },
    requests,
    errors,
    answers(path, answer) {
      if (answer === undefined) instead.delete(path);
      else instead.set(path, answer);
    },
    logoutToken: (claims, header = {}) =>
      new SignJWT({
        iss: issuer,
        aud: 'gateway',
        iat: Math.floor(Date.now() / 1000),
        exp: Math.floor(Date.now() / 1000) + 120,
        jti: randomBytes(12).toString('hex'),
        events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
        ...claims,
      })
        .setProtectedHeader({ alg: 'RS256', kid: 'provider-1', typ: 'logout+jwt', ...header })
        .sign(privateKey),
    provider,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function clientOf(authentication: ProviderOptions['authentication']): {
  secret: string;
  metadata: Partial<ClientMetadata>;
} {
  if (authentication !== 'private_key_jwt') {
    const secret = randomBytes(24).toString('base64url');
    return {
      secret,
      metadata: { client_secret: secret, token_endpoint_auth_method: authentication ?? 'client_secret_basic' },
    };
  }
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const about = { kid: 'client-1', alg: 'ES256' };
  return {
    secret: JSON.stringify({ ...privateKey.export({ format: 'jwk' }), ...about }),
    metadata: {
      token_endpoint_auth_method: 'private_key_jwt',
      jwks: { keys: [{ ...publicKey.export({ format: 'jwk' }), ...about, use: 'sig' }] } as never,
    },
  };
}
