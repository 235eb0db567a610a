// The `ETag` of a record, and the comparison of `If-Match` (RFC 9110 section 13.1.1). Pure. Throws precondition_failed.

import { hash } from 'node:crypto';
import { GatewayError } from '../catalogue/errors.ts';

/** Returns a tag that is equal for equal members. @param members the members that can be changed */
export function etagOf(members: Readonly<Record<string, unknown>>): string {
  const sorted = Object.entries(members).sort(([a], [b]) => (a < b ? -1 : 1));
  return `"${hash('sha256', JSON.stringify(sorted), 'base64url').slice(0, 22)}"`;
}

/** Checks If-Match. Throws precondition_failed if the record has none of the tags that the client sent. */
export function requireMatch(ifMatch: string | undefined, etag: string): void {
  if (ifMatch === undefined || ifMatch.trim() === '*') return;
  const tags = ifMatch.split(',').map((tag) => tag.trim());
  // Weak tags never match here.
  if (!tags.includes(etag)) throw new GatewayError('precondition_failed');
}
