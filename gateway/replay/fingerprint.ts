// Pure: computes the fingerprint by which a repeated request is recognised, and the digest of a key, which the store keeps.

import { createHash, hash } from 'node:crypto';
import type { Checked } from '../exchange/exchange.ts';

/** Returns a digest of the key's text. The store contains only digests, so that a copy of the store reveals no key. */
export function digestOf(key: string): string {
  return hash('sha256', key, 'base64url');
}

/**
 * Returns a digest of everything that determines what a request does: operation, path, query (with the contract's defaults, in any order of
 * names), media type without parameters, and the bytes of the body. In forms of several parts, the delimiters are left out, because clients
 * choose them each time. The caller is not included, because keys are looked up per caller's organization. The text of the key, which the
 * store does not contain, is included, because a body may contain a password, and a copy of the store must not allow guessing the password.
 *
 * @param delimiter the delimiter of a form of several parts; undefined for other bodies
 */
export function fingerprintOf(
  { operation, path, search, headers, rawBody }: Checked,
  key: string,
  delimiter: string | undefined,
): string {
  const query = new URLSearchParams(search);
  // The sort is stable, so values of one name keep their order, which may matter.
  query.sort();
  const mediaType = headers.get('content-type')?.split(';', 1)[0]?.trim().toLowerCase();
  const head = JSON.stringify([key, operation.id, path, query.toString(), mediaType ?? '']);
  // The head is JSON without a line break, so the line break after it separates head and body for certain.
  const digest = createHash('sha256').update(head).update('\n');
  if (rawBody !== undefined) for (const piece of piecesOf(rawBody, delimiter)) digest.update(piece);
  return digest.digest('base64url');
}

/** Yields the body, or the pieces between its delimiters. The length of each piece comes before the piece. */
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
