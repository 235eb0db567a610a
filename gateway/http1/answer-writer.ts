// Pure: writes the head of an answer to a client. Adds the same lines about the connection as Node's HTTP server, in the same order.

import { STATUS_CODES } from 'node:http';
import { FieldLine } from './field-line.ts';
import { isToken } from './grammar.ts';

export interface AnswerHeadOptions {
  readonly status: number;
  /** Flat names and values. */
  readonly headers: readonly string[];
  /** Whether the connection may carry another request afterwards. */
  readonly isKept: boolean;
  /** How long an idle connection stays open; 0 if the client is not told. */
  readonly keepAliveMs: number;
  /** False for an answer to HEAD, and for a status that has no body (RFC 9110 section 6.4.1). */
  readonly hasBody: boolean;
  readonly nowMs: number;
}

interface WrittenHead {
  /** Latin-1, up to and including the empty line. */
  readonly text: string;
  /** Whether the body is sent in chunks (RFC 9112 section 7.1), because its length is not known. */
  readonly isChunked: boolean;
  /** Whether the connection ends after this answer. */
  readonly isLast: boolean;
}

const statusLines = new Map<number, string>();

/** The effect of a field on the framing of the answer or on its connection; undefined if there is none. */
type Role = 'date' | 'length' | 'coding' | 'connection' | undefined;

interface KnownName {
  readonly role: Role;
  readonly field: FieldLine;
}

const HEADER_ROLES: ReadonlyMap<string, Role> = new Map([
  ['date', 'date'],
  ['content-length', 'length'],
  ['transfer-encoding', 'coding'],
  ['connection', 'connection'],
]);
const knownNames = new Map<string, KnownName>();
/** Bound of the remembered names, because upstreams choose some of them. */
const NAMES_MAX = 1000;

/** Throws a TypeError for a status, name or value that cannot be sent. */
export function writeAnswerHead(options: AnswerHeadOptions): WrittenHead {
  const { status, headers, isKept, keepAliveMs, hasBody, nowMs } = options;
  let text = statusLines.get(status) ?? statusLineOf(status);
  let isLast = false;
  let hasConnection = false;
  let hasLength = false;
  let hasDate = false;
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at] as string;
    const value = headers[at + 1] as string;
    const { role, field } = knownNames.get(name) ?? knownNameOf(name);
    text += field.lineOf(value) ?? refuse(name);
    if (role === undefined) continue;
    if (role === 'date') hasDate = true;
    else if (role === 'length') hasLength = true;
    else if (role === 'coding') throw new TypeError('the answer names a transfer coding, which its writer chooses');
    else {
      hasConnection = true;
      isLast = /(?:^|\W)close(?:$|\W)/i.test(value);
    }
  }
  if (!hasDate) text += dateLine(nowMs);
  if (!hasConnection) {
    isLast = !isKept;
    text += isKept ? keptLines(keepAliveMs) : 'Connection: close\r\n';
  }
  const isChunked = hasBody && !hasLength;
  text += isChunked ? 'Transfer-Encoding: chunked\r\n\r\n' : '\r\n';
  return { text, isChunked, isLast };
}

function statusLineOf(status: number): string {
  if (!Number.isInteger(status) || status < 200 || status > 999) throw new TypeError(`${status} is no final status`);
  const line = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'unknown'}\r\n`;
  statusLines.set(status, line);
  return line;
}

function knownNameOf(name: string): KnownName {
  if (!isToken(name)) throw new TypeError('the name of a header of the answer is not a token');
  const known = { role: HEADER_ROLES.get(name.toLowerCase()), field: new FieldLine(name) };
  if (knownNames.size < NAMES_MAX) knownNames.set(name, known);
  return known;
}

function refuse(name: string): never {
  throw new TypeError(`the answer's header ${name} has characters that cannot be sent`);
}

let keptMs = -1;
let kept = '';

/** Returns the lines of a connection that is kept. The lines of the last value are cached, because all listeners use the same value. */
function keptLines(keepAliveMs: number): string {
  if (keptMs !== keepAliveMs) {
    keptMs = keepAliveMs;
    const timeout = keepAliveMs === 0 ? '' : `Keep-Alive: timeout=${Math.floor(keepAliveMs / 1000)}\r\n`;
    kept = `Connection: keep-alive\r\n${timeout}`;
  }
  return kept;
}

let dateSecond = -1;
let date = '';

function dateLine(nowMs: number): string {
  const second = Math.floor(nowMs / 1000);
  if (second !== dateSecond) {
    dateSecond = second;
    date = `Date: ${new Date(nowMs).toUTCString()}\r\n`;
  }
  return date;
}
