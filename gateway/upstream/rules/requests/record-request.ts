// The request for the current record, which a request rule needs to make the body of the client's request. Pure.

import { headersIn } from '../../../http1/client/request-head.ts';
import type { Outgoing } from '../../../http1/client/wire.ts';

/**
 * Header fields that describe the body or the conditions of the client's request. The read is sent without these fields, because they would
 * be wrong there.
 */
const DROPPED_HEADERS = new Set([
  ...['accept', 'accept-encoding', 'content-type', 'content-length', 'idempotency-key', 'prefer', 'last-event-id'],
  ...['if-match', 'if-none-match', 'if-modified-since', 'if-unmodified-since', 'if-range', 'range'],
]);

/** Returns the request for the record: a GET of the same path, for the same caller. */
export function recordRequest(outgoing: Outgoing, path: string): Outgoing {
  const headers = ['accept', 'application/json', 'accept-encoding', 'identity'];
  const given = headersIn(outgoing);
  for (let i = 0; i < given.length; i += 2) {
    const name = given[i] as string;
    if (!DROPPED_HEADERS.has(name)) headers.push(name, given[i + 1] as string);
  }
  return { method: 'GET', path, headers, body: null };
}
