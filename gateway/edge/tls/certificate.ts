// A certificate and its key as files: read, and held against each other before anybody is shown them.

import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { createSecureContext } from 'node:tls';

/** As the configuration names it. */
export interface CertificateFiles {
  readonly certificate: string;
  readonly key: string;
  /** Undefined: those that stand in the certificate. */
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

/** Why files cannot be used, and which of them is to blame. */
export interface CertificateProblem {
  readonly at: 'certificate' | 'key' | 'names';
  readonly reason: string;
  readonly remedy: string;
}

/** What stops the reading of a pair. */
class Unusable extends Error {
  readonly problem: CertificateProblem;

  constructor(at: CertificateProblem['at'], reason: string, remedy: string) {
    super(reason);
    this.problem = { at, reason, remedy };
  }
}

/** Where the two files are, absolute. */
export function pathsOf(files: CertificateFiles, directory: string): readonly [string, string] {
  return [resolve(directory, files.certificate), resolve(directory, files.key)];
}

/** Reads both files, relative to a directory. Whether the certificate is valid at this time is asked separately. */
export function readCertificate(files: CertificateFiles, directory: string): Certificate | CertificateProblem {
  const [certificatePath, keyPath] = pathsOf(files, directory);
  try {
    const certificate = readPem('certificate', certificatePath);
    const parsed = parseCertificate(certificate);
    const key = readPem('key', keyPath);
    if (!parsed.checkPrivateKey(parseKey(key)))
      throw new Unusable('key', 'the key does not belong to the certificate.', 'Name the key that it was issued for.');
    checkUsable(certificate, key);
    return {
      certificate,
      key,
      names: namesFor(parsed, files.names),
      validFromMs: parsed.validFromDate.getTime(),
      expiresAtMs: parsed.validToDate.getTime(),
      fingerprint: parsed.fingerprint256,
    };
  } catch (error) {
    if (error instanceof Unusable) return error.problem;
    throw error;
  }
}

/** What speaks against showing it at this time; undefined: nothing. */
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
    // Everything after the first one is for the client to build its chain of.
    const all = pem.match(/-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g) ?? [];
    const [first] = all.map((one) => new X509Certificate(one));
    if (first !== undefined) return first;
  } catch {
    // Told below.
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

/** What OpenSSL has against it, such as a key that is too short. */
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
