// Pure: reads the head of a usual request. Everything else is `unusual`, and left to Node's parser: this reader may only refuse to take
// part. What it takes, Node's parser takes with the same method, target, field lines and body, which a fuzzer compares
// (test/unit/http1/as-node-reads.test.ts).

import { FieldSpelling, fieldNameAt } from './field-names.ts';
import { FIELD_LINE, FIELD_REST, fieldValueIn, HEAD_END, TOKEN } from './grammar.ts';

export interface UsualHead {
  readonly method: string;
  /** In origin form, as the request line has it. */
  readonly target: string;
  /** Names and values in turn, as they came. */
  readonly lines: string[];
  /** Lower-case name → value; no field has two lines. */
  readonly fields: Map<string, string>;
  /** False: the client asks for the end of the connection (RFC 9112 section 9.6). */
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
 * RFC 9112 section 3: one of the declared methods, a target in origin form (section 3.2.1) without a quote or a fragment, HTTP/1.1. Single
 * spaces, and CRLF as the only line end.
 */
const REQUEST_LINE = '(?:GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS) /[!$-~]* HTTP/1\\.1\\r\\n';
const usual = new RegExp(`^${REQUEST_LINE}(?:${FIELD_LINE}\\r\\n)+$`);
/** The beginning of a usual head, from its first line on. */
const beginning = new RegExp(`^${REQUEST_LINE}(?:${FIELD_LINE}\\r\\n)*(?:\\r|${TOKEN}(?::${FIELD_REST}\\r?)?)?$`);
/** Fields that a parser may refuse before their lines have ended. */
const readEarly = /^(?:content-length|transfer-encoding|(?:proxy-)?connection|upgrade):/i;
const VERSION = ' HTTP/1.1';
/** Methods of requests that commonly have a body. */
const withBody = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);
const contentLength = /^(?:0|[1-9]\d{0,14})$/;
/** Fields that change how the request or its connection is read. `Proxy-Connection` is one to some parsers. */
const unusualFields = ['transfer-encoding', 'expect', 'upgrade', 'proxy-connection', 'http2-settings'] as const;

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
  // Up to the end of the last field line.
  const text = bytes.toString('latin1', 0, end + 2);
  if (!usual.test(text)) return 'unusual';
  const space = text.indexOf(' ');
  const lineEnd = text.indexOf('\r');
  const method = text.slice(0, space);
  const lines: string[] = [];
  const fields = new Map<string, string>();
  if (!readLines(text, lineEnd + 2, lines, fields)) return 'unusual';
  if (text.length - lineEnd + lines.length > fieldBytesMax) return 'unusual';
  const bodyBytes = bodyBytesOf(method, fields);
  const isPersistent = isPersistentBy(fields.get('connection'));
  if (bodyBytes === undefined || isPersistent === undefined || !fields.has('host')) return 'unusual';
  return {
    method,
    target: text.slice(space + 1, lineEnd - VERSION.length),
    lines,
    fields,
    isPersistent,
    headBytes: end + HEAD_END.length,
    bodyBytes,
  };
}

/** Whether to wait for the rest of a head: this part of it is usual, so that Node's parser would wait too. */
function beginsUsually(text: string): boolean {
  if (!beginning.test(text)) return false;
  const lastLineAt = text.lastIndexOf('\n') + 1;
  const fields = new Map<string, string>();
  if (!readLines(text.slice(0, lastLineAt), text.indexOf('\n') + 1, [], fields)) return false;
  const method = text.slice(0, text.indexOf(' '));
  if (bodyBytesOf(method, fields) === undefined || isPersistentBy(fields.get('connection')) === undefined) return false;
  return !readEarly.test(text.slice(lastLineAt));
}

/** Before the first field line of every head. */
const requestLine = new FieldSpelling('');

/** False: a field has a second line, or there are too many. */
function readLines(text: string, from: number, lines: string[], fields: Map<string, string>): boolean {
  let field = requestLine;
  let at = from;
  while (at < text.length) {
    field = fieldNameAt(text, at, field);
    const valueAt = at + field.start.length;
    const end = text.indexOf('\r', valueAt);
    if (fields.has(field.lowerCase)) return false;
    const value = fieldValueIn(text, valueAt, end);
    fields.set(field.lowerCase, value);
    lines.push(field.spelling, value);
    at = end + 2;
  }
  return fields.size <= LINES_MAX;
}

/** RFC 9112 section 6.3. Undefined: unusual. */
function bodyBytesOf(method: string, fields: ReadonlyMap<string, string>): number | undefined {
  for (const name of unusualFields) if (fields.has(name)) return undefined;
  const length = fields.get('content-length');
  if (length === undefined) return 0;
  if (!contentLength.test(length) || (length !== '0' && !withBody.has(method))) return undefined;
  return Number(length);
}

/** RFC 9112 section 9.3. Undefined: unusual. */
function isPersistentBy(connection: string | undefined): boolean | undefined {
  if (connection === undefined) return true;
  const option = connection.toLowerCase();
  if (option === 'keep-alive') return true;
  return option === 'close' ? false : undefined;
}
