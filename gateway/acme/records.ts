// Defines the records in the certificate store, and their names. The id of a certificate is the sorted list of its host names.

import type { AcmeRecords } from './acme-store.ts';
import type { FailureKind } from './failure.ts';
import type { RenewalWindow } from './renewal.ts';

/** The account at an ACME server. */
export interface AccountRecord {
  /** Sealed PEM. */
  readonly key: string;
  /** Undefined until the server has confirmed the account. */
  readonly url?: string | undefined;
  readonly contacts: readonly string[];
  /** During a key change, the key that replaces `key`. Sealed PEM. */
  readonly nextKey?: string | undefined;
}

/** An order in progress. It contains the private key of the certificate, because another instance needs the key to finish the order. */
export interface OrderRecord {
  readonly url: string;
  readonly account: string;
  /** Sealed PEM. */
  readonly key: string;
  readonly atMs: number;
}

export interface CertificateRecord {
  readonly names: readonly string[];
  /** PEM, with intermediates. */
  readonly certificate: string;
  /** Sealed PEM. */
  readonly key: string;
  readonly directory: string;
  readonly issuedAtMs: number;
  readonly revokedAtMs?: number | undefined;
}

/** The answer to a validation, which every instance gives. Its token is not secret. */
export interface ChallengeRecord {
  readonly name: string;
  readonly token: string;
  readonly keyAuthorization: string;
}

/** The number of failures in a row, and the time of the next attempt. */
export interface AttemptsRecord {
  readonly failures: number;
  readonly kind: FailureKind;
  readonly reason: string;
  readonly atMs: number;
  readonly nextAtMs: number;
}

/** Renewal information of the certificate in use. */
interface RenewalRecord {
  /** The identifier of the certificate that the server was asked about. */
  readonly certificateId: string;
  readonly window?: RenewalWindow | undefined;
  readonly askAtMs: number;
}

/** The request of an operator, written by a command. */
export interface AskedRecord {
  readonly kind: 'order' | 'account key';
  readonly by: string;
  readonly atMs: number;
}

/**
 * The request of an operator to revoke the certificate in use. It is not an AskedRecord, because the end of an order in progress removes
 * the AskedRecord, and would remove this request without a revocation.
 */
interface RevocationRecord {
  /** The certificate to revoke. PEM, with the text of its record. */
  readonly certificate: string;
  readonly by: string;
  readonly atMs: number;
  /**
   * The time at which the server confirmed the revocation. The record stays, because a command takes a missing record for a loss of the
   * store.
   */
  readonly doneAtMs?: number | undefined;
}

interface Kinds {
  readonly account: AccountRecord;
  readonly order: OrderRecord;
  readonly certificate: CertificateRecord;
  readonly challenges: readonly ChallengeRecord[];
  /** The answers with which `gateway doctor` tries whether a validation would reach this gateway. */
  readonly rehearsal: readonly ChallengeRecord[];
  readonly attempts: AttemptsRecord;
  readonly renewal: RenewalRecord;
  readonly asked: AskedRecord;
  readonly revocation: RevocationRecord;
}

export type RecordKind = keyof Kinds;

/** The record that holds the fingerprint of `certificate_key`. */
export const SEAL_RECORD = 'seal';
/** Replaces the id of a certificate in records about the server as a whole. */
export const SERVER = 'server';

export const recordName = (kind: RecordKind, id: string) => `${kind} ${id}`;

/** Returns a record; undefined if it does not exist, or cannot be parsed. */
export function recordIn<K extends RecordKind>(records: AcmeRecords, kind: K, id: string): Kinds[K] | undefined {
  return parseRecord(records.get(recordName(kind, id)));
}

/** Returns a requested revocation that is not done yet; undefined if there is none. */
export function revocationAsked(records: AcmeRecords, id: string): RevocationRecord | undefined {
  const asked = recordIn(records, 'revocation', id);
  return asked?.doneAtMs === undefined ? asked : undefined;
}

interface FoundRecord<T> {
  readonly id: string;
  readonly text: string;
  readonly value: T;
}

/** Returns all records of a kind that can be parsed. */
export function recordsOf<K extends RecordKind>(records: AcmeRecords, kind: K): FoundRecord<Kinds[K]>[] {
  const found: FoundRecord<Kinds[K]>[] = [];
  for (const [name, text] of records) {
    if (!name.startsWith(`${kind} `)) continue;
    const value = parseRecord<Kinds[K]>(text);
    if (value !== undefined) found.push({ id: name.slice(kind.length + 1), text, value });
  }
  return found;
}

/** Returns the change that writes a record, or that removes the record if the value is undefined. */
export function change<K extends RecordKind>(kind: K, id: string, value: Kinds[K] | undefined) {
  return { [recordName(kind, id)]: value === undefined ? undefined : JSON.stringify(value) };
}

/** Returns the id under which the records of a certificate are stored. */
export const recordIdOf = (names: readonly string[]) => [...names].sort().join(',');
/** The name under which the private key of a certificate is sealed, in the order and in the certificate. */
export const sealedAs = (id: string) => `key ${id}`;

function parseRecord<T>(text: string | undefined): T | undefined {
  try {
    return text === undefined ? undefined : (JSON.parse(text) as T);
  } catch {
    return undefined;
  }
}
