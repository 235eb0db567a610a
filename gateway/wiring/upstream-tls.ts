// Wiring of TLS to upstreams: the content of their certificate files, with keys from the secrets store.

import type { Secrets } from '../config/secrets.ts';
import { untimelyTls } from '../config/upstream-tls.ts';
import type { Configuration } from '../configuration.ts';
import type { TlsSettings } from '../http1/client/connect.ts';
import type { Log } from '../observe/log.ts';

type Named = Pick<Configuration, 'upstreamTls'>;

export interface UpstreamTlsAccess {
  /** Upstream → TLS settings for one configuration. Reads keys from the secrets store, and logs certificates outside their validity. */
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
  /** Returns the same object while the settings are unchanged, because connections belong to it. */
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
