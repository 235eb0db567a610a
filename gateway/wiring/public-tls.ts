// The TLS settings of the public listener, with certificates from files and from `tls.acme`.

import type { KeyStore } from '../auth/store/key-store.ts';
import type { Settings } from '../config/settings.ts';
import type { Configuration } from '../configuration.ts';
import { createSecure, type HandshakeFailure, newTicketKeys, type Secure } from '../edge/tls/secure.ts';
import type { Log } from '../observe/log/log.ts';
import { instanceName } from '../shared/questions/fleet.ts';
import type { OrderedCertificates } from './acme.ts';
import type { CertificateStatus } from './certificate-status.ts';
import { followCertificates } from './certificates.ts';

interface PublicTlsOptions {
  readonly settings: Settings;
  readonly log: Log;
  readonly store: Pick<KeyStore, 'audit'>;
  /** The certificates of `tls.acme`. */
  readonly ordered: OrderedCertificates | undefined;
  /** Processes with the same keys resume each other's TLS sessions. */
  readonly ticketKeys: Buffer | undefined;
  now(): number;
  onHandshakeFailure(reason: HandshakeFailure): void;
  onRenewal(outcome: 'applied' | 'refused'): void;
}

export interface PublicTls extends Pick<Secure, 'createServer'> {
  certificatesStatus(): readonly CertificateStatus[];
  reloadCertificates(): void;
  close(): void;
}

/** Returns undefined without `tls` in gateway.yaml. Starts to follow the files of its certificates. */
export function openPublicTls(
  { config, certificates: loaded }: Configuration,
  { settings, log, store, ordered, ticketKeys, now, onHandshakeFailure, onRenewal }: PublicTlsOptions,
): PublicTls | undefined {
  const { tls } = config.gateway;
  if (tls === undefined) return undefined;
  let fromFiles = loaded;
  const shown = () => [...fromFiles, ...(ordered?.shownCertificates() ?? [])];
  const secure = createSecure({
    ...tls,
    certificates: shown(),
    validations: ordered?.validations,
    ticketKeys: ticketKeys ?? newTicketKeys(),
    onFailure: onHandshakeFailure,
  });
  const show = () => secure.use(shown());
  ordered?.onChange(show);
  const files = followCertificates({
    files: tls.certificates ?? [],
    directory: settings.configDirectory,
    loaded,
    log,
    store,
    instance: instanceName(settings.port),
    now,
    use(all) {
      fromFiles = all;
      show();
    },
    onRenewal,
  });
  return {
    createServer: secure.createServer,
    certificatesStatus: () => [...files.status(), ...(ordered?.status() ?? [])],
    reloadCertificates: files.reload,
    close: files.stop,
  };
}
