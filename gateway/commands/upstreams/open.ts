// Opens one address of an upstream with the credential, TLS settings and assertions that the gateway would use.

import { createAssertions } from '../../auth/assertions/assertions.ts';
import type { Secrets } from '../../config/secrets.ts';
import type { Settings } from '../../config/settings.ts';
import type { UpstreamEntry } from '../../config/upstreams/upstreams-file.ts';
import type { Configuration } from '../../configuration.ts';
import type { Caller, Mode } from '../../exchange/caller.ts';
import { createLog } from '../../observe/log/log.ts';
import { entryOfUpstream } from '../../shared/contracts/upstreams.ts';
import { ConfigError } from '../../shared/mistakes.ts';
import { NO_PROBES } from '../../upstream/credentials/latch-probes.ts';
import { checkSecrets } from '../../wiring/named-secrets.ts';
import { openSandbox } from '../../wiring/sandbox.ts';
import { openUpstreamAccess } from '../../wiring/upstream-access.ts';
import { createTlsSettings } from '../../wiring/upstream-tls.ts';
import { type Backend, createBackend } from './backend.ts';

interface OpenOptions {
  readonly configuration: Configuration;
  readonly settings: Settings;
  readonly secrets: Secrets;
  readonly name: string;
  /** The address in upstreams.yaml, such as `sandbox:…`. */
  readonly address: string;
  readonly mode: Mode;
  readonly organization: string;
  now(): number;
}

interface OpenBackend {
  readonly backend: Backend;
  close(): void;
}

/** Rejects with ConfigError, or with a sentence if a secret is missing. */
export async function openBackend(options: OpenOptions): Promise<OpenBackend> {
  const { configuration, settings, secrets, name, address, now } = options;
  const { config } = configuration;
  const alone = upstreamAlone(configuration, name, secrets);
  // Silent, because the findings report all problems.
  const log = createLog({ level: 'fatal', now, destination: { write: () => undefined } });
  const { access, sandboxAdministrator } = await openUpstreamAccess({
    config: alone.config,
    workers: 1,
    secrets,
    probes: NO_PROBES,
    log,
    now,
    onWaited: () => undefined,
    onShed: () => undefined,
    isShedding: () => false,
  });
  const assertions = await createAssertions({
    keys: await secrets.assertionKeys(),
    issuer: config.gateway.publicUrl,
    now,
  });
  const sandbox = address.startsWith('sandbox:')
    ? await openSandbox({
        ...{ settings, config, secrets, log },
        jwks: assertions.jwks,
        mailAdministrator: sandboxAdministrator,
      })
    : undefined;
  const caller = trialCaller(configuration, options.mode, options.organization);
  const { process } = sandbox ?? {};
  try {
    if (address === 'sandbox:platform') await process?.seed(await assertions.assertionFor(caller, name));
    const { credential } = access.find(name) ?? {};
    await credential?.untilReady();
    const entry = config.upstreams[name] as UpstreamEntry;
    const sendsCaller = entry.sendCaller ?? credential === undefined;
    const backend = createBackend({
      origin: sandbox?.originOf(address) ?? address,
      entry,
      tls: createTlsSettings({ secrets, log, now })(alone).get(name),
      caller,
      scheme: new URL(config.gateway.publicUrl).protocol.slice(0, -1),
      assertion: () => (sendsCaller ? assertions.assertionFor(caller, entryOfUpstream(name)) : undefined),
      credential: credential && (() => credential.header(true)),
    });
    return {
      backend,
      close() {
        backend.close();
        process?.close();
      },
    };
  } catch (error) {
    process?.close();
    throw error;
  }
}

/**
 * Returns the configuration with this upstream alone, and the upstream that its secrets belong to. Throws ConfigError for unusable secrets.
 */
function upstreamAlone({ config, upstreamTls }: Configuration, name: string, { read }: Secrets) {
  const names = [entryOfUpstream(name), name];
  const upstreams = Object.fromEntries(names.map((one) => [one, config.upstreams[one] as UpstreamEntry]));
  const alone = {
    config: { ...config, upstreams, gateway: { ...config.gateway, tracing: undefined } },
    upstreamTls: new Map([...upstreamTls].filter(([upstream]) => upstream === name)),
  };
  const mistakes = Object.values(checkSecrets(alone, read, false)).flat();
  if (mistakes.length > 0) throw new ConfigError(mistakes);
  return alone;
}

/** Returns a caller with every scope, who is in no key store. */
export function trialCaller({ contracts, config }: Configuration, mode: Mode, organization: string): Caller {
  return {
    subject: 'key_upstreams_try',
    scheme: 'apiKey',
    issuer: undefined,
    organization: {
      id: organization,
      name: organization,
      tier: Object.keys(config.limits.tiers)[0] ?? 'standard',
      state: 'active',
      contacts: [],
      operator: false,
    },
    mode,
    scopes: contracts.scopes,
    revoked: false,
    expiresAtMs: Number.POSITIVE_INFINITY,
    allowsAddress: undefined,
  };
}
