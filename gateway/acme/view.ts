// Reads the records for one instance: the certificates that its listeners show, and the answers to validations. A record is parsed only
// when its text has changed.

import type { CertificateLife } from '../shared/certificate-life.ts';
import type { TextSeal } from '../shared/stores/seal.ts';
import type { AcmeRecords } from './acme-store.ts';
import { certificateIdOf } from './certificate-id.ts';
import { type CertificateInUse, renewalOf } from './due.ts';
import {
  type AttemptsRecord,
  type CertificateRecord,
  type ChallengeRecord,
  recordIdOf,
  recordIn,
  recordsOf,
  SERVER,
  sealedAs,
} from './records.ts';
import { type ChallengeCertificate, createChallengeCertificate } from './x509.ts';

/** A checked certificate with its key, in the form for listeners. */
export interface ShownCertificate extends CertificateLife {
  readonly certificate: string;
  readonly key: string;
  readonly names: readonly string[];
  readonly fingerprint: string;
}

/** Checks a certificate and its key, in PEM, for these names. */
export type ReadPair = (
  certificate: string,
  key: string,
  names: readonly string[],
) => ShownCertificate | { readonly reason: string };

export interface LoadedCertificate extends CertificateInUse {
  readonly id: string;
  readonly shown: ShownCertificate;
  /** The text of its record. */
  readonly text: string;
}

/** The state of one configured certificate. */
export interface ConfiguredCertificate {
  readonly names: readonly string[];
  /** The current certificate; undefined if there is none yet. */
  readonly shown: ShownCertificate | undefined;
  readonly renewsAtMs: number | undefined;
  readonly isRevoked: boolean;
  /** The last failure since the last certificate was issued; undefined if there was none. */
  readonly failure: AttemptsRecord | undefined;
}

interface ViewOptions {
  readonly certificates: readonly (readonly string[])[];
  readonly seal: TextSeal;
  readonly readPair: ReadPair;
  now(): number;
  /** Called for a record that cannot be used. */
  onUnusable(id: string, reason: string): void;
}

export class AcmeView {
  readonly #options: ViewOptions;
  /** The ids of the configured certificates. */
  readonly #ids: readonly string[];
  /** The texts of records that cannot be used, by id. */
  readonly #unusable = new Map<string, string>();
  #byId = new Map<string, LoadedCertificate>();
  #challenges = new Map<string, ChallengeRecord>();
  #challengeCertificates = new Map<string, ChallengeCertificate>();

  constructor(options: ViewOptions) {
    this.#options = options;
    this.#ids = options.certificates.map(recordIdOf);
  }

  /** Reads new records. Returns whether a certificate has changed. */
  use(records: AcmeRecords): boolean {
    this.#useChallenges(records);
    return this.#useCertificates(records);
  }

  /** Returns the certificate of a configured list of names. */
  certificateInUse(id: string): LoadedCertificate | undefined {
    return this.#byId.get(id);
  }

  /** Returns the certificates for listeners: first the certificates of configured lists, then others for configured names. */
  shownCertificates(): readonly ShownCertificate[] {
    const configured = new Set(this.#options.certificates.flat());
    const own = this.#ids.flatMap((id) => this.#byId.get(id) ?? []);
    // After a change of the lists, the former certificate is shown until the new list has a certificate.
    const former = [...this.#byId.values()].filter(
      ({ id, shown }) => !this.#ids.includes(id) && shown.names.some((name) => configured.has(name)),
    );
    return [...own, ...former].map(({ shown }) => shown);
  }

  challengeFor(name: string): ChallengeCertificate | undefined {
    const challenge = this.#challenges.get(name);
    if (challenge === undefined) return undefined;
    const certificate =
      this.#challengeCertificates.get(name) ??
      createChallengeCertificate(name, challenge.keyAuthorization, this.#options.now());
    this.#challengeCertificates.set(name, certificate);
    return certificate;
  }

  keyAuthorizationOf(token: string): string | undefined {
    return [...this.#challenges.values()].find((one) => one.token === token)?.keyAuthorization;
  }

  #read(id: string, text: string, record: CertificateRecord): LoadedCertificate | undefined {
    const known = this.#byId.get(id);
    if (known?.text === text) return known;
    if (this.#unusable.get(id) === text) return undefined;
    const { seal, readPair } = this.#options;
    try {
      const shown = readPair(record.certificate, seal.open(record.key, sealedAs(id)), record.names);
      if ('reason' in shown) throw new Error(`The certificate cannot be used: ${shown.reason}`);
      const { validFromMs, expiresAtMs, fingerprint } = shown;
      const { issuedAtMs } = record;
      const isRevoked = record.revokedAtMs !== undefined;
      const certificateId = certificateIdOf(record.certificate);
      return { id, shown, text, validFromMs, expiresAtMs, fingerprint, certificateId, isRevoked, issuedAtMs };
    } catch (error) {
      this.#unusable.set(id, text);
      this.#options.onUnusable(id, (error as Error).message);
      return undefined;
    }
  }

  #useCertificates(records: AcmeRecords): boolean {
    const next = new Map<string, LoadedCertificate>();
    for (const { id, text, value } of recordsOf(records, 'certificate')) {
      const loaded = this.#read(id, text, value);
      if (loaded !== undefined) next.set(id, loaded);
    }
    // A certificate stays in use even if the store has lost its record.
    for (const [id, loaded] of this.#byId) if (!next.has(id) && this.#ids.includes(id)) next.set(id, loaded);
    const isSame = next.size === this.#byId.size && [...next].every(([id, loaded]) => this.#byId.get(id) === loaded);
    this.#byId = next;
    return !isSame;
  }

  #useChallenges(records: AcmeRecords): void {
    const kinds = [recordsOf(records, 'rehearsal'), recordsOf(records, 'challenges')];
    const open = kinds.flat().flatMap(({ value }) => value);
    const next = new Map(open.map((challenge) => [challenge.name, challenge]));
    this.#challengeCertificates = new Map(
      [...this.#challengeCertificates].filter(([name]) => next.get(name)?.token === this.#challenges.get(name)?.token),
    );
    this.#challenges = next;
  }
}

/** Returns the state of the certificate for a configured list of names. */
export function configuredCertificateIn(
  records: AcmeRecords,
  view: AcmeView,
  names: readonly string[],
): ConfiguredCertificate {
  const id = recordIdOf(names);
  const loaded = view.certificateInUse(id);
  return {
    names,
    shown: loaded?.shown,
    renewsAtMs: loaded && renewalOf(id, records, loaded),
    isRevoked: loaded?.isRevoked ?? false,
    failure: recordIn(records, 'attempts', id) ?? recordIn(records, 'attempts', SERVER),
  };
}
