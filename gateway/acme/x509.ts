// Makes keys, certificate requests (RFC 2986), and the self-signed certificates that prove the control of a host name in a TLS handshake:
// tls-alpn-01 (RFC 8737 section 3). All keys are P-256 keys.

import { createHash, createPublicKey, generateKeyPairSync, type KeyObject, sign, X509Certificate } from 'node:crypto';
import { DAY_MS } from '../shared/durations.ts';
import { REAL_MACHINE } from '../shared/machine.ts';
import { bits, der, derInteger, derTagged, derTrue, octets, oid, sequence, set, utcTime, utf8 } from './der.ts';

/** The ALPN protocol of the handshake with which an ACME server validates a name. */
export const ACME_TLS = 'acme-tls/1';

const ECDSA_WITH_SHA256 = '1.2.840.10045.4.3.2';
const EXTENSION_REQUEST = '1.2.840.113549.1.9.14';
const SUBJECT_ALTERNATIVE_NAME = '2.5.29.17';
const ACME_IDENTIFIER = '1.3.6.1.5.5.7.1.31';
const COMMON_NAME = '2.5.4.3';

/** Generates a key, in PEM. */
export function newKeyPem(): string {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
}

/** Returns a request in DER, signed with the private key. Its subject is empty, and the names are subject alternative names. */
export function createRequest(names: readonly string[], key: KeyObject): Buffer {
  const extensions = sequence(alternativeNames(names));
  const body = sequence(
    derInteger(Buffer.from([0])),
    sequence(),
    createPublicKey(key).export({ type: 'spki', format: 'der' }),
    derTagged(0, sequence(oid(EXTENSION_REQUEST), set(extensions))),
  );
  return signed(body, key);
}

export interface ChallengeCertificate {
  /** PEM. */
  readonly certificate: string;
  readonly key: string;
}

/** Makes a certificate with a new key, in about a millisecond. It is valid for a day before and after `nowMs`. */
export function createChallengeCertificate(
  name: string,
  keyAuthorization: string,
  nowMs: number,
  { randomBytes } = REAL_MACHINE,
): ChallengeCertificate {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const digest = createHash('sha256').update(keyAuthorization).digest();
  const subject = sequence(set(sequence(oid(COMMON_NAME), utf8('ACME challenge'))));
  const body = sequence(
    derTagged(0, derInteger(Buffer.from([2]))),
    derInteger(Buffer.concat([Buffer.from([1]), randomBytes(15)])),
    signatureAlgorithm(),
    subject,
    sequence(utcTime(nowMs - DAY_MS), utcTime(nowMs + DAY_MS)),
    subject,
    createPublicKey(privateKey).export({ type: 'spki', format: 'der' }),
    derTagged(3, sequence(alternativeNames([name]), sequence(oid(ACME_IDENTIFIER), derTrue(), octets(octets(digest))))),
  );
  return {
    certificate: new X509Certificate(signed(body, privateKey)).toString(),
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
  };
}

/** Returns the extension `subjectAltName` with these host names. */
export function alternativeNames(names: readonly string[]): Buffer {
  const listed = names.map((name) => der(0x82, Buffer.from(name, 'ascii')));
  return sequence(oid(SUBJECT_ALTERNATIVE_NAME), octets(sequence(...listed)));
}

export const signatureAlgorithm = () => sequence(oid(ECDSA_WITH_SHA256));

/** Returns the body with the algorithm and its ECDSA signature. */
export function signed(body: Buffer, key: KeyObject): Buffer {
  return sequence(body, signatureAlgorithm(), bits(sign('sha256', body, key)));
}
