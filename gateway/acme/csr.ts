// Makes certificate requests (RFC 2986) for P-256 keys, and identifiers of certificates for renewal information (RFC 9773 section 4.1).

import { createPublicKey, type KeyObject, sign, X509Certificate } from 'node:crypto';
import { bits, der, derInteger, derTagged, octets, oid, readDer, SEQUENCE, sequence, set } from './der.ts';

const ECDSA_WITH_SHA256 = '1.2.840.10045.4.3.2';
const EXTENSION_REQUEST = '1.2.840.113549.1.9.14';
const SUBJECT_ALTERNATIVE_NAME = '2.5.29.17';
const AUTHORITY_KEY_IDENTIFIER = oid('2.5.29.35');
const EXTENSIONS_TAG = 0xa3;
const KEY_IDENTIFIER_TAG = 0x80;

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

/** Returns the identifier of a certificate in PEM; undefined if the certificate has no identifier of its authority's key. */
export function certificateIdOf(pem: string): string | undefined {
  try {
    const [certificate] = readDer(new X509Certificate(pem).raw);
    const [body] = readDer(certificate?.content ?? Buffer.alloc(0));
    const fields = readDer(body?.content ?? Buffer.alloc(0));
    // The version comes first. It is absent for version 1.
    const serial = fields[0]?.tag === 0xa0 ? fields[1] : fields[0];
    const keyIdentifier = authorityKeyIn(fields.find(({ tag }) => tag === EXTENSIONS_TAG)?.content);
    if (serial === undefined || keyIdentifier === undefined) return undefined;
    return `${keyIdentifier.toString('base64url')}.${serial.content.toString('base64url')}`;
  } catch {
    return undefined;
  }
}

function authorityKeyIn(extensions: Buffer | undefined): Buffer | undefined {
  const [list] = readDer(extensions ?? Buffer.alloc(0));
  for (const { content } of readDer(list?.content ?? Buffer.alloc(0))) {
    const parts = readDer(content);
    if (parts[0]?.whole.equals(AUTHORITY_KEY_IDENTIFIER) !== true) continue;
    const [inside] = readDer(parts.at(-1)?.content ?? Buffer.alloc(0));
    if (inside?.tag !== SEQUENCE) return undefined;
    return readDer(inside.content).find(({ tag }) => tag === KEY_IDENTIFIER_TAG)?.content;
  }
  return undefined;
}
