// Wiring of TLS toward upstreams: what their files hold, with keys from the secrets store, ready for connections.

import type { Secrets } from '../config/secrets.ts';
import { untimelyTls } from '../config/upstream-tls.ts';
import type { Configuration } from '../configuration.ts';
import type { Log } from '../observe/log.ts';
import type { TlsSettings } from '../upstream/http1/connect.ts';

type Named = Pick<Configuration, 'upstreamTls'>;

export interface UpstreamTlsAccess {
  /** For one configuration, by upstream: keys are read from the secrets store now. Logs what is not valid at this time. */
  settingsOf(configuration: Named): ReadonlyMap<string, TlsSettings>;
}

export function openUpstreamTls({
  secrets,
  log,
  now,
}: {
  readonly secrets: Pick<Secrets, 'read'>;
  readonly log: Log;
  now(): number;
}): UpstreamTlsAccess {
  /** The same object for as long as nothing in it has changed, since connections belong to it. */
  const latest = new Map<string, TlsSettings>();

  function kept(upstream: string, settings: TlsSettings): TlsSettings {
    const before = latest.get(upstream);
    if (JSON.stringify(before) === JSON.stringify(settings)) return before as TlsSettings;
    latest.set(upstream, settings);
    return settings;
  }

  return {
    settingsOf({ upstreamTls }) {
      for (const sentence of untimelyTls(upstreamTls, now())) log.logger.error(sentence);
      const all = [...upstreamTls].map(([name, { ca, certificate, key, keySecret, serverName }]) => {
        const own = keySecret === undefined ? key : secrets.read(keySecret);
        return [name, kept(name, { ca, certificate, key: own, serverName })] as const;
      });
      return new Map(all);
    },
  };
}
