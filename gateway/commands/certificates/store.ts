// The store of ordered certificates, as commands see it: they read its records, and leave a request that a running gateway takes up.

import { setTimeout as sleep } from 'node:timers/promises';
import type { AcmeRecords, AcmeStore } from '../../acme/acme-store.ts';
import { type AskedRecord, certificateIdFor, change, recordIn, SERVER } from '../../acme/records.ts';
import { isToCome } from '../../acme/renewal.ts';
import { createView, keptIn } from '../../acme/view.ts';
import type { Acme } from '../../config/gateway/acme.ts';
import { readOnlyCertificate } from '../../edge/tls/certificate.ts';
import { openAcmeStore, statusOfKept } from '../../wiring/acme.ts';
import type { CertificateStatus } from '../../wiring/certificate-status.ts';
import type { CommandContext } from '../context.ts';

const LOOK_MS = 200;
/** Longer than an order takes, and longer than the lease of an instance that has died. */
const PATIENCE_MS = 120_000;

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

/**
 * Leaves a request and waits until a gateway has granted it. Ends the command with the reason if none does.
 *
 * @param id of a certificate, or of the server
 */
export async function askGateway(
  { store }: OpenedStore,
  id: string,
  kind: AskedRecord['kind'],
  { actor, now, fail }: Pick<CommandContext, 'actor' | 'now' | 'fail'>,
): Promise<void> {
  const before = await store.read();
  const limits = [recordIn(before, 'attempts', id), recordIn(before, 'attempts', SERVER)];
  const limit = limits.find((one) => one?.kind === 'limited' && isToCome(one.nextAtMs, store.now()));
  if (limit) fail(`${limit.reason} The next attempt is possible at ${new Date(limit.nextAtMs).toISOString()}.`);
  await store.put(change('asked', id, { kind, by: actor, atMs: now() }));
  const endsAt = performance.now() + PATIENCE_MS;
  while (performance.now() < endsAt) {
    const records = await store.read();
    if (recordIn(records, 'asked', id) === undefined) {
      const reason = failureIn(records, before, id);
      return reason === undefined ? undefined : fail(reason);
    }
    await sleep(LOOK_MS);
  }
  await store.put(change('asked', id, undefined));
  fail('No gateway has taken up the request: is one running with this store and this tls.acme?');
}

/** The failure that was recorded meanwhile. */
function failureIn(records: AcmeRecords, before: AcmeRecords, id: string): string | undefined {
  for (const subject of [id, SERVER]) {
    const failure = recordIn(records, 'attempts', subject);
    if (failure !== undefined && failure.atMs !== recordIn(before, 'attempts', subject)?.atMs) return failure.reason;
  }
  return undefined;
}
