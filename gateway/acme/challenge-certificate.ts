// Makes the self-signed certificate that proves the control of a host name in a TLS handshake: tls-alpn-01 (RFC 8737 section 3).

import { createHash, createPublicKey, generateKeyPairSync, X509Certificate } from 'node:crypto';
import { DAY_MS } from '../shared/durations.ts';
import { REAL_MACHINE } from '../shared/machine.ts';
import { alternativeNames, signatureAlgorithm, signed } from './csr.ts';
import { derInteger, derTagged, octets, oid, sequence, set, utcTime, utf8, yes } from './der.ts';

/** The ALPN protocol of the handshake with which an ACME server validates a name. */
export const ACME_TLS = 'acme-tls/1';

const ACME_IDENTIFIER = '1.3.6.1.5.5.7.1.31';
const COMMON_NAME = '2.5.4.3';

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
    derTagged(3, sequence(alternativeNames([name]), sequence(oid(ACME_IDENTIFIER), yes(), octets(octets(digest))))),
  );
  return {
    certificate: new X509Certificate(signed(body, privateKey)).toString(),
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
  };
}
