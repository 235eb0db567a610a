// Wiring of TLS toward upstreams: what their files hold, with keys from the secrets store, ready for connections.

import type { Secrets } from '../config/secrets.ts';
import { keyProblem, type UpstreamTls, untimelyTls } from '../config/upstream-tls.ts';
import type { Configuration } from '../configuration.ts';
import { ConfigError, type Mistake } from '../mistakes.ts';
import type { Log } from '../observe/log.ts';
import type { TlsSettings } from '../upstream/http1/connect.ts';

type Named = Pick<Configuration, 'config' | 'upstreamTls'>;

export interface UpstreamTlsAccess {
  /** For one configuration, by upstream: keys are read from the secrets store now. Logs what is not valid at this time. */
  settingsOf(configuration: Named): ReadonlyMap<string, TlsSettings>;
  /** Keys that a configuration names and that nobody has provided, or that do not fit. */
  objections(next: Named): Mistake[];
}

/** Throws ConfigError for what the configuration that begins lacks. */
export function openUpstreamTls(
  first: Named,
  { secrets, log, now }: { readonly secrets: Pick<Secrets, 'read'>; readonly log: Log; now(): number },
): UpstreamTlsAccess {
  function objections({ config, upstreamTls }: Named): Mistake[] {
    return [...upstreamTls].flatMap(([name, tls]) => {
      if (tls.keySecret === undefined) return [];
      const problem = secretProblem(tls, tls.keySecret);
      if (problem === undefined) return [];
      const remedy = `Put the private key of the certificate, in PEM and not encrypted, into the file SECRETS_DIR/${tls.keySecret}.`;
      return [config.sources.upstreams.mistakeAt(['upstreams', name, 'tls', 'key'], problem, remedy)];
    });
  }

  function secretProblem({ certificate = '' }: UpstreamTls, entry: string): string | undefined {
    const key = secrets.read(entry);
    if (key === undefined) return `there is no secrets entry "${entry}".`;
    const problem = keyProblem(certificate, key);
    return problem && `the secrets entry "${entry}" cannot be used: ${problem}`;
  }

  /** The same object for as long as nothing in it has changed, since connections belong to it. */
  const latest = new Map<string, TlsSettings>();

  function kept(upstream: string, settings: TlsSettings): TlsSettings {
    const before = latest.get(upstream);
    if (JSON.stringify(before) === JSON.stringify(settings)) return before as TlsSettings;
    latest.set(upstream, settings);
    return settings;
  }

  const missing = objections(first);
  if (missing.length > 0) throw new ConfigError(missing);
  return {
    settingsOf({ upstreamTls }) {
      for (const sentence of untimelyTls(upstreamTls, now())) log.logger.error(sentence);
      const all = [...upstreamTls].map(([name, { ca, certificate, key, keySecret, serverName }]) => {
        const own = keySecret === undefined ? key : secrets.read(keySecret);
        return [name, kept(name, { ca, certificate, key: own, serverName })] as const;
      });
      return new Map(all);
    },
    objections,
  };
}
