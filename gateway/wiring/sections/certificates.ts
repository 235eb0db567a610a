// The certificates that the gateway orders itself. Without `tls.acme`, nothing of it is loaded.

import type { Parts } from '../../parts.ts';
import type { OrderedCertificates } from '../acme.ts';
import type { BaseSection } from './base.ts';
import type { ObservationSection } from './observation.ts';

export type CertificatesSection = Awaited<ReturnType<typeof openCertificates>>;

/** Rejects with a sentence if the store of certificates cannot be opened. */
export async function openCertificates(opened: BaseSection & ObservationSection, parts: Parts) {
  const { gateway, settings, secrets, version, log, store, now, metrics } = opened;
  const acme = gateway.tls?.acme;
  let ordered: OrderedCertificates | undefined;
  if (acme !== undefined) {
    const { openAcme } = await import('../acme.ts');
    const { renewal: onRenewal, order: onOrder } = metrics;
    ordered = await openAcme({ acme, settings, secrets, version, log, store, now, onRenewal, onOrder });
  }
  parts.add({ name: 'acme', close: () => ordered?.close() });

  return { ordered };
}
