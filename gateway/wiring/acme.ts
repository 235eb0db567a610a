// Opens the ordering of certificates (`tls.acme`) with its store and secrets, and reports orders to the log, the audit log, `/status` and
// the metrics. This file is loaded only if `tls.acme` is configured.

import { createHttpClient } from '../acme/acme-http.ts';
import type { AcmeStore } from '../acme/acme-store.ts';
import type { AcmeEvent } from '../acme/jobs.ts';
import { Keeper } from '../acme/keeper.ts';
import { openRedisAcmeStore } from '../acme/redis-acme-store.ts';
import { createSeal } from '../acme/seal.ts';
import { createSqliteAcmeStore } from '../acme/sqlite-acme-store.ts';
import type { ConfiguredCertificate } from '../acme/view.ts';
import type { AcmeSettings } from '../acme/work.ts';
import { ACME_TLS } from '../acme/x509.ts';
import type { KeyStore } from '../auth/store/key-store.ts';
import { type Acme, CERTIFICATE_KEY, directoryUrlOf } from '../config/gateway/acme.ts';
import { readTrust } from '../config/gateway/acme-needs.ts';
import type { Secrets } from '../config/secrets.ts';
import type { Settings } from '../config/settings.ts';
import { type Certificate, certificateOf } from '../edge/tls/certificate.ts';
import type { Validations } from '../edge/tls/secure.ts';
import type { Log } from '../observe/log/log.ts';
import { stateOfLife } from '../shared/certificate-life.ts';
import { instanceName } from '../shared/questions/fleet.ts';
import { isoTime } from '../shared/text.ts';
import { createAuditNote } from './audit-note.ts';
import { type CertificateStatus, lifeStatusOf, watchExpiry } from './certificate-status.ts';

interface OpenAcmeOptions {
  readonly acme: Acme;
  readonly settings: Settings;
  readonly secrets: Pick<Secrets, 'read' | 'readOrMake'>;
  readonly version: string;
  readonly log: Log;
  readonly store: Pick<KeyStore, 'audit'>;
  now(): number;
  onRenewal(outcome: 'applied' | 'refused'): void;
  onOrder(outcome: 'issued' | 'failed'): void;
}

export interface OrderedCertificates {
  /** Begins to order certificates. The listeners must be open. */
  begin(): void;
  /** Returns the certificates for the listener. */
  shownCertificates(): readonly Certificate[];
  /** Calls back when they have changed. */
  onChange(use: () => void): void;
  readonly validations: Validations;
  /** Finds the answer to a challenge; undefined if the challenge is not http-01. */
  readonly findKeyAuthorization: ((token: string) => Promise<string | undefined>) | undefined;
  status(): readonly CertificateStatus[];
  /** Returns the names without a certificate that clients accept. */
  missing(): readonly string[];
  close(): Promise<void>;
}

/** Rejects with an Error for operators if the store cannot be opened, or was written with another `certificate_key`. */
export async function openAcme(options: OpenAcmeOptions): Promise<OrderedCertificates> {
  const { acme, settings, secrets, log, now } = options;
  const store = await openAcmeStore(settings, now);
  const listeners = new Set<() => void>();
  let before = new Set<string>();

  function onCertificates(all: readonly Certificate[]): void {
    for (const { names, expiresAtMs, fingerprint } of all) {
      if (before.has(fingerprint)) continue;
      log.logger.info(
        { certificate: acme.directory, names, expires_at: isoTime(expiresAtMs) },
        'a certificate is in use',
      );
      options.onRenewal('applied');
    }
    before = new Set(all.map(({ fingerprint }) => fingerprint));
    for (const use of listeners) use();
  }

  const report = createReport(options);
  const keeper = new Keeper({
    store,
    seal: createSeal(await certificateKeyOf(settings, secrets)),
    settings: acmeSettings(acme, secrets),
    http: createHttpClient(readTrust(acme.trust, settings.configDirectory), `platform-gateway/${options.version}`),
    readPair: certificateOf,
    now,
    onCertificates,
    onEvent: report,
    onUnusable(id, reason) {
      log.logger.error({ names: id.split(','), reason }, 'a stored certificate cannot be used');
      options.onRenewal('refused');
    },
    onStore(reason) {
      if (reason === undefined) log.logger.info('the certificate store can be read again');
      else log.logger.error({ reason }, 'the certificate store cannot be read; the last ones stay in use');
    },
  });
  try {
    await keeper.open();
  } catch (error) {
    await keeper.close();
    throw error;
  }
  const expiry = watchExpiry(log.logger, now, () =>
    keeper.shown().map((certificate) => [certificate.names.join(), certificate]),
  );
  return {
    begin: () => keeper.begin(),
    shownCertificates: () => keeper.shown(),
    onChange: (use) => void listeners.add(use),
    validations: { protocol: ACME_TLS, ...keeper.answers },
    findKeyAuthorization: acme.challenge === 'http-01' ? keeper.answers.findKeyAuthorization : undefined,
    status: () => keeper.kept().map((kept) => statusOfKept(kept, acme, now())),
    missing: () => missingIn(keeper, now()),
    async close() {
      expiry.stop();
      await keeper.close();
    },
  };
}

