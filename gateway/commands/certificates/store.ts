// The store of ordered certificates, as commands see it: they read its records. `acme/asking.ts` leaves requests in it.

import type { AcmeRecords, AcmeStore } from '../../acme/acme-store.ts';
import { certificateIdFor } from '../../acme/records.ts';
import { createView, keptIn } from '../../acme/view.ts';
import type { Acme } from '../../config/gateway/acme.ts';
import { readOnlyCertificate } from '../../edge/tls/certificate.ts';
import { openAcmeStore, statusOfKept } from '../../wiring/acme.ts';
import type { CertificateStatus } from '../../wiring/certificate-status.ts';
import type { CommandContext } from '../context.ts';

export interface OpenedStore {
  readonly acme: Acme;
  readonly store: AcmeStore;
  readonly ids: readonly string[];
}

/** Ends the command if the configuration has no `tls.acme`. The caller closes the store. */
export async function openCertificateStore(context: CommandContext): Promise<OpenedStore> {
  const { config } = await context.configuration();
  const acme = config.gateway.tls?.acme ?? context.fail('gateway.yaml has no tls.acme, so the gateway orders nothing.');
  const store = await openAcmeStore(context.settings(), context.now);
  return { acme, store, ids: acme.certificates.map(certificateIdFor) };
}

/** The state of the configured certificates. Needs no `certificate_key`: private keys stay sealed. */
export function certificateStatusIn({ acme }: OpenedStore, records: AcmeRecords, nowMs: number): CertificateStatus[] {
  const view = createView({
    certificates: acme.certificates,
    seal: { fingerprint: '', seal: (text) => text, open: () => '' },
    readPair: (certificate, _key, names) => readOnlyCertificate(certificate, names),
    now: () => nowMs,
    onUnusable: () => undefined,
  });
  view.use(records);
  return acme.certificates.map((names) => statusOfKept(keptIn(records, view, names), acme, nowMs));
}
