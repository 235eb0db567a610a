// Pure: reads the head of a usual request. Any other head is `unusual`, and is left to Node's parser. Node's parser reads each usual head
// with the same method, target, field lines and body; a fuzzer compares the two (test/unit/http1/as-node-reads.test.ts).

import { FieldSpelling, fieldNameAt } from './field-names.ts';
import { FIELD_LINE, FIELD_REST, fieldValueIn, HEAD_END, TOKEN } from './grammar.ts';

export interface UsualHead {
  readonly method: string;
  /** The target in origin form, as it stands in the request line. */
  readonly target: string;
  /** Names and values in turn, as the client wrote them. */
  readonly rawHeaders: string[];
  /** Lower-case name → value; no field has two lines. */
  readonly fields: Map<string, string>;
  /** Whether the connection may carry another request; false if the client asked for its end (RFC 9112 section 9.6). */
  readonly isPersistent: boolean;
  /** Bytes up to and including the empty line. */
  readonly headBytes: number;
  readonly bodyBytes: number;
}

export interface HeadBounds {
  /** Bytes of a head, its request line included. */
  readonly headBytesMax: number;
  /** Bytes of all field lines. */
  readonly fieldBytesMax: number;
}

const LINES_MAX = 100;
/**
 * A request line (RFC 9112 section 3) with one of these methods, a target in origin form (section 3.2.1) and HTTP/1.1. The target has no
 * quote and no fragment. Single spaces stand between the three, and CRLF is the only line end.
 */
const REQUEST_LINE = '(?:GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS) /[!$-~]* HTTP/1\\.1\\r\\n';
const USUAL_HEAD = new RegExp(`^${REQUEST_LINE}(?:${FIELD_LINE}\\r\\n)+$`);
/** The beginning of a usual head: its request line and the field lines that have arrived. */
const HEAD_BEGINNING = new RegExp(`^${REQUEST_LINE}(?:${FIELD_LINE}\\r\\n)*(?:\\r|${TOKEN}(?::${FIELD_REST}\\r?)?)?$`);
/**
 * Node's parser may refuse one of these fields before the end of its line has arrived. If the bytes so far end within such a field, Node's
 * parser gets them at once, so that its refusal does not wait for the rest of the line.
 */
const EARLY_FIELD = /^(?:content-length|transfer-encoding|(?:proxy-)?connection|upgrade):/i;
const VERSION = ' HTTP/1.1';
/** Methods of requests that commonly have a body. */
const METHODS_THAT_MAY_HAVE_BODY = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);
const CONTENT_LENGTH = /^(?:0|[1-9]\d{0,14})$/;
/**
 * Fields that change how the rest of the request or the connection is read. `Proxy-Connection` is one of them, because some parsers read it
 * like `Connection`.
 */
const UNUSUAL_FIELDS = ['transfer-encoding', 'expect', 'upgrade', 'proxy-connection', 'http2-settings'] as const;

/**
 * @returns `more`: the bytes are the beginning of a usual head; `unusual`: another parser has to read them
 */
export function readUsualHead(
  bytes: Buffer,
  { headBytesMax, fieldBytesMax }: HeadBounds,
): UsualHead | 'more' | 'unusual' {
  const end = bytes.indexOf(HEAD_END);
  if (end === -1) return bytes.length < headBytesMax && beginsUsually(bytes.toString('latin1')) ? 'more' : 'unusual';
  if (end > headBytesMax) return 'unusual';
  // The text ends at `end + 2`, because it includes the line end of the last field line.
  const text = bytes.toString('latin1', 0, end + 2);
  if (!USUAL_HEAD.test(text)) return 'unusual';
  const space = text.indexOf(' ');
  const lineEnd = text.indexOf('\r');
  const method = text.slice(0, space);
  const rawHeaders: string[] = [];
  const fields = new Map<string, string>();
  if (!readLines(text, lineEnd + 2, rawHeaders, fields)) return 'unusual';
  if (text.length - lineEnd + rawHeaders.length > fieldBytesMax) return 'unusual';
  const bodyBytes = bodyBytesOf(method, fields);
  const isPersistent = isPersistentBy(fields.get('connection'));
  if (bodyBytes === undefined || isPersistent === undefined || !fields.has('host')) return 'unusual';
  return {
    method,
    target: text.slice(space + 1, lineEnd - VERSION.length),
    rawHeaders,
    fields,
    isPersistent,
    headBytes: end + HEAD_END.length,
    bodyBytes,
  };
}

/** Whether the beginning of a head is usual. If it is, the reader waits for the rest, as Node's parser would. */
function beginsUsually(text: string): boolean {
  if (!HEAD_BEGINNING.test(text)) return false;
  const lastLineAt = text.lastIndexOf('\n') + 1;
  const fields = new Map<string, string>();
  if (!readLines(text.slice(0, lastLineAt), text.indexOf('\n') + 1, [], fields)) return false;
  const method = text.slice(0, text.indexOf(' '));
  if (bodyBytesOf(method, fields) === undefined || isPersistentBy(fields.get('connection')) === undefined) return false;
  return !EARLY_FIELD.test(text.slice(lastLineAt));
}

/** The line before the first field line of each head, for `fieldNameAt`. */
const requestLine = new FieldSpelling('');

/** Reads the field lines. Returns false if a field has a second line, or if there are too many. */
function readLines(text: string, from: number, rawHeaders: string[], fields: Map<string, string>): boolean {
  let field = requestLine;
  let at = from;
  while (at < text.length) {
    field = fieldNameAt(text, at, field);
    const valueAt = at + field.start.length;
    const end = text.indexOf('\r', valueAt);
    if (fields.has(field.lowerCase)) return false;
    const value = fieldValueIn(text, valueAt, end);
    fields.set(field.lowerCase, value);
    rawHeaders.push(field.spelling, value);
    at = end + 2;
  }
  return fields.size <= LINES_MAX;
}

/** The length of the body (RFC 9112 section 6.3); undefined for an unusual head. */
function bodyBytesOf(method: string, fields: ReadonlyMap<string, string>): number | undefined {
  for (const name of UNUSUAL_FIELDS) if (fields.has(name)) return undefined;
  const length = fields.get('content-length');
  if (length === undefined) return 0;
  if (!CONTENT_LENGTH.test(length) || (length !== '0' && !METHODS_THAT_MAY_HAVE_BODY.has(method))) return undefined;
  return Number(length);
}

/** Whether the connection may carry another request (RFC 9112 section 9.3); undefined for an unusual head. */
function isPersistentBy(connection: string | undefined): boolean | undefined {
  if (connection === undefined) return true;
  const option = connection.toLowerCase();
  if (option === 'keep-alive') return true;
  return option === 'close' ? false : undefined;
}
