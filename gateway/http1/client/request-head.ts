// Pure: writes the head of a request.

import { isFieldValue, isToken } from '../grammar.ts';
import { type Outgoing, unsendable } from './wire.ts';

const USUAL_METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
const TARGET = /^[\x21-\x7e\x80-\xff]+$/;
/** Methods that expect a body. If such a request has no body, it sends `content-length: 0` (RFC 9110 section 8.6). */
const METHODS_THAT_TELL_LENGTH = new Set(['POST', 'PUT', 'PATCH']);

/**
 * Returns Latin-1 text up to and including the empty line. Throws WireFault if a part contains characters that could end its line.
 *
 * @param host value of `Host`
 * @param isKept whether the connection may carry another request afterwards
 */
export function requestHead(request: Outgoing, host: string, isKept: boolean): string {
  const { method, path, fieldLines = '', headers, body } = request;
  if (!(USUAL_METHODS.has(method) || isToken(method)) || !TARGET.test(path)) throw unsendable('the request line');
  let fields = '';
  let isCounted = false;
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at] as string;
    const value = headers[at + 1] as string;
    if (!isFieldValue(value)) throw unsendable(name);
    if (name === 'content-length') isCounted = true;
    fields += `${name}: ${value}\r\n`;
  }
  const start = `${method} ${path}${connectionLines(host, isKept)}`;
  return `${start}${fieldLines}${fields}${framingOf(method, body, isCounted)}\r\n`;
}

const keptLines = new Map<string, string>();
/** Bound of the remembered hosts, because each reload of the configuration may name other hosts. */
const HOSTS_MAX = 1000;

/** Returns the end of the request line, and the fields of the connection. */
function connectionLines(host: string, isKept: boolean): string {
  const known = isKept ? keptLines.get(host) : undefined;
  if (known !== undefined) return known;
  const lines = ` HTTP/1.1\r\nhost: ${host}\r\nconnection: ${isKept ? 'keep-alive' : 'close'}\r\n`;
  if (isKept && keptLines.size < HOSTS_MAX) keptLines.set(host, lines);
  return lines;
}

/** Returns all fields of a request. */
export function headersIn({ fieldLines = '', headers }: Pick<Outgoing, 'fieldLines' | 'headers'>): string[] {
  const flat: string[] = [];
  for (const line of fieldLines.split('\r\n').slice(0, -1)) {
    const colon = line.indexOf(': ');
    flat.push(line.slice(0, colon), line.slice(colon + 2));
  }
  return [...flat, ...headers];
}

function framingOf(method: string, body: Outgoing['body'], isCounted: boolean): string {
  // The length of a buffered body is known here, so a given `content-length` is an error.
  if (isCounted && (body === null || body instanceof Buffer)) throw unsendable('content-length');
  if (isCounted) return '';
  if (body === null) return METHODS_THAT_TELL_LENGTH.has(method) ? 'content-length: 0\r\n' : '';
  return body instanceof Buffer ? `content-length: ${body.length}\r\n` : 'transfer-encoding: chunked\r\n';
}
