// Pure: the head of an answer as text → what it says, and how the body after it is framed. Strict: what two readers could understand
// differently is no answer.

import type { AnswerHeaders } from '../headers.ts';
import { WireFault } from './fault.ts';

/** How a body ends: after so many bytes, with its last chunk, or with the connection. */
export type Framing = number | 'chunked' | 'close';

export interface AnswerHead {
  readonly status: number;
  /** Lower-case names; a field that came several times has a list. */
  readonly headers: AnswerHeaders;
  readonly framing: Framing;
  /** Whether the connection may carry another request. */
  readonly isPersistent: boolean;
  /** For how many seconds the other side keeps an idle connection; undefined: it does not say. */
  readonly idleSeconds: number | undefined;
}

/**
 * Status line and field lines, whole: RFC 9112 sections 4 and 5, without bare line feeds, folded lines, space before colons, or control
 * characters.
 */
const HEAD =
  /^HTTP\/1\.[01] [1-9]\d\d(?: [\t -~\x80-\xff]*)?\r\n(?:[!#$%&'*+\-.^_`|~\dA-Za-z]+:[\t -~\x80-\xff]*\r\n)*$/;
const STATUS_AT = 'HTTP/1.1 '.length;
const MINOR_VERSION_AT = 'HTTP/1.'.length;

/** Inherits nothing, since the names are the upstream's. V8 knows its shapes, as it does not those of `Object.create(null)`. */
class Fields {
  [name: string]: string | string[];
}
Object.setPrototypeOf(Fields.prototype, null);
Reflect.deleteProperty(Fields.prototype, 'constructor');

/**
 * @param text latin1, from the status line to the last field line, each with its line end
 * @param method of the request, since an answer to HEAD has no body
 */
export function parseAnswerHead(text: string, method: string): AnswerHead {
  if (!HEAD.test(text)) throw new WireFault('WIRE_MALFORMED', 'the head of the answer is not HTTP/1.1');
  const status = Number(text.slice(STATUS_AT, STATUS_AT + 3));
  const headers = parseFields(text);
  const isOld = text[MINOR_VERSION_AT] === '0';
  const framing = framingOf(headers, isOld);
  const hasNoBody = method === 'HEAD' || status < 200 || status === 204 || status === 304;
  return {
    status,
    headers,
    framing: hasNoBody ? 0 : framing,
    isPersistent: isClear(status, framing, hasNoBody) && isPersistent(headers.connection, isOld),
    idleSeconds: idleSecondsOf(headers['keep-alive']),
  };
}

/** Whether the end of the answer is known, and nothing is to be expected after it. */
function isClear(status: number, framing: Framing, hasNoBody: boolean): boolean {
  // It has no body, but announces one.
  if (status === 204) return framing === 0 || framing === 'close';
  return hasNoBody || framing !== 'close';
}

function parseFields(text: string): Fields {
  const fields = new Fields();
  let at = text.indexOf('\r\n') + 2;
  while (at < text.length) {
    const end = text.indexOf('\r\n', at);
    const colon = text.indexOf(':', at);
    const name = text.slice(at, colon).toLowerCase();
    const value = valueIn(text, colon + 1, end);
    const known = fields[name];
    if (known === undefined) fields[name] = value;
    else if (typeof known === 'string') fields[name] = [known, value];
    else known.push(value);
    at = end + 2;
  }
  return fields;
}

/** Without space and tab around it. `trim` takes more away than that, and would read `chunked` where others read something else. */
function valueIn(text: string, from: number, to: number): string {
  let start = from;
  let end = to;
  while (start < end && isSpace(text.charCodeAt(start))) start += 1;
  while (start < end && isSpace(text.charCodeAt(end - 1))) end -= 1;
  return text.slice(start, end);
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x09;
}

/** RFC 9112 section 6.3. Both lengths at once, or one of them twice, is how answers are smuggled. */
function framingOf(headers: AnswerHeaders, isOld: boolean): Framing {
  const { 'transfer-encoding': coding, 'content-length': length } = headers;
  if (coding !== undefined) {
    const isChunked = typeof coding === 'string' && coding.toLowerCase() === 'chunked';
    if (!isChunked || isOld || length !== undefined) {
      throw new WireFault('WIRE_MALFORMED', 'the transfer coding of the answer is not just chunked');
    }
    return 'chunked';
  }
  if (length === undefined) return 'close';
  if (typeof length !== 'string' || !/^\d{1,15}$/.test(length)) {
    throw new WireFault('WIRE_MALFORMED', 'the content length of the answer is not a number');
  }
  return Number(length);
}

function isPersistent(connection: string | string[] | undefined, isOld: boolean): boolean {
  if (connection === undefined) return !isOld;
  const options = String(connection).toLowerCase().split(',');
  if (options.some((option) => option.trim() === 'close')) return false;
  return !isOld || options.some((option) => option.trim() === 'keep-alive');
}

function idleSecondsOf(hint: string | string[] | undefined): number | undefined {
  const seconds = typeof hint === 'string' ? /(?:^|[ ,])timeout=(\d{1,6})(?:[ ,]|$)/i.exec(hint)?.[1] : undefined;
  return seconds === undefined ? undefined : Number(seconds);
}
