// Writes the headers of a request for its upstream: the fields of the client that are on the allow list, and identity headers that only the
// gateway can set. Each field is written as a complete line, because a list of names and values would have to be joined later, from three
// pieces per field. Throws WireFault.

import type { Caller } from '../../exchange/caller.ts';
import type { Checked } from '../../exchange/exchange.ts';
import type { CookieRules } from '../../exchange/operation.ts';
import { unsendable } from '../../http1/client/wire.ts';
import { FieldLine } from '../../http1/field-line.ts';
import { isFieldValue } from '../../http1/grammar.ts';
import { acceptedCodings } from '../../shared/http/content-coding.ts';
import { isOwnedRequestHeader, isSpellingOf } from '../../shared/http/owned-headers.ts';
import { upstreamCookies } from './cookies.ts';

// All other request fields are dropped: credentials, cookies, hop-by-hop fields, and identity that the client claims.
const ALLOWED_HEADERS = [
  'accept',
  'accept-language',
  'content-type',
  'idempotency-key',
  'if-match',
  'if-none-match',
  'if-modified-since',
  'if-unmodified-since',
  // The event after which an event stream continues (HTML standard, section 9.2.4).
  'last-event-id',
  'prefer',
  'user-agent',
];
const ALLOWED_LINES = ALLOWED_HEADERS.map((name) => new FieldLine(name));
const ACCEPT_ENCODING = new FieldLine('accept-encoding');

interface IdentityHeaders {
  /** The signed token of the caller; undefined if the upstream is not told who calls. */
  readonly assertion: string | undefined;
  /**
   * The header fields of the gateway's credential, in lower case; undefined if there is no credential. A value that the client sends in one
   * of these fields is not passed on.
   */
  readonly credentialHeaders: readonly string[] | undefined;
  readonly traceparent: string;
  /** Whether the upstream gets the address of the client. */
  readonly sendClientAddress: boolean;
}

/** The parts of a request from which its upstream headers are made. */
type RequestParts = Pick<Checked, 'headers' | 'operation' | 'caller' | 'clientAddress' | 'scheme' | 'id'> & {
  readonly method?: string | undefined;
};

/**
 * Returns the field lines for the upstream, each with its line end: first the allowed fields of the client, then the fields of the gateway.
 * Throws WireFault if a value of the client contains a character that could end its line; ids and tokens of the gateway cannot contain one.
 *
 * @param readsAnswer whether the gateway reads or stores the answer before the client gets it, so that it must have no content coding
 */
export function upstreamFieldLines(checked: RequestParts, identity: IdentityHeaders, readsAnswer: boolean): string {
  const { scheme, headers, caller, clientAddress, id } = checked;
  const { assertion, traceparent, sendClientAddress } = identity;
  const { called, forwarded, hop } = hopLinesOf(scheme, headers.get('host'));
  const addresses = sendClientAddress ? addressLines(clientAddress, called) : forwarded;
  const own = `x-request-id: ${id}\r\ntraceparent: ${traceparent}\r\n${addresses}${hop}`;
  const token = checked.operation.forwardsToken ? tokenLine(checked) : '';
  return (
    clientLines(checked, readsAnswer, identity.credentialHeaders) +
    token +
    own +
    (assertion === undefined ? '' : callerLines(caller, assertion))
  );
}

function clientLines(
  checked: RequestParts,
  readsAnswer: boolean,
  credentialHeaders: readonly string[] | undefined,
): string {
  const { headers, operation } = checked;
  let lines = '';
  for (const field of ALLOWED_LINES) {
    const value = headers.get(field.name);
    if (value === undefined) continue;
    if (field.name !== 'idempotency-key' || operation.idempotency !== 'off') lines += knownLine(field, value);
  }
  for (const name of operation.requestHeaders) {
    const value = headers.get(name);
    if (value !== undefined && mayForward(name) && !isSpellingOf(name, credentialHeaders)) lines += lineOf(name, value);
  }
  if (operation.ranges) lines += rangeLines(checked);
  if (operation.cookies !== undefined) lines += cookieLine(headers.get('cookie'), operation.cookies);
  // The gateway could neither separate nor check the items of an encoded stream.
  if (readsAnswer || operation.streams) return `${lines}accept-encoding: identity\r\n`;
  const accepted = headers.get('accept-encoding');
  return accepted === undefined ? lines : lines + knownLine(ACCEPT_ENCODING, upstreamCodings(accepted));
}

/** Returns the line of a field. Throws WireFault. */
function lineOf(name: string, value: string): string {
  if (!isFieldValue(value)) throw unsendable(name);
  return `${name}: ${value}\r\n`;
}

