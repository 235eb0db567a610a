// Makes the TLS settings of upstreams from the content of certificate files, with keys from the secrets store.

import type { Secrets } from '../config/secrets.ts';
import { untimelyTls } from '../config/upstreams/upstream-tls.ts';
import type { Configuration } from '../configuration.ts';
import type { TlsSettings } from '../http1/client/connect.ts';
import type { Log } from '../observe/log/log.ts';

interface UpstreamTlsOptions {
  readonly secrets: Pick<Secrets, 'read'>;
  readonly log: Log;
  now(): number;
}

/**
 * Returns a function that reads the settings of one configuration, by upstream. Keys come from the secrets store, and certificates outside
 * their validity are logged.
 */
export function createTlsSettings({ secrets, log, now }: UpstreamTlsOptions) {
  /** Returns the same object while the settings are unchanged, because connections belong to it. */
  const latest = new Map<string, TlsSettings>();

  function keepUsed(upstream: string, settings: TlsSettings): TlsSettings {
    const before = latest.get(upstream);
    if (JSON.stringify(before) === JSON.stringify(settings)) return before as TlsSettings;
    latest.set(upstream, settings);
    return settings;
  }

  return function tlsSettingsOf({ upstreamTls }: Pick<Configuration, 'upstreamTls'>): ReadonlyMap<string, TlsSettings> {
    for (const sentence of untimelyTls(upstreamTls, now())) log.logger.error(sentence);
    const all = [...upstreamTls].map(([name, { ca, certificate, key, keySecret, serverName }]) => {
      const own = keySecret === undefined ? key : secrets.read(keySecret);
      return [name, keepUsed(name, { ca, certificate, key: own, serverName })] as const;
    });
    return new Map(all);
  };
}
