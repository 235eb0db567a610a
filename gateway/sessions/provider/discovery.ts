// Reads the discovery document of a provider, and keeps it with the client and the keys that it describes. Uses the library openid-client,
// which is loaded when the first provider is used.

import type * as OpenidClient from 'openid-client';
import type { ProviderSettings } from '../settings.ts';
import { clientAuthentication } from './client-authentication.ts';
import { createProviderFetch, type ProviderFetch } from './provider-fetch.ts';
import { createProviderKeys, type ProviderKeys } from './provider-keys.ts';

/** The document is read again after this time. */
const KEPT_FOR_MS = 3_600_000;

export interface DiscoveredProvider {
  readonly library: typeof OpenidClient;
  readonly configuration: OpenidClient.Configuration;
  readonly keys: ProviderKeys;
}

export interface DiscoveryOptions {
  readonly settings: ProviderSettings;
  /** Reads the secret of the client; throws a sentence. */
  readSecret(): string;
  now(): number;
}

/**
 * Returns a function that returns the document. It reads the document at most once at a time. An outdated document is used while the
 * provider cannot be reached.
 */
export function createDiscovery({ settings, readSecret, now }: DiscoveryOptions): () => Promise<DiscoveredProvider> {
  const fetchFrom = createProviderFetch(originsOf(settings), settings.timeoutMs);
  let kept: (DiscoveredProvider & { readonly secret: string; readonly atMs: number }) | undefined;
  let reading: Promise<DiscoveredProvider> | undefined;

  async function read(): Promise<DiscoveredProvider> {
    const secret = readSecret();
    const { library, configuration } = await readDiscovery(settings, secret, fetchFrom);
    const keys = createProviderKeys(configuration.serverMetadata(), fetchFrom);
    kept = { library, configuration, keys, secret, atMs: now() };
    return kept;
  }

  return async function discovered() {
    const known = kept;
    const isCurrent = known !== undefined && known.secret === readSecret();
    if (isCurrent && now() - known.atMs < KEPT_FOR_MS) return known;
    reading ??= read().finally(() => {
      reading = undefined;
    });
    return isCurrent ? reading.catch(() => known) : reading;
  };
}

/** Returns the origins to which requests to a provider may go. */
export function originsOf({ issuer, endpointOrigins }: ProviderSettings): ReadonlySet<string> {
  return new Set([new URL(issuer).origin, ...endpointOrigins]);
}

/** Reads the discovery document. Rejects with ProviderAway or a reason. */
export async function readDiscovery(
  settings: ProviderSettings,
  secret: string,
  fetchFrom: ProviderFetch,
): Promise<Pick<DiscoveredProvider, 'library' | 'configuration'>> {
  const library = await import('openid-client');
  const issuer = new URL(settings.issuer);
  const configuration = await library.discovery(
    issuer,
    settings.clientId,
    { [library.clockTolerance]: settings.clockToleranceSeconds },
    await clientAuthentication(library, settings.authentication, secret),
    {
      [library.customFetch]: fetchFrom,
      timeout: settings.timeoutMs / 1000,
      execute: issuer.protocol === 'http:' ? [library.allowInsecureRequests] : [],
    },
  );
  return { library, configuration };
}
