// The certificates of the public listener: those that the gateway orders, whose code is loaded with `tls.acme` only, and those in files.

import type { Parts } from '../../parts.ts';
import type { OrderedCertificates } from '../acme.ts';
import { openPublicTls } from '../public-tls.ts';
import type { BaseSection } from './base.ts';
import type { ObservationSection } from './observation.ts';

export type CertificatesSection = Awaited<ReturnType<typeof openCertificates>>;

/** Rejects with a sentence if the store of certificates cannot be opened. */
export async function openCertificates(opened: BaseSection & ObservationSection, parts: Parts) {
  const { configuration, gateway, settings, secrets, ticketKeys, version, log, store, now, metrics } = opened;
  const acme = gateway.tls?.acme;
  let ordered: OrderedCertificates | undefined;
  if (acme !== undefined) {
    const { openAcme } = await import('../acme.ts');
    const { renewal: onRenewal, order: onOrder } = metrics;
    ordered = await openAcme({ acme, settings, secrets, version, log, store, now, onRenewal, onOrder });
  }
  parts.add({ name: 'acme', close: () => ordered?.close() });

  const tls = openPublicTls(configuration, {
    ...{ settings, log, store, ordered, ticketKeys, now },
    onHandshakeFailure: metrics.handshakeFailed,
    onRenewal: metrics.renewal,
  });
  const certificatesStatus = () => tls?.certificatesStatus() ?? [];
  parts.add({
    name: 'certificates',
    status: () => ({ certificates: certificatesStatus() }),
    close: () => tls?.close(),
  });

  return { ordered, tls, certificatesStatus };
}