export function openAcmeStore(
  { redisUrl, dataDirectory, acceptOneWay }: Settings,
  now: () => number,
): Promise<AcmeStore> | AcmeStore {
  return redisUrl === undefined
    ? createSqliteAcmeStore({ directory: dataDirectory, acceptOneWay, now })
    : openRedisAcmeStore(redisUrl);
}

/**
 * Returns the key that seals the private keys of certificates. Without Redis, the gateway creates it if it is missing; with Redis, the
 * start has checked that it exists.
 */
async function certificateKeyOf(
  { redisUrl }: Settings,
  secrets: Pick<Secrets, 'read' | 'readOrMake'>,
): Promise<string> {
  const given = redisUrl === undefined ? await secrets.readOrMake(CERTIFICATE_KEY) : secrets.read(CERTIFICATE_KEY);
  if (given === undefined) throw new Error(`There is no secrets entry ${CERTIFICATE_KEY}.`);
  return given;
}

function acmeSettings(acme: Acme, secrets: Pick<Secrets, 'read'>): AcmeSettings {
  const { contacts, challenge, certificates, externalAccount } = acme;
  return {
    directory: directoryUrlOf(acme),
    contacts,
    challenge,
    certificates,
    ...(externalAccount && {
      externalAccount: { keyId: externalAccount.keyId, secret: secrets.read(externalAccount.secret) ?? '' },
    }),
  };
}

/** Returns a function that reports an order to the log, the audit log and the metrics. Only the instance that placed the order calls it. */
function createReport({ log, store, settings, onOrder }: OpenAcmeOptions): (event: AcmeEvent) => void {
  const note = createAuditNote(store, log, 'a certificate order', instanceName(settings.port));

  return function report(event) {
    if (event.kind === 'account key changed') {
      log.logger.info({ by: event.by }, 'the key of the ACME account was changed');
      void note(event.by, { outcome: 'account key changed' });
    } else if (event.kind === 'failed') {
      const { reason, failures, nextAtMs } = event.attempts;
      const fields = { names: event.names, reason, failures, next_attempt_at: isoTime(nextAtMs) };
      log.logger.error(fields, 'a certificate could not be ordered');
      onOrder('failed');
    } else {
      const expires_at = event.kind === 'issued' ? isoTime(event.expiresAtMs) : undefined;
      const fields = { names: event.names, by: event.by, ...(expires_at && { expires_at }) };
      log.logger.info(fields, `a certificate was ${event.kind}`);
      if (event.kind === 'issued') onOrder('issued');
      void note(event.by, { outcome: event.kind, names: event.names, ...(expires_at && { expires_at }) });
    }
  };
}

export function statusOfKept(kept: ConfiguredCertificate, { directory }: Acme, nowMs: number): CertificateStatus {
  const { names, shown, renewsAtMs, isRevoked, failure } = kept;
  const life = shown === undefined ? absent(names) : lifeStatusOf({ ...shown, names }, nowMs);
  return {
    ...life,
    ...(isRevoked && { state: 'revoked' as const }),
    acme: directory,
    renews_at: renewsAtMs === undefined ? null : isoTime(renewsAtMs),
    last_failure: failure
      ? {
          at: isoTime(failure.atMs),
          reason: failure.reason,
          failures: failure.failures,
          next_attempt_at: isoTime(failure.nextAtMs),
        }
      : null,
  };
}

const absent = (names: readonly string[]) =>
  ({ names, state: 'missing', valid_from: null, expires_at: null, days_left: null }) as const;

function missingIn(keeper: Keeper, nowMs: number): string[] {
  return keeper
    .kept()
    .flatMap(({ names, shown }) => (shown === undefined || stateOfLife(shown, nowMs) === 'expired' ? names : []));
}
