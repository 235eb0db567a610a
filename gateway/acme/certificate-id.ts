// Reads the identifier of a certificate for renewal information (RFC 9773 section 4.1).

import { X509Certificate } from 'node:crypto';
import { oid, readDer, SEQUENCE } from './der.ts';

const AUTHORITY_KEY_IDENTIFIER = oid('2.5.29.35');
const EXTENSIONS_TAG = 0xa3;
const KEY_IDENTIFIER_TAG = 0x80;

/** Returns the identifier of a certificate in PEM; undefined if the certificate does not identify its authority's key. */
export function certificateIdOf(pem: string): string | undefined {
  try {
    const [certificate] = readDer(new X509Certificate(pem).raw);
    const [body] = readDer(certificate?.content ?? Buffer.alloc(0));
    const fields = readDer(body?.content ?? Buffer.alloc(0));
    // The version comes first; certificates of version 1 lack it.
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
