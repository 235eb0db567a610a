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
  certificateIdFor,
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

export interface HeldCertificate extends CertificateInUse {
  readonly id: string;
  readonly shown: ShownCertificate;
  /** The text of its record. */
  readonly text: string;
}

/** The state of one configured certificate. */
export interface KeptCertificate {
  readonly names: readonly string[];
  /** The current certificate; undefined if there is none yet. */
  readonly shown: ShownCertificate | undefined;
  readonly renewsAtMs: number | undefined;
  readonly isRevoked: boolean;
  /** The last failure since the last certificate was issued; undefined if there was none. */
  readonly failure: AttemptsRecord | undefined;
}

export interface AcmeView {
  /** Reads new records. Returns whether a certificate has changed. */
  use(records: AcmeRecords): boolean;
  /** Returns the certificate of a configured list of names. */
  certificateInUse(id: string): HeldCertificate | undefined;
  /** Returns the certificates for listeners: first the certificates of configured lists, then others for configured names. */
  servedCertificates(): readonly ShownCertificate[];
  challengeFor(name: string): ChallengeCertificate | undefined;
  keyAuthorizationOf(token: string): string | undefined;
}

interface ViewOptions {
  readonly certificates: readonly (readonly string[])[];
  readonly seal: TextSeal;
  readonly readPair: ReadPair;
  now(): number;
  /** Called for a record that cannot be used. */
  onUnusable(id: string, reason: string): void;
}

export function createView({ certificates, seal, readPair, now, onUnusable }: ViewOptions): AcmeView {
  const ids = certificates.map(certificateIdFor);
  const configured = new Set(certificates.flat());
  const unusable = new Map<string, string>();
  let all = new Map<string, HeldCertificate>();
  let challenges = new Map<string, ChallengeRecord>();
  let made = new Map<string, ChallengeCertificate>();

  function read(id: string, text: string, record: CertificateRecord): HeldCertificate | undefined {
    const known = all.get(id);
    if (known?.text === text) return known;
    if (unusable.get(id) === text) return undefined;
    try {
      const shown = readPair(record.certificate, seal.open(record.key, sealedAs(id)), record.names);
      if ('reason' in shown) throw new Error(`The certificate cannot be used: ${shown.reason}`);
      const { validFromMs, expiresAtMs, fingerprint } = shown;
      const { issuedAtMs } = record;
      const isRevoked = record.revokedAtMs !== undefined;
      const certificateId = certificateIdOf(record.certificate);
      return { id, shown, text, validFromMs, expiresAtMs, fingerprint, certificateId, isRevoked, issuedAtMs };
    } catch (error) {
      unusable.set(id, text);
      onUnusable(id, (error as Error).message);
      return undefined;
    }
  }

  function useCertificates(records: AcmeRecords): boolean {
    const next = new Map<string, HeldCertificate>();
    for (const { id, text, value } of recordsOf(records, 'certificate')) {
      const held = read(id, text, value);
      if (held !== undefined) next.set(id, held);
    }
    // A certificate stays in use even if the store has lost its record.
    for (const [id, held] of all) if (!next.has(id) && ids.includes(id)) next.set(id, held);
    const isSame = next.size === all.size && [...next].every(([id, held]) => all.get(id) === held);
    all = next;
    return !isSame;
  }

  function useChallenges(records: AcmeRecords): void {
    const kinds = [recordsOf(records, 'rehearsal'), recordsOf(records, 'challenges')];
    const open = kinds.flat().flatMap(({ value }) => value);
    const next = new Map(open.map((challenge) => [challenge.name, challenge]));
    made = new Map([...made].filter(([name]) => next.get(name)?.token === challenges.get(name)?.token));
    challenges = next;
  }

  return {
    use(records) {
      useChallenges(records);
      return useCertificates(records);
    },
    certificateInUse: (id) => all.get(id),
    servedCertificates() {
      const own = ids.flatMap((id) => all.get(id) ?? []);
      // After a change of the lists, the former certificate is shown until the new list has a certificate.
      const former = [...all.values()].filter(
        ({ id, shown }) => !ids.includes(id) && shown.names.some((name) => configured.has(name)),
      );
      return [...own, ...former].map(({ shown }) => shown);
    },
    challengeFor(name) {
      const challenge = challenges.get(name);
      if (challenge === undefined) return undefined;
      const certificate = made.get(name) ?? createChallengeCertificate(name, challenge.keyAuthorization, now());
      made.set(name, certificate);
      return certificate;
    },
    keyAuthorizationOf: (token) => [...challenges.values()].find((one) => one.token === token)?.keyAuthorization,
  };
}

/** Returns the state of the certificate for a configured list of names. */
export function keptIn(records: AcmeRecords, view: AcmeView, names: readonly string[]): KeptCertificate {
  const id = certificateIdFor(names);
  const held = view.certificateInUse(id);
  return {
    names,
    shown: held?.shown,
    renewsAtMs: held && renewalOf(id, records, held),
    isRevoked: held?.isRevoked ?? false,
    failure: recordIn(records, 'attempts', id) ?? recordIn(records, 'attempts', SERVER),
  };
}
