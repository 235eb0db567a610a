// What makes two requests the same one, and what stands for a key in the store. Pure.

import { createHash, hash } from 'node:crypto';
import type { Checked } from '../exchange.ts';

/** A digest of the key's text, so that a copy of the store gives no key away. */
export function digestOf(key: string): string {
  return hash('sha256', key, 'base64url');
}

/**
 * A digest of everything that decides what a request does: operation, path, query with the contract's defaults in any order of its
 * names, media type without parameters, and the body's bytes. Who asks is not part of it: that is where the key is looked up. The key's
 * text is, which the store does not hold: a body may hold a password, and nobody with a copy of the store can try which.
 */
export function fingerprintOf({ operation, path, search, headers, rawBody }: Checked, key: string): string {
  const query = new URLSearchParams(search);
  // Stable: values of one name keep their order, which may mean something.
  query.sort();
  const mediaType = headers.get('content-type')?.split(';', 1)[0]?.trim().toLowerCase();
  const head = JSON.stringify([key, operation.id, path, query.toString(), mediaType ?? '']);
  // JSON text has no line break, so that nothing of the head can be taken for a body.
  const digest = createHash('sha256').update(head).update('\n');
  if (rawBody !== undefined) digest.update(rawBody);
  return digest.digest('base64url');
}
