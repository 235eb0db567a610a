// Lists the secrets that a configuration names, for start, reload, `check` and `doctor`.

import { webhookSecretProblem } from '../alerts/webhook.ts';
import { acmeSecrets, type NamedSecret } from '../config/gateway/acme-needs.ts';
import { keyProblem } from '../config/upstreams/upstream-tls.ts';
import type { Configuration } from '../configuration.ts';
import { tracingHeaders } from '../observe/tracing/tracing.ts';
import { clientSecretProblem } from '../sessions/provider/client-authentication.ts';
import { SESSION_KEYS, sessionKeysProblem } from '../sessions/store/session-keys.ts';
import { isServerOfEntry } from '../shared/contracts/upstreams.ts';
import type { Mistake } from '../shared/mistakes.ts';
import { remedyForEntry } from '../shared/secret-names.ts';
import { credentialProblem } from '../upstream/credentials/credential-kinds.ts';
import { isSimulated } from '../upstream/targets/addresses.ts';

type SecretSources = Pick<Configuration, 'config' | 'upstreamTls'>;

interface CheckedSecrets {
  /** Entries that exist and cannot be used. */
  readonly mistakes: readonly Mistake[];
  /** Entries that do not exist on this machine. */
  readonly missing: readonly Mistake[];
}

/**
 * Returns the secrets that the configuration names. Leaves out credentials of upstreams without a real service, because a start generates
 * them.
 *
 * @param isShared whether several instances share the store, so that start generates no `certificate_key`
 */
export function namedSecrets({ config, upstreamTls }: SecretSources, isShared: boolean): NamedSecret[] {
  const { upstreams, gateway, sources } = config;
  const credentials = Object.entries(upstreams).flatMap(([name, entry]): NamedSecret[] => {
    const { credential } = entry;
    if (credential === undefined || isSimulated(entry) || isServerOfEntry(name)) return [];
    const { kind, secret } = credential;
    const path = ['upstreams', name, 'credential', kind, 'secret'];
    return [
      {
        entry: secret,
        use: `the credential for the upstream "${name}"`,
        problemOf: (value) => credentialProblem(value, credential),
        mistake: (reason) => sources.upstreams.mistakeAt(path, reason, remedyForEntry(secret)),
      },
    ];
  });
  const keys = [...upstreamTls].flatMap(([name, { certificate = '', keySecret }]): NamedSecret[] => {
    if (keySecret === undefined || isServerOfEntry(name)) return [];
    const remedy = `Put the private key of the certificate, in PEM and not encrypted, into the file SECRETS_DIR/${keySecret}.`;
    return [
      {
        entry: keySecret,
        use: `the key of the certificate for the upstream "${name}"`,
        problemOf: (value) => keyProblem(certificate, value),
        mistake: (reason) => sources.upstreams.mistakeAt(['upstreams', name, 'tls', 'key'], reason, remedy),
      },
    ];
  });
  const headers = gateway.tracing?.headersSecret;
  const others = [
    ...credentials,
    ...keys,
    ...sessionSecrets(config, isShared),
    ...acmeSecrets(config, isShared),
    ...alertSecrets(config),
  ];
  if (headers === undefined) return others;
  return [
    ...others,
    {
      entry: headers,
      use: 'headers for the collector of traces',
      problemOf: (value) => tracingProblem(value, headers),
      mistake: (reason) =>
        sources.gateway.mistakeAt(
          ['tracing', 'headersSecret'],
          reason,
          `${remedyForEntry(headers)} It holds lines of Name: value.`,
        ),
    },
  ];
}

/**
 * Returns the client secrets for providers, and the keys that seal tokens. Several instances need keys from the operator, because keys that
 * the gateway creates would be in Redis beside the sealed tokens, and a copy of Redis would reveal the tokens.
 */
function sessionSecrets({ gateway, sources }: SecretSources['config'], isShared: boolean): NamedSecret[] {
  const { sessions } = gateway;
  if (sessions === undefined) return [];
  const clients = Object.entries(sessions.providers).map(([name, { authentication }]): NamedSecret => {
    const { secret } = authentication;
    const path = ['sessions', 'providers', name, 'authentication', 'secret'];
    return {
      entry: secret,
      use: `the client of the provider "${name}"`,
      problemOf: (value) => clientSecretProblem(authentication, value),
      mistake: (reason) => sources.gateway.mistakeAt(path, reason, remedyForEntry(secret)),
    };
  });
  if (!isShared) return clients;
  return [
    ...clients,
    {
      entry: SESSION_KEYS,
      use: 'sealing the tokens of sessions',
      problemOf: sessionKeysProblem,
      mistake: (reason) => sources.gateway.mistakeAtKey(['sessions'], reason, remedyForEntry(SESSION_KEYS)),
    },
  ];
}

/** Returns the keys that sign webhook messages, and the passwords of mail servers. */
function alertSecrets({ gateway, sources }: SecretSources['config']): NamedSecret[] {
  return Object.entries(gateway.alerts?.receivers ?? {}).flatMap(([name, { webhook, email }]): NamedSecret[] => {
    const entry = webhook?.secret ?? email?.secret;
    if (entry === undefined) return [];
    const path = ['alerts', 'receivers', name, webhook === undefined ? 'email' : 'webhook', 'secret'];
    return [
      {
        entry,
        use: `the receiver of alerts "${name}"`,
        problemOf: webhook === undefined ? passwordProblem : webhookSecretProblem,
        mistake: (reason) => sources.gateway.mistakeAt(path, reason, remedyForEntry(entry)),
      },
    ];
  });
}

function passwordProblem(value: string): string | undefined {
  return value.includes('\n') ? 'It has more than one line.' : undefined;
}

/**
 * @param read returns the value of an entry; undefined if it does not exist; throws a sentence if it cannot be read
 * @param isShared as `namedSecrets` takes it
 */
export function checkSecrets(
  configuration: SecretSources,
  read: (entry: string) => string | undefined,
  isShared: boolean,
): CheckedSecrets {
  const mistakes: Mistake[] = [];
  const missing: Mistake[] = [];
  for (const { entry, problemOf, mistake } of namedSecrets(configuration, isShared)) {
    let value: string | undefined;
    try {
      value = read(entry);
    } catch (error) {
      mistakes.push(mistake((error as Error).message));
      continue;
    }
    if (value === undefined) missing.push(mistake(`there is no secrets entry "${entry}".`));
    else {
      const problem = problemOf(value);
      if (problem !== undefined) mistakes.push(mistake(`the secrets entry "${entry}" cannot be used: ${problem}`));
    }
  }
  return { mistakes, missing };
}

function tracingProblem(value: string, entry: string): string | undefined {
  try {
    tracingHeaders(value, entry);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}