/** Returns the line of a field whose value often repeats, for which the field keeps its last line. */
function knownLine(field: FieldLine, value: string): string {
  const line = field.lineOf(value);
  if (line === undefined) throw unsendable(field.name);
  return line;
}

/** The lines about the address that the client called. */
interface HopLines {
  readonly scheme: string;
  readonly host: string | undefined;
  /** The address in the form of `Forwarded` (RFC 7239 section 4). */
  readonly called: string;
  /** The `Forwarded` line without a client. */
  readonly forwarded: string;
  readonly hop: string;
}

/** The lines of the latest request. They are kept, because most requests call the same address. */
let hopLines: HopLines | undefined;

function hopLinesOf(scheme: string, host: string | undefined): HopLines {
  if (hopLines === undefined || hopLines.host !== host || hopLines.scheme !== scheme) {
    const called = `proto=${scheme}${host === undefined ? '' : `;host="${host}"`}`;
    const hostLine = host === undefined ? '' : lineOf('x-forwarded-host', host);
    const hop = `x-forwarded-proto: ${scheme}\r\n${hostLine}via: 1.1 api-gateway\r\n`;
    hopLines = { scheme, host, called, forwarded: lineOf('forwarded', called), hop };
  }
  return hopLines;
}

function addressLines(address: string, called: string): string {
  const quoted = address.includes(':') ? `"[${address}]"` : address;
  return lineOf('forwarded', `for=${quoted};${called}`) + lineOf('x-forwarded-for', address);
}

/** Returns the lines about the caller. These lines differ by caller, so they are made for each request, from as few strings as possible. */
function callerLines({ organization, issuer, subject }: Caller, assertion: string): string {
  if (organization === undefined) return `x-gateway-assertion: ${assertion}\r\n`;
  const { id } = organization;
  if (!isFieldValue(id)) throw unsendable('x-organization-id');
  if (issuer !== undefined) return `x-organization-id: ${id}\r\nx-gateway-assertion: ${assertion}\r\n`;
  if (!isFieldValue(subject)) throw unsendable('x-api-key-id');
  return `x-organization-id: ${id}\r\nx-api-key-id: ${subject}\r\nx-gateway-assertion: ${assertion}\r\n`;
}

/**
 * Returns an `Authorization` line with the token that the gateway has verified, and with nothing else of the client's field. Only a caller
 * with a token of a configured issuer has an `issuer`. An anonymous caller of a public operation has no issuer, so an unverified token is
 * never passed on.
 */
function tokenLine({ headers, caller }: RequestParts): string {
  const authorization = headers.get('authorization');
  if (caller.issuer === undefined || authorization === undefined) return '';
  return lineOf('authorization', authorization.replace(/^bearer +/i, 'Bearer '));
}

/**
 * Returns the `Range` and `If-Range` lines. A HEAD on an operation that declares GET is sent as GET, so its range is left out, because
 * ranges are defined only for GET (RFC 9110 section 14.2).
 */
function rangeLines({ headers, method }: RequestParts): string {
  const range = headers.get('range');
  if (range === undefined || method === 'HEAD') return '';
  const condition = headers.get('if-range');
  return lineOf('range', range) + (condition === undefined ? '' : lineOf('if-range', condition));
}

function cookieLine(given: string | undefined, rules: CookieRules): string {
  const cookies = given === undefined ? undefined : upstreamCookies(given, rules);
  return cookies === undefined ? '' : lineOf('cookie', cookies);
}

/**
 * Whether a declared header parameter is added. A field of the gateway itself is never added, in any spelling. A field that each request
 * has is not added a second time.
 */
function mayForward(name: string): boolean {
  return !isOwnedRequestHeader(name) && !ALLOWED_HEADERS.includes(name) && name !== 'range' && name !== 'if-range';
}

/**
 * Matches known codings without weights, which nearly all clients send. The match takes linear time, because a comma or the end follows
 * each name.
 */
const PLAIN = /^(?:zstd|br|gzip|deflate)(?:, ?(?:zstd|br|gzip|deflate))*$/;
const KNOWN_CODINGS = new Set(['zstd', 'br', 'gzip', 'deflate', 'identity', '*']);

/**
 * Returns the Accept-Encoding of the client without codings that the gateway could not decode to check an answer. Returns `identity` if
 * nothing known is left, because a missing field would allow any coding (RFC 9110 section 12.5.3).
 */
export function upstreamCodings(accepted: string): string {
  if (PLAIN.test(accepted)) return accepted;
  const kept: string[] = [];
  for (const [coding, weight] of acceptedCodings(accepted)) {
    if (KNOWN_CODINGS.has(coding)) kept.push(weight === 1 ? coding : `${coding};q=${weight}`);
  }
  return kept.length === 0 ? 'identity' : kept.join(', ');
}
