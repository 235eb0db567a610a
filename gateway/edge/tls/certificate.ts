// Reads certificates and their keys from files, and checks that they belong together before they are used.

import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { createSecureContext } from 'node:tls';
import type { Mistake } from '../../shared/mistakes.ts';
import type { Source } from '../../shared/yaml-source.ts';

/** The paths, as configured. */
export interface CertificateFiles {
  readonly certificate: string;
  readonly key: string;
  /** The names that the certificate is used for; undefined if these are the names in the certificate. */
  readonly names?: readonly string[] | undefined;
}

export interface Certificate {
  /** PEM, with intermediates. */
  readonly certificate: string;
  readonly key: string;
  /** Host names in lower case, possibly with `*` as their first label. */
  readonly names: readonly string[];
  readonly validFromMs: number;
  readonly expiresAtMs: number;
  /** Equal for equal certificates. */
  readonly fingerprint: string;
}

/** Why the files cannot be used, and which of them is at fault. */
export interface CertificateProblem {
  readonly at: 'certificate' | 'key' | 'names';
  readonly reason: string;
  readonly remedy: string;
}

export function isProblem(read: Certificate | CertificateProblem): read is CertificateProblem {
  return 'reason' in read;
}

/** Aborts the reading of a pair. */
class Unusable extends Error {
  readonly problem: CertificateProblem;

  constructor(at: CertificateProblem['at'], reason: string, remedy: string) {
    super(reason);
    this.problem = { at, reason, remedy };
  }
}

/** Returns the absolute paths of the two files. */
export function pathsOf(files: CertificateFiles, directory: string): readonly [string, string] {
  return [resolve(directory, files.certificate), resolve(directory, files.key)];
}

/** Reads both files, relative to a directory. Does not check whether the certificate is valid now; see `untimely`. */
export function readCertificate(files: CertificateFiles, directory: string): Certificate | CertificateProblem {
  const [certificatePath, keyPath] = pathsOf(files, directory);
  return unlessUnusable(() => {
    const certificate = readPem('certificate', certificatePath);
    // A mistake in the certificate is reported before a missing key.
    parseCertificate(certificate);
    return checkedPair(certificate, readPem('key', keyPath), files.names);
  });
}

/** Checks a certificate and a key in PEM form. Does not check whether the certificate is valid now; see `untimely`. */
export function certificateOf(
  certificate: string,
  key: string,
  names: readonly string[] | undefined,
): Certificate | CertificateProblem {
  return unlessUnusable(() => checkedPair(certificate, key, names));
}

/** Checks a certificate in PEM form, for a reader that has no key. */
export function readOnlyCertificate(certificate: string, names: readonly string[]): Certificate | CertificateProblem {
  return unlessUnusable(() => describePair(parseCertificate(certificate), { certificate, key: '' }, names));
}

function unlessUnusable(read: () => Certificate): Certificate | CertificateProblem {
  try {
    return read();
  } catch (error) {
    if (error instanceof Unusable) return error.problem;
    throw error;
  }
}

function checkedPair(certificate: string, key: string, names: readonly string[] | undefined): Certificate {
  const parsed = parseCertificate(certificate);
  if (!parsed.checkPrivateKey(parseKey(key)))
    throw new Unusable('key', 'the key does not belong to the certificate.', 'Name the key that it was issued for.');
  checkUsable(certificate, key);
  return describePair(parsed, { certificate, key }, names);
}

function describePair(
  parsed: X509Certificate,
  pair: Pick<Certificate, 'certificate' | 'key'>,
  names: readonly string[] | undefined,
): Certificate {
  return {
    ...pair,
    names: namesFor(parsed, names),
    validFromMs: parsed.validFromDate.getTime(),
    expiresAtMs: parsed.validToDate.getTime(),
    fingerprint: parsed.fingerprint256,
  };
}

