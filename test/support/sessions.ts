// A gateway that people sign in at, with a provider and things behind it.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createCookieBrowser } from './cookie-browser.ts';
import { freePort } from './free-port.ts';
import { type GatewayOptions, shippedContracts, startGateway, type TestGateway } from './gateway.ts';
import { PROVIDER_SECRET_ENTRY, type ProviderOptions, startProvider, type TestProvider } from './provider.ts';
import { thingsAt } from './things.ts';
import { type Answer, type FakeUpstream, startUpstream } from './upstream.ts';

/** The entry as documented. */
export const SESSION_ENTRY = { session: { contracts: ['session/*.yaml'], live: 'session:' } };

export const sessionContract: Readonly<Record<string, string>> = {
  'session/session.yaml': readFileSync(join(shippedContracts, 'session/session.yaml'), 'utf8'),
};

export interface SessionGatewayOptions extends Pick<GatewayOptions, 'environment' | 'limits' | 'now'> {
  readonly provider?: Omit<ProviderOptions, 'gatewayOrigin'>;
  /** Members of `sessions`, beside its providers. */
  readonly sessions?: Readonly<Record<string, unknown>>;
  /** Members of the provider's entry. */
  readonly entry?: Readonly<Record<string, unknown>>;
  /** Further providers by name; they have the client of the first one. */
  readonly providers?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  /** Default: the origin. */
  readonly publicUrl?: string;
  /** Of the address where a login begins. */
  readonly loginQuery?: string;
  readonly answer?: Answer;
  /** Further members of the entry of things. */
  readonly things?: Readonly<Record<string, unknown>>;
  readonly upstreams?: Readonly<Record<string, unknown>>;
  readonly contracts?: Readonly<Record<string, string | object>>;
}

export interface SessionGateway {
  readonly gateway: TestGateway;
  readonly provider: TestProvider;
  readonly upstream: FakeUpstream;
  /** The origin of the gateway. */
  readonly origin: string;
  /** A new browser in which this person has signed in; the one the provider signs in now if none is named. */
  signIn(subject?: string): Promise<ReturnType<typeof createCookieBrowser>>;
  close(): Promise<void>;
}

export async function startSessionGateway(options: SessionGatewayOptions = {}): Promise<SessionGateway> {
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const upstream = await startUpstream(options.answer);
  const provider = await startProvider({ ...options.provider, gatewayOrigin: origin });
  const { contracts, upstreams } = thingsAt(upstream.url, { security: { sessions: true }, ...options.things });
  const gateway = await startGateway({
    contracts: { ...contracts, ...sessionContract, ...options.contracts },
    upstreams: { ...upstreams, ...SESSION_ENTRY, ...options.upstreams },
    gateway: {
      publicUrl: options.publicUrl ?? origin,
      sessions: {
        origins: [origin],
        providers: {
          staff: { ...provider.entry, ...options.entry },
          ...Object.fromEntries(
            Object.entries(options.providers ?? {}).map(([name, entry]) => [name, { ...provider.entry, ...entry }]),
          ),
        },
        ...options.sessions,
      },
    },
    ...(options.limits && { limits: options.limits }),
    ...(options.now && { now: options.now }),
    environment: {
      PORT: String(port),
      [PROVIDER_SECRET_ENTRY.toUpperCase()]: provider.secret,
      ...options.environment,
    },
  });
  // Its organization.
  await gateway.issueKey();

  return {
    gateway,
    provider,
    upstream,
    origin,
    async signIn(subject) {
      if (subject !== undefined) provider.person = { subject, claims: { org: 'org_test' } };
      const browser = createCookieBrowser();
      const answer = await browser.open(`${origin}/session/login${options.loginQuery ?? ''}`);
      if (answer.status !== 200) throw new Error(`signing in: ${answer.status} ${answer.text}`);
      return browser;
    },
    async close() {
      await gateway.stop();
      await provider.close();
      await upstream.close();
    },
  };
}
