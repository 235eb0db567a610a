// Checks a provider for `doctor` and `check`: its discovery document, its keys, its clock, and whether it knows the client and the redirect
// addresses.

import type * as OpenidClient from 'openid-client';
import type { ProviderSettings } from '../settings.ts';
import { originsOf, readDiscovery } from './discovery.ts';
import { createProviderFetch, type ProviderFetch, providerReason } from './provider-fetch.ts';

export interface Examination {
  /** Sentences about faults because of which a person cannot sign in. */
  readonly failures: readonly string[];
  /** Sentences about faults that do not prevent a login. */
  readonly warnings: readonly string[];
}

interface ExaminedProvider {
  readonly settings: ProviderSettings;
  readonly secret: string;
  /** The addresses to which the provider shall send people back. */
  readonly redirectUris: readonly string[];
  /** Whether there are other providers. */
  readonly hasOthers: boolean;
  now(): number;
}

/** Optional members of a discovery document, with the consequence if a member is absent. */
const WANTED_METADATA = {
  revocation_endpoint: 'it names no revocation_endpoint: tokens of ended sessions stay valid there until they expire.',
  end_session_endpoint: 'it names no end_session_endpoint: signing out ends the session here alone.',
} as const;

/** The endpoints to which the gateway sends requests. The browser goes to the others. */
const OWN_ENDPOINTS = [
  'token_endpoint',
  'jwks_uri',
  'revocation_endpoint',
  'pushed_authorization_request_endpoint',
] as const;

export async function examineProvider({
  settings,
  secret,
  redirectUris,
  hasOthers,
  now,
}: ExaminedProvider): Promise<Examination> {
  const origins = originsOf(settings);
  const fetchFrom = createProviderFetch(origins, settings.timeoutMs);
  let dateMs = Number.NaN;
  const fetchNoting: ProviderFetch = async (url, request) => {
    const answer = await fetchFrom(url, request);
    dateMs = Date.parse(answer.headers.get('date') ?? '');
    return answer;
  };
  let discovered: Awaited<ReturnType<typeof readDiscovery>>;
  try {
    discovered = await readDiscovery(settings, secret, fetchNoting);
  } catch (error) {
    return { failures: [`Its discovery document cannot be used (${providerReason(error)}).`], warnings: [] };
  }
  const { library, configuration } = discovered;
  const metadata = configuration.serverMetadata();
  const failures = [
    ...clockFailure(dateMs, now(), settings.clockToleranceSeconds),
    ...foreignEndpoints(metadata, origins),
    ...(await keysFailure(metadata, fetchFrom)),
    ...(await redirectFailures(library, configuration, redirectUris)),
  ];
  const missing = Object.entries(WANTED_METADATA).filter(
    ([member]) => metadata[member as keyof typeof WANTED_METADATA] === undefined,
  );
  const warnings = missing.map(([, costs]) => `In its discovery document ${costs}`);
  if (metadata.backchannel_logout_supported !== true)
    warnings.push('It offers no back-channel logout: a person who signs out there stays signed in here.');
  if (hasOthers && metadata.authorization_response_iss_parameter_supported !== true)
    warnings.push(
      'It does not name itself in its answers (RFC 9207), so another provider could present codes of this provider.',
    );
  return { failures, warnings };
}

function clockFailure(dateMs: number, nowMs: number, toleranceSeconds: number): string[] {
  const seconds = Math.round(Math.abs(nowMs - dateMs) / 1000);
  // Two seconds more are allowed, because the header states whole seconds and took time to arrive.
  return seconds > toleranceSeconds + 2 ? [`Its clock and the clock of this machine differ by ${seconds} s.`] : [];
}

function foreignEndpoints(metadata: OpenidClient.ServerMetadata, origins: ReadonlySet<string>): string[] {
  return OWN_ENDPOINTS.flatMap((member) => {
    const endpoint = metadata[member];
    if (endpoint === undefined) return [];
    const { origin } = new URL(endpoint);
    return origins.has(origin) ? [] : [`Its ${member} is at ${origin}, which is not in endpointOrigins.`];
  });
}

async function keysFailure(
  { jwks_uri: uri }: OpenidClient.ServerMetadata,
  fetchFrom: ProviderFetch,
): Promise<string[]> {
  if (uri === undefined) return ['Its discovery document names no jwks_uri.'];
  try {
    const answer = await fetchFrom(uri, {});
    const { keys } = (await answer.json()) as { keys?: unknown };
    return Array.isArray(keys) && keys.length > 0 ? [] : ['It publishes no keys.'];
  } catch (error) {
    return [`Its keys cannot be read (${providerReason(error)}).`];
  }
}

/**
 * Finds out by a pushed authorization request, which begins no login, whether the provider knows the client and the redirect addresses. If
 * the provider does not support such requests, nothing can be found out.
 */
async function redirectFailures(
  library: typeof OpenidClient,
  configuration: OpenidClient.Configuration,
  redirectUris: readonly string[],
): Promise<string[]> {
  if (configuration.serverMetadata().pushed_authorization_request_endpoint === undefined) return [];
  const challenge = await library.calculatePKCECodeChallenge(library.randomPKCECodeVerifier());
  const tried = redirectUris.map(async (uri) => {
    const parameters = { redirect_uri: uri, scope: 'openid', code_challenge: challenge, code_challenge_method: 'S256' };
    try {
      await library.buildAuthorizationUrlWithPAR(configuration, parameters);
      return [];
    } catch (error) {
      return [`It refuses a login that comes back to ${uri} (${providerReason(error)}).`];
    }
  });
  return (await Promise.all(tried)).flat();
}
