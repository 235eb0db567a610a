// Pure: the fingerprint by which two requests count as the same one, and the digest that the store keeps of a key.

import { createHash, hash } from 'node:crypto';
import type { Checked } from '../exchange/exchange.ts';

/** Returns a digest of the key's text. The store has only digests, so that a copy of it reveals no key. */
export function digestOf(key: string): string {
  return hash('sha256', key, 'base64url');
}

/**
 * Returns a digest of everything that determines what a request does: operation, path, query (with the contract's defaults, in any order of
 * names), media type without parameters, and the bytes of the body, in forms of several parts without their delimiters, which clients
 * choose anew each time. The caller is not included, because keys are looked up per caller's organization. The text of the key is included,
 * and the store does not hold it: a body may contain a password, and a copy of the store must not allow guessing it.
 *
 * @param delimiter of a form of several parts; undefined for other bodies
 */
export function fingerprintOf(
  { operation, path, search, headers, rawBody }: Checked,
  key: string,
  delimiter: string | undefined,
): string {
  const query = new URLSearchParams(search);
  // The sort is stable: values of one name keep their order, which may matter.
  query.sort();
  const mediaType = headers.get('content-type')?.split(';', 1)[0]?.trim().toLowerCase();
  const head = JSON.stringify([key, operation.id, path, query.toString(), mediaType ?? '']);
  // The head is JSON without a line break, so the line break after it separates head and body for certain.
  const digest = createHash('sha256').update(head).update('\n');
  if (rawBody !== undefined) for (const piece of piecesOf(rawBody, delimiter)) digest.update(piece);
  return digest.digest('base64url');
}

/** The body, or what stands between its delimiters, each piece with its length before it. */
function* piecesOf(body: Buffer, delimiter: string | undefined): Generator<Buffer | string> {
  if (delimiter === undefined) {
    yield body;
    return;
  }
  for (let start = 0; start <= body.length; ) {
    const found = body.indexOf(delimiter, start, 'latin1');
    const end = found === -1 ? body.length : found;
    yield `${end - start}\n`;
    yield body.subarray(start, end);
    if (found === -1) return;
    start = end + delimiter.length;
  }
}
