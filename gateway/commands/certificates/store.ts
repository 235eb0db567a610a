// Reads certificates for commands, from files, and from the store of ordered certificates. `acme/asking.ts` leaves requests in that store.

import type { AcmeRecords, AcmeStore } from '../../acme/acme-store.ts';
import { recordIdOf } from '../../acme/records.ts';
import { AcmeView, configuredCertificateIn } from '../../acme/view.ts';
import type { Acme } from '../../config/gateway/acme.ts';
import type { Configuration } from '../../configuration.ts';
import { pathsOf, readOnlyCertificate } from '../../edge/tls/certificate.ts';
import { shownPath } from '../../shared/file-text.ts';
import { openAcmeStore, statusOfKept } from '../../wiring/acme.ts';
import { type CertificateStatus, lifeStatusOf } from '../../wiring/certificate-status.ts';
import type { CommandContext } from '../context.ts';

export interface OpenedStore {
  readonly acme: Acme;
  readonly store: AcmeStore;
  readonly ids: readonly string[];
  readonly files: readonly CertificateStatus[];
}

/** The remedy for a certificate in files that must be renewed. */
export const WRITE_IT_THERE = 'write the renewed one there, with its key. It is in use within a second.';

/** Ends the command if the configuration has no `tls.acme`. The caller closes the store. */
export async function openCertificateStore(context: CommandContext): Promise<OpenedStore> {
  const configuration = await context.configuration();
  const files = certificatesInFiles(context, configuration);
  const why = 'gateway.yaml has no tls.acme, so the gateway orders nothing.';
  const hint = files.length === 0 ? '' : ' `gateway certificates list` shows the certificates in files.';
  const acme = configuration.config.gateway.tls?.acme ?? context.fail(`${why}${hint}`);
  const store = await openAcmeStore(context.settings(), context.now);
  return { acme, store, ids: acme.certificates.map(recordIdOf), files };
}

/** Reads the certificates from their files. They are in use, unless a running gateway has refused them. */
export function certificatesInFiles(
  { settings, now }: Pick<CommandContext, 'settings' | 'now'>,
  { config, certificates }: Configuration,
): CertificateStatus[] {
  const { configDirectory } = settings();
  return (config.gateway.tls?.certificates ?? []).flatMap((files, index) => {
    const { [index]: read } = certificates;
    const [path] = pathsOf(files, configDirectory);
    return read === undefined ? [] : [{ ...lifeStatusOf(read, now()), file: shownPath(path), last_failure: null }];
  });
}

/** Returns the state of the configured certificates. No `certificate_key` is needed, because private keys stay sealed. */
export function certificateStatusIn(
  { acme }: Pick<OpenedStore, 'acme'>,
  records: AcmeRecords,
  nowMs: number,
): CertificateStatus[] {
  const view = new AcmeView({
    certificates: acme.certificates,
    seal: { fingerprint: '', seal: (text) => text, open: () => '' },
    readPair: (certificate, _key, names) => readOnlyCertificate(certificate, names),
    now: () => nowMs,
    onUnusable: () => undefined,
  });
  view.use(records);
  return acme.certificates.map((names) => statusOfKept(configuredCertificateIn(records, view, names), acme, nowMs));
}
