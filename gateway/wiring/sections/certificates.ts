// The certificates of the public listener: certificates in files, and certificates that the gateway orders, whose code is loaded only with
// `tls.acme`.

import type { OrderedCertificates } from '../acme.ts';
import type { CertificateStatus } from '../certificate-status.ts';
import type { Parts } from '../parts.ts';
import { openPublicTls, type PublicTls } from '../public-tls.ts';
import type { FirstSections } from './observation.ts';

export interface CertificatesSection {
  /** Undefined without `tls.acme`. */
  readonly ordered: OrderedCertificates | undefined;
  /** TLS of the public listener; undefined if it speaks plain HTTP. */
  readonly tls: PublicTls | undefined;
  status(): readonly CertificateStatus[];
}

/** Rejects with an Error for operators if the certificate store cannot be opened. */
export async function openCertificates(
  { options, base: { gateway }, observation: { log, metrics } }: FirstSections,
  parts: Parts,
): Promise<CertificatesSection> {
  const { configuration, settings, secrets, ticketKeys, version, store, now } = options;
  const acme = gateway.tls?.acme;
  let ordered: OrderedCertificates | undefined;
  if (acme !== undefined) {
    const { openAcme } = await import('../acme.ts');
    const { renewal: onRenewal, order: onOrder } = metrics;
    ordered = await openAcme({ acme, settings, secrets, version, log, store, now, onRenewal, onOrder });
  }
  parts.add({ name: 'acme', close: () => ordered?.close() });

  const tls = openPublicTls(configuration, {
    settings,
    log,
    store,
    ordered,
    ticketKeys,
    now,
    onHandshakeFailure: metrics.handshakeFailed,
    onRenewal: metrics.renewal,
  });
  const status = () => tls?.certificatesStatus() ?? [];
  parts.add({
    name: 'certificates',
    status: () => ({ certificates: status() }),
    close: () => tls?.close(),
  });

  return { ordered, tls, status };
}
