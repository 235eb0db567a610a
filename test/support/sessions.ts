// A gateway that people sign in at, with a provider and things behind it.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createAuthority } from './certificates.ts';
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

interface SessionGatewayOptions extends Pick<GatewayOptions, 'environment' | 'limits' | 'now'> {
  readonly provider?: Omit<ProviderOptions, 'gatewayOrigin'>;
  /** Members of `sessions`, beside its providers. */
  readonly sessions?: Readonly<Record<string, unknown>>;
  /** Members of the provider's entry. */
  readonly entry?: Readonly<Record<string, unknown>>;
  /** Further providers by name; they have the client of the first one. */
  readonly providers?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  /** Default: the origin. */
  readonly publicUrl?: string;
  /** The query of the address at which a login begins. */
  readonly loginQuery?: string;
  readonly answer?: Answer;
  /** Further members of the entry of things. */
  readonly things?: Readonly<Record<string, unknown>>;
  readonly upstreams?: Readonly<Record<string, unknown>>;
  readonly contracts?: Readonly<Record<string, string | object>>;
  /** Over TLS, with a certificate that no browser knows. */
  readonly secure?: boolean;
  /** The host name, with `secure`. Default: `localhost`. */
  readonly hostName?: string;
  /** Gateways with the same configuration. Default: 1. */
  readonly instances?: number;
  /** Further operations of the things. */
  readonly paths?: Record<string, object>;
  /** The service; by default one that answers at once. */
  readonly upstream?: { readonly url: string; close(): Promise<void> };
}

export interface SessionGateway {
  readonly gateway: TestGateway;
  /** All instances; people sign in at the first one. */
  readonly gateways: readonly TestGateway[];
  readonly provider: TestProvider;
  readonly upstream: FakeUpstream;
  /** The origin of the gateway. */
  readonly origin: string;
  /** Returns a new browser in which this person has signed in; without a name, the present person of the provider. */
  signIn(subject?: string): Promise<ReturnType<typeof createCookieBrowser>>;
  close(): Promise<void>;
}

export async function startSessionGateway(options: SessionGatewayOptions = {}): Promise<SessionGateway> {
  const ports = await Promise.all(Array.from({ length: options.instances ?? 1 }, freePort));
  const { hostName = 'localhost' } = options;
  const host = options.secure === true ? `https://${hostName}` : 'http://127.0.0.1';
  const origins = ports.map((port) => `${host}:${port}`);
  const pair = options.secure === true ? createAuthority().issue({ names: [hostName] }) : undefined;
  const [origin = ''] = origins;
  const served = options.upstream ?? (await startUpstream(options.answer));
  const provider = await startProvider({ ...options.provider, gatewayOrigin: origin });
  const { contracts, upstreams } = thingsAt(
    served.url,
    { security: { sessions: true }, ...options.things },
    options.paths,
  );
  const withClient = (entry: Readonly<Record<string, unknown>>) => ({ ...provider.entry, ...entry });
  const providers = Object.entries(options.providers ?? {}).map(([name, entry]) => [name, withClient(entry)] as const);
  const started = ports.map((port) =>
    startGateway({
      contracts: { ...contracts, ...sessionContract, ...options.contracts },
      upstreams: { ...upstreams, ...SESSION_ENTRY, ...options.upstreams },
      gateway: {
        publicUrl: options.publicUrl ?? origin,
        portal: { title: 'Things & Co' },
        ...(pair && { tls: { certificates: [{ certificate: 'localhost.pem', key: 'localhost.key' }] } }),
        sessions: {
          origins,
          providers: { staff: withClient(options.entry ?? {}), ...Object.fromEntries(providers) },
          ...options.sessions,
        },
      },
      ...(pair && { files: { 'localhost.pem': pair.certificate, 'localhost.key': pair.key } }),
      ...(options.limits && { limits: options.limits }),
      ...(options.now && { now: options.now }),
      environment: {
        PORT: String(port),
        [PROVIDER_SECRET_ENTRY.toUpperCase()]: provider.secret,
        ...options.environment,
      },
    }),
  );
  const gateways = await Promise.all(started);
  const [gateway] = gateways as [TestGateway];
  // Its organization.
  await gateway.issueKey();

  return {
    gateway,
    gateways,
    provider,
    upstream: served as FakeUpstream,
    origin,
    async signIn(subject) {
      if (subject !== undefined) provider.person = { subject, claims: { org: 'org_test' } };
      const browser = createCookieBrowser();
      const answer = await browser.open(`${origin}/session/login${options.loginQuery ?? ''}`);
      if (answer.status !== 200) throw new Error(`signing in: ${answer.status} ${answer.text}`);
      return browser;
    },
    async close() {
      for (const one of gateways) await one.stop();
      await provider.close();
      await served.close();
    },
  };
}
