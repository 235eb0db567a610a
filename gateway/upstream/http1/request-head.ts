// Pure: writes the head of a request.

import { isFieldValue, isToken } from '../../http1/grammar.ts';
import { WireFault } from './fault.ts';
import type { Outgoing } from './wire.ts';

const TARGET = /^[\x21-\x7e\x80-\xff]+$/;
/** Methods that expect a body: without one, they send `content-length: 0` (RFC 9110 section 8.6). */
const withBody = new Set(['POST', 'PUT', 'PATCH']);

/**
 * Returns Latin-1 text up to and including the empty line. Throws WireFault if a part contains characters that could end its line.
 *
 * @param host value of `Host`
 * @param isKept whether the connection may carry another request afterwards
 */
export function requestHead({ method, path, headers, body }: Outgoing, host: string, isKept: boolean): string {
  if (!isToken(method) || !TARGET.test(path)) throw unsendable('the request line');
  let head = `${method} ${path} HTTP/1.1\r\nhost: ${host}\r\nconnection: ${isKept ? 'keep-alive' : 'close'}\r\n`;
  let isCounted = false;
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at] as string;
    const value = headers[at + 1] as string;
    if (!isFieldValue(value)) throw unsendable(name);
    if (name === 'content-length') isCounted = true;
    head += `${name}: ${value}\r\n`;
  }
  return `${head}${framingOf(method, body, isCounted)}\r\n`;
}

function framingOf(method: string, body: Outgoing['body'], isCounted: boolean): string {
  // A given content-length does not belong to this body.
  if (isCounted && (body === null || body instanceof Buffer)) throw unsendable('content-length');
  if (isCounted) return '';
  if (body === null) return withBody.has(method) ? 'content-length: 0\r\n' : '';
  return body instanceof Buffer ? `content-length: ${body.length}\r\n` : 'transfer-encoding: chunked\r\n';
}

function unsendable(part: string): WireFault {
  return new WireFault('WIRE_UNSENDABLE', `${part} is not valid`);
}
