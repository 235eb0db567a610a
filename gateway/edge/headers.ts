// Reads the raw header lines in one pass into a lower-case map, with one rule for repeated fields. Throws malformed_http,
// authorization_ambiguous, headers_too_large.

import { GatewayError } from '../errors.ts';

// Fields with a single value. A second line is an attack or a mistake, and upstreams would differ on which one counts.
const single = new Set([
  'host',
  'content-length',
  'content-type',
  'content-encoding',
  'transfer-encoding',
  'expect',
  'user-agent',
  'if-modified-since',
  'if-unmodified-since',
  'x-request-id',
  'traceparent',
]);
const HEADER_LINES_MAX = 100;

/** Returns name → value. Lines of a list-valued field are joined in order (RFC 9110 section 5.3). */
export function readHeaders(raw: readonly string[], bytesMax: number): Map<string, string> {
  const headers = new Map<string, string>();
  if (raw.length > HEADER_LINES_MAX * 2)
    throw new GatewayError('headers_too_large', { fields: { max_lines: HEADER_LINES_MAX } });
  let size = 0;
  for (let i = 0; i < raw.length; i += 2) {
    const rawName = raw[i] as string;
    const value = raw[i + 1] as string;
    size += rawName.length + value.length + 4;
    const name = rawName.toLowerCase();
    const before = headers.get(name);
    if (before === undefined) headers.set(name, value);
    else if (name === 'authorization') throw new GatewayError('authorization_ambiguous');
    else if (single.has(name)) throw new GatewayError('malformed_http');
    else headers.set(name, name === 'cookie' ? `${before}; ${value}` : `${before}, ${value}`);
  }
  if (size > bytesMax) throw new GatewayError('headers_too_large', { fields: { max_bytes: bytesMax } });
  return headers;
}
