// The kinds of records in the store of certificates, and their names. A certificate is identified by its sorted host names.

import type { AcmeRecords } from './acme-store.ts';
import type { FailureKind, RenewalWindow } from './renewal.ts';

/** The account at one server. */
export interface AccountRecord {
  /** Sealed PEM. */
  readonly key: string;
  /** Undefined until the server has confirmed the account. */
  readonly url?: string | undefined;
  readonly contacts: readonly string[];
  /** Sealed PEM of the key that replaces `key`, while the server is asked for the change. */
  readonly nextKey?: string | undefined;
}

/** An order in progress. Its key is stored before the certificate exists, so that another instance can finish the order. */
export interface OrderRecord {
  readonly url: string;
  readonly account: string;
  /** Sealed PEM. */
  readonly key: string;
  readonly atMs: number;
}

interface CertificateRecord {
  readonly names: readonly string[];
  /** PEM, with intermediates. */
  readonly certificate: string;
  /** Sealed PEM. */
  readonly key: string;
  readonly directory: string;
  readonly issuedAtMs: number;
  readonly revokedAtMs?: number | undefined;
}

/** The answer of any instance to a validation. Tokens are no secrets. */
export interface ChallengeRecord {
  readonly name: string;
  readonly token: string;
  readonly keyAuthorization: string;
}

/** Failures in a row, and when the next attempt may begin. */
export interface AttemptsRecord {
  readonly failures: number;
  readonly kind: FailureKind;
  readonly reason: string;
  readonly atMs: number;
  readonly nextAtMs: number;
}

/** Renewal information of the certificate in use. */
interface RenewalRecord {
  /** The certificate that it is about. */
  readonly certificateId: string;
  readonly window?: RenewalWindow | undefined;
  readonly askAtMs: number;
}

/** The request of a command. */
export interface AskedRecord {
  readonly kind: 'order' | 'account key';
  readonly by: string;
  readonly atMs: number;
}

/**
 * The request of a command to revoke the certificate that is in use then. It has a record of its own, because an order in progress grants a
 * request to order, but not this one: its certificate takes the place of the one to revoke.
 */
interface RevocationRecord {
  /** PEM, as the record of the certificate has it. */
  readonly certificate: string;
  readonly by: string;
  readonly atMs: number;
  /**
   * When the server confirmed the revocation. The record stays: if it were removed, its author could take a loss of the store for a
   * success.
   */
  readonly doneAtMs?: number | undefined;
}

interface Kinds {
  readonly account: AccountRecord;
  readonly order: OrderRecord;
  readonly certificate: CertificateRecord;
  readonly challenges: readonly ChallengeRecord[];
  readonly rehearsal: readonly ChallengeRecord[];
  readonly attempts: AttemptsRecord;
  readonly renewal: RenewalRecord;
  readonly asked: AskedRecord;
  readonly revocation: RevocationRecord;
}

export type RecordKind = keyof Kinds;

/** The record that holds the fingerprint of `certificate_key`. */
export const SEAL_RECORD = 'seal';
/** Stands for the server as a whole, in place of a certificate id. */
export const SERVER = 'server';

export const recordName = (kind: RecordKind, id: string) => `${kind} ${id}`;

/** Undefined if the record does not exist or cannot be parsed. */
export function recordIn<K extends RecordKind>(records: AcmeRecords, kind: K, id: string): Kinds[K] | undefined {
  return parseRecord(records.get(recordName(kind, id)));
}

/** The revocation that waits for its turn; undefined if there is none. */
export function revocationAsked(records: AcmeRecords, id: string): RevocationRecord | undefined {
  const asked = recordIn(records, 'revocation', id);
  return asked?.doneAtMs === undefined ? asked : undefined;
}

/** All records of a kind. */
export function recordsOf<K extends RecordKind>(records: AcmeRecords, kind: K): Map<string, Kinds[K]> {
  const found = new Map<string, Kinds[K]>();
  for (const [name, text] of records) {
    if (!name.startsWith(`${kind} `)) continue;
    const value = parseRecord<Kinds[K]>(text);
    if (value !== undefined) found.set(name.slice(kind.length + 1), value);
  }
  return found;
}

/** The change that writes a record, or removes it if the value is undefined. */
export function change<K extends RecordKind>(kind: K, id: string, value: Kinds[K] | undefined) {
  return { [recordName(kind, id)]: value === undefined ? undefined : JSON.stringify(value) };
}

export const certificateIdFor = (names: readonly string[]) => [...names].sort().join(',');
/** The private key of a certificate is sealed under this name, in the order and in the certificate. */
export const sealedAs = (id: string) => `key ${id}`;

function parseRecord<T>(text: string | undefined): T | undefined {
  try {
    return text === undefined ? undefined : (JSON.parse(text) as T);
  } catch {
    return undefined;
  }
}