/** Returns the problem if the certificate has expired or is not valid yet; otherwise undefined. */
export function untimely({ validFromMs, expiresAtMs }: Certificate, nowMs: number): CertificateProblem | undefined {
  const dayOf = (ms: number) => new Date(ms).toISOString();
  if (nowMs >= expiresAtMs)
    return { at: 'certificate', reason: `the certificate expired at ${dayOf(expiresAtMs)}.`, remedy: 'Renew it.' };
  if (nowMs >= validFromMs) return undefined;
  const reason = `the certificate is not valid before ${dayOf(validFromMs)}.`;
  return { at: 'certificate', reason, remedy: 'Use one that is valid now, or correct the clock of this machine.' };
}

function readPem(at: 'certificate' | 'key', path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const isAbsent = (error as NodeJS.ErrnoException).code === 'ENOENT';
    const reason = isAbsent ? `the file ${path} does not exist.` : `the file ${path} cannot be read.`;
    throw new Unusable(at, reason, 'Create it, or correct the path, which is relative to the configuration directory.');
  }
}

function parseCertificate(pem: string): X509Certificate {
  try {
    // The certificates after the first are intermediates for the client.
    const all = pem.match(/-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g) ?? [];
    const [first] = all.map((one) => new X509Certificate(one));
    if (first !== undefined) return first;
  } catch {
    // The error below reports it.
  }
  throw new Unusable('certificate', 'the file holds no certificate in PEM form.', 'Convert it, or name another file.');
}

function parseKey(pem: string): KeyObject {
  try {
    return createPrivateKey(pem);
  } catch (error) {
    const isEncrypted = (error as NodeJS.ErrnoException).code === 'ERR_MISSING_PASSPHRASE';
    const reason = isEncrypted ? 'the key is encrypted.' : 'the file holds no private key in PEM form.';
    throw new Unusable('key', reason, 'Convert it to an unencrypted PEM file that only the gateway can read.');
  }
}

/** Checks the pair with OpenSSL, which finds a key that is too short, for example. */
function checkUsable(certificate: string, key: string): void {
  try {
    createSecureContext({ cert: certificate, key });
  } catch (error) {
    const reason = `TLS cannot be spoken with it (${(error as Error).message}).`;
    throw new Unusable('certificate', reason, 'Have another certificate issued.');
  }
}

function namesFor(parsed: X509Certificate, wanted: readonly string[] | undefined): readonly string[] {
  const own = (parsed.subjectAltName ?? '')
    .split(', ')
    .flatMap((entry) => (entry.startsWith('DNS:') ? [entry.slice(4).toLowerCase()] : []));
  for (const name of wanted ?? []) {
    const isCovered = own.includes(name) || (!name.startsWith('*') && parsed.checkHost(name) !== undefined);
    if (!isCovered)
      throw new Unusable('names', `the certificate is not for "${name}".`, 'Remove the name, or have it certified.');
  }
  return wanted ?? own;
}

/** The part of a configuration that names certificates. */
interface CertificateSources {
  readonly gateway: { readonly tls?: { readonly certificates?: readonly CertificateFiles[] | undefined } | undefined };
  readonly sources: { readonly gateway: Pick<Source, 'mistakeAt'> };
}

/** Reads all certificates and pushes a mistake for each unusable one. */
export function loadCertificates(
  { gateway, sources }: CertificateSources,
  directory: string,
  mistakes: Mistake[],
): Certificate[] {
  return (gateway.tls?.certificates ?? []).flatMap((files, index) => {
    const read = readCertificate(files, directory);
    if (!isProblem(read)) return [read];
    mistakes.push(sources.gateway.mistakeAt(['tls', 'certificates', index, read.at], read.reason, read.remedy));
    return [];
  });
}

/**
 * Returns a mistake for each certificate outside its validity. The gateway starts with such a certificate all the same, because not every
 * client checks the validity.
 */
export function untimelyMistakes(
  { gateway, sources }: CertificateSources,
  all: readonly Certificate[],
  nowMs: number,
): Mistake[] {
  return all.flatMap((certificate, index) => {
    const problem = untimely(certificate, nowMs);
    if (gateway.tls === undefined || problem === undefined) return [];
    const { at, reason, remedy } = problem;
    return [sources.gateway.mistakeAt(['tls', 'certificates', index, at], reason, remedy)];
  });
}
