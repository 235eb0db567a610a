// Pure: parses the head of an answer and determines the framing of its body. Rejects a head that two parsers could read differently.

import { FieldSpelling, fieldNameAt } from '../field-names.ts';
import { FIELD_LINE, FIELD_REST, fieldValueIn } from '../grammar.ts';
import { type AnswerHeaders, WireFault } from './wire.ts';

/** How a body ends: after a number of bytes, after the last chunk, or with the connection. */
type Framing = number | 'chunked' | 'close';

export interface AnswerHead {
  readonly status: number;
  /** Lower-case names; a list for a repeated field. */
  readonly headers: AnswerHeaders;
  readonly framing: Framing;
  /** True if the connection may carry another request. */
  readonly isPersistent: boolean;
  /** Seconds that the upstream keeps an idle connection; undefined if it does not announce them. */
  readonly idleSeconds: number | undefined;
}

/**
 * Status line and field lines as in RFC 9112 sections 4 and 5, without bare line feeds, folded lines, space before colons, or control
 * characters.
 */
const HEAD = new RegExp(`^HTTP/1\\.[01] [1-9]\\d\\d(?: ${FIELD_REST})?\\r\\n(?:${FIELD_LINE}\\r\\n)*$`);
const LENGTH = /^\d{1,15}$/;
const IDLE_TIMEOUT = /(?:^|[ ,])timeout=(\d{1,6})(?:[ ,]|$)/i;
const STATUS_AT = 'HTTP/1.1 '.length;
const MINOR_VERSION_AT = 'HTTP/1.'.length;

/**
 * The fields of a head. The prototype is empty, because the upstream chooses the names, and a name such as `constructor` must not find an
 * inherited member. This is a class, because V8 does not optimize objects of `Object.create(null)`.
 */
class Fields {
  [name: string]: string | string[];
}
Object.setPrototypeOf(Fields.prototype, null);
Reflect.deleteProperty(Fields.prototype, 'constructor');

/**
 * Throws WireFault.
 *
 * @param text latin1, from the status line to the last field line, each with its line end
 * @param method of the request, because an answer to HEAD has no body
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

/** Returns true if the end of the answer is certain and no bytes can follow it. */
function isClear(status: number, framing: Framing, hasNoBody: boolean): boolean {
  // A 204 has no body. If it announces one, another parser could wait for it.
  if (status === 204) return framing === 0 || framing === 'close';
  return hasNoBody || framing !== 'close';
}

/** The line before the first field line of each answer, for `fieldNameAt`. */
const statusLine = new FieldSpelling('');

function parseFields(text: string): Fields {
  const fields = new Fields();
  let field = statusLine;
  let at = text.indexOf('\n') + 1;
  while (at < text.length) {
    field = fieldNameAt(text, at, field);
    const valueAt = at + field.start.length;
    // `HEAD` has matched the whole text, so the next carriage return ends the line.
    const end = text.indexOf('\r', valueAt);
    const name = field.lowerCase;
    const value = fieldValueIn(text, valueAt, end);
    const known = fields[name];
    if (known === undefined) fields[name] = value;
    else if (typeof known === 'string') fields[name] = [known, value];
    else known.push(value);
    at = end + 2;
  }
  return fields;
}

/**
 * Determines the framing (RFC 9112 section 6.3). Rejects a length beside a transfer coding, and repeated lengths, because both allow
 * response smuggling.
 */
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
  if (typeof length !== 'string' || !LENGTH.test(length)) {
    throw new WireFault('WIRE_MALFORMED', 'the content length of the answer is not a number');
  }
  return Number(length);
}

function isPersistent(connection: string | string[] | undefined, isOld: boolean): boolean {
  if (connection === undefined) return !isOld;
  if (connection === 'keep-alive') return true;
  const options = String(connection).toLowerCase().split(',');
  if (options.some((option) => option.trim() === 'close')) return false;
  return !isOld || options.some((option) => option.trim() === 'keep-alive');
}

/** The latest Keep-Alive value and its meaning. Both are cached, because a server sends the same value each time. */
let latestHint = '';
let latestIdleSeconds: number | undefined;

function idleSecondsOf(hint: string | string[] | undefined): number | undefined {
  if (typeof hint !== 'string') return undefined;
  if (hint !== latestHint) {
    const seconds = IDLE_TIMEOUT.exec(hint)?.[1];
    latestHint = hint;
    latestIdleSeconds = seconds === undefined ? undefined : Number(seconds);
  }
  return latestIdleSeconds;
}
