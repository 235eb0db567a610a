// Reads the raw header lines in one pass into a lower-case map, with one rule for repeated fields and one for fields that Connection names.
// Throws malformed_http, authorization_ambiguous, headers_too_large.

import { GatewayError } from '../../catalogue/errors.ts';
import { plainLength } from '../../http1/grammar.ts';

// Fields with a single value. A second line is an attack or a mistake, and servers differ in which line they use.
const SINGLE_HEADERS = new Set([
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

/**
 * Fields that decide what a request means, such as its caller, its address and host, the length and type of its body, and the conditions
 * under which it runs. A `Connection` field that names one of them is refused (RFC 9110 section 7.6.1).
 */
const MEANINGFUL_HEADER =
  /^(?:authorization|cookie|host|origin|forwarded|x-forwarded-.*|content-(?:length|type|encoding)|transfer-encoding|expect|idempotency-key|if-.*)$/;

/**
 * Returns name → value. Lines of a list-valued field are joined in order (RFC 9110 section 5.3); fields of this connection are left out.
 */
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
    else if (SINGLE_HEADERS.has(name)) throw new GatewayError('malformed_http');
    else headers.set(name, name === 'cookie' ? `${before}; ${value}` : `${before}, ${value}`);
  }
  if (size > bytesMax) throw new GatewayError('headers_too_large', { fields: { max_bytes: bytesMax } });
  const connection = headers.get('connection');
  if (connection !== undefined) dropNamed(headers, connection);
  const length = headers.get('content-length');
  if (length !== undefined) headers.set('content-length', plainLength(length));
  return headers;
}

/**
 * Drops the fields that Connection names before a stage reads them, so that stages check what the upstream gets. Heads of the fast path do
 * not need this, because their Connection names no field (`http1/usual-head.ts`).
 */
function dropNamed(headers: Map<string, string>, connection: string): void {
  for (const option of connection.toLowerCase().split(',')) {
    const name = option.trim();
    if (!headers.has(name)) continue;
    if (MEANINGFUL_HEADER.test(name)) throw new GatewayError('malformed_http');
    headers.delete(name);
  }
}
