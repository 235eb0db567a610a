// Headers between client and upstream: allow lists in both directions, new framing, and identity headers that only the gateway can set.

import type { Caller, Checked, CookieRules } from '../exchange.ts';
import { FieldLine } from '../http1/field-line.ts';
import { isFieldValue } from '../http1/grammar.ts';
import {
  isOwnedAnswerHeader,
  isOwnedRequestHeader,
  REPLACED_ANSWER_HEADERS,
  RESERVED_ANSWER_HEADERS,
} from '../shared/owned-headers.ts';
import { clientCookie, cookieNameIn, upstreamCookies } from './cookies.ts';
import { upstreamCodings } from './encoding/request-codings.ts';
import { unsendable } from './http1/fault.ts';
import { publicLinks, publicReference, type ReferenceContext } from './references.ts';

/** Header fields of an answer: lower-case names; a list for a repeated field. */
export type AnswerHeaders = Readonly<Record<string, string | string[] | undefined>>;

// All other request fields are dropped: credentials, cookies, hop-by-hop fields, and identity that the client claims.
const requestAllowed = [
  'accept',
  'accept-language',
  'content-type',
  'idempotency-key',
  'if-match',
  'if-none-match',
  'if-modified-since',
  'if-unmodified-since',
  // Where an event stream goes on (HTML standard, section 9.2.4).
  'last-event-id',
  'prefer',
  'user-agent',
];
const allowedLines = requestAllowed.map((name) => new FieldLine(name));
const acceptEncoding = new FieldLine('accept-encoding');

/** How a field of an answer is treated. `once`: the first line counts, which is the one that was checked. `list`: every line crosses. */
interface AnswerField {
  readonly spelling: string;
  readonly treatment: 'once' | 'list' | 'reference' | 'ranges' | 'cookies' | 'replaced' | 'reserved';
}

/** Lower-case name → treatment, of all fields that no contract and no entry decides about. */
const answerFields = new Map<string, AnswerField>(
  (
    [
      [['Content-Type', 'Content-Disposition', 'Content-Range', 'Age', 'ETag', 'Last-Modified', 'Expires'], 'once'],
      [['Content-Digest', 'Repr-Digest', 'Retry-After', 'Idempotent-Replayed'], 'once'],
      // Tells an nginx before the gateway not to hold the events of a stream back.
      [['X-Accel-Buffering'], 'once'],
      [['Content-Language', 'Content-Encoding', 'Vary', 'Accept-Patch', 'Preference-Applied'], 'list'],
      [['Link', 'Location', 'Content-Location'], 'reference'],
      [['Accept-Ranges'], 'ranges'],
      [['Set-Cookie'], 'cookies'],
      // Written after the loop.
      [['Cache-Control', ...REPLACED_ANSWER_HEADERS], 'replaced'],
      [RESERVED_ANSWER_HEADERS, 'reserved'],
    ] as const
  ).flatMap(([names, treatment]) => names.map((name) => [name.toLowerCase(), { spelling: name, treatment }] as const)),
);

export interface IdentityHeaders {
  /** Undefined: the upstream gets a credential instead, and no identity of the caller. */
  readonly assertion: string | undefined;
  readonly traceparent: string;
  /** The upstream gets the address of the client. */
  readonly sendClientAddress: boolean;
}

/** The parts of a request that its upstream headers are made of. */
type Headed = Pick<Checked, 'headers' | 'operation' | 'caller' | 'clientAddress' | 'scheme' | 'id'> & {
  readonly method?: string | undefined;
};

/** The parts of a request that the headers of its answer depend on. */
export type AnswerContext = Pick<Checked, 'headers' | 'operation' | 'scheme'>;

/** Takes the fields that do not reach the client: their names, and `set-cookie: name`. */
export interface WithheldNotes {
  withhold(field: string): void;
}

/**
 * The field lines for the upstream, each with its end: first the allowed fields of the client, then the gateway's own. Throws WireFault if a
 * value contains characters that could end its line. Ids and tokens of the gateway's own making cannot.
 *
 * @param readsAnswer whether the gateway reads or stores the answer before the client gets it, so that it must have no content coding
 */
export function upstreamRequestLines(checked: Headed, identity: IdentityHeaders, readsAnswer: boolean): string {
  const { scheme, headers, caller, clientAddress, id } = checked;
  const { assertion, traceparent, sendClientAddress } = identity;
  const { called, forwarded, hop } = hopLinesOf(scheme, headers.get('host'));
  const from = sendClientAddress ? addressLines(clientAddress, called) : forwarded;
  const lines = `${clientLines(checked, readsAnswer)}x-request-id: ${id}\r\ntraceparent: ${traceparent}\r\n${from}${hop}`;
  if (assertion === undefined) return lines;
  return `${lines}${organizationLines(caller)}x-gateway-assertion: ${assertion}\r\n`;
}

function clientLines(checked: Headed, readsAnswer: boolean): string {
  const { headers, operation } = checked;
  const named = namedBy(headers.get('connection'));
  let lines = '';
  for (const field of allowedLines) {
    const value = headers.get(field.name);
    if (value === undefined || named?.has(field.name)) continue;
    if (field.name !== 'idempotency-key' || operation.idempotency !== 'off') lines += knownLine(field, value);
  }
  for (const name of operation.requestHeaders) {
    const value = headers.get(name);
    if (value !== undefined && !named?.has(name) && mayForward(name)) lines += lineOf(name, value);
  }
  if (operation.ranges) lines += rangeLines(checked, named);
  if (operation.cookies !== undefined) lines += cookieLine(headers.get('cookie'), operation.cookies);
  // Items of an encoded stream could neither be told apart nor checked.
  if (readsAnswer || operation.streams) return `${lines}accept-encoding: identity\r\n`;
  const accepted = headers.get('accept-encoding');
  if (accepted === undefined || named?.has('accept-encoding')) return lines;
  return lines + knownLine(acceptEncoding, upstreamCodings(accepted));
}

/** Throws WireFault. */
function lineOf(name: string, value: string): string {
  if (!isFieldValue(value)) throw unsendable(name);
  return `${name}: ${value}\r\n`;
}

/** The same, for a field whose value is often the one of the request before. */
function knownLine(field: FieldLine, value: string): string {
  const line = field.of(value);
  if (line === undefined) throw unsendable(field.name);
  return line;
}

/** What the gateway says about the address that the client called. */
interface HopLines {
  readonly scheme: string;
  readonly host: string | undefined;
  /** As `Forwarded` names it (RFC 7239 section 4). */
  readonly called: string;
  /** The field that names no client. */
  readonly forwarded: string;
  readonly hop: string;
}

/** Of the latest request: clients call few addresses. */
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

function organizationLines({ organization, issuer, subject }: Caller): string {
  if (organization === undefined) return '';
  const line = lineOf('x-organization-id', organization.id);
  return issuer === undefined ? line + lineOf('x-api-key-id', subject) : line;
}

/** Fields that a Connection header declares to be for the next hop only (RFC 9110 section 7.6.1). */
function namedBy(connection: string | undefined): ReadonlySet<string> | undefined {
  if (connection === undefined || connection === 'keep-alive' || connection === 'close') return undefined;
  return new Set(connection.split(',').map((option) => option.trim().toLowerCase()));
}

/** Ranges are defined for GET alone (RFC 9110 section 14.2); HEAD on an operation that declares GET runs as GET. */
function rangeLines({ headers, method }: Headed, named: ReadonlySet<string> | undefined): string {
  const range = headers.get('range');
  if (range === undefined || method === 'HEAD' || named?.has('range')) return '';
  const condition = headers.get('if-range');
  return lineOf('range', range) + (condition === undefined ? '' : lineOf('if-range', condition));
}

function cookieLine(given: string | undefined, rules: CookieRules): string {
  const cookies = given === undefined ? undefined : upstreamCookies(given, rules);
  return cookies === undefined ? '' : lineOf('cookie', cookies);
}

/** Declared header parameters pass, except the gateway's own fields in any spelling, and those that are sent anyway. */
function mayForward(name: string): boolean {
  return !isOwnedRequestHeader(name) && !requestAllowed.includes(name) && name !== 'range' && name !== 'if-range';
}

/**
 * Headers for the client, flat. `Cache-Control` is private unless the upstream sets something stricter (RFC 9111 section 3.5).
 *
 * @param authorities `host:port` of the upstream's targets
 */
export function clientAnswerHeaders(
  given: AnswerHeaders,
  context: AnswerContext,
  authorities: ReadonlySet<string>,
  notes: WithheldNotes,
): string[] {
  const { operation } = context;
  const declared = operation.responseHeaders;
  const sent: string[] = [];
  const named = namedBy(textOf(given.connection));
  let setsCookies = false;
  for (const name in given) {
    const value = given[name];
    if (value === undefined || named?.has(name)) continue;
    const field = answerFields.get(name);
    if (field === undefined) {
      if (declared.has(name) && !isOwnedAnswerHeader(name)) pushLines(sent, titleCase(name), value);
      else notes.withhold(name);
      continue;
    }
    const { spelling, treatment } = field;
    if (treatment === 'once') sent.push(spelling, typeof value === 'string' ? value : (value[0] as string));
    else if (treatment === 'list') pushLines(sent, spelling, value);
    else if (treatment === 'reference') pushReferences(sent, { name, spelling, value }, context, authorities, notes);
    else if (treatment === 'cookies') setsCookies = pushCookies(sent, value, context, notes);
    else if (treatment === 'ranges') pushLines(sent, spelling, operation.ranges ? value : 'none');
    else if (treatment === 'reserved') notes.withhold(name);
  }
  const isPublic = operation.security.length === 0 && !setsCookies;
  sent.push('Cache-Control', cacheControl(given['cache-control'], isPublic));
  return sent;
}

function pushLines(sent: string[], spelling: string, value: string | string[]): void {
  if (typeof value === 'string') sent.push(spelling, value);
  else for (const line of value) sent.push(spelling, line);
}

interface ReferenceField {
  readonly name: string;
  readonly spelling: string;
  readonly value: string | string[];
}

function pushReferences(
  sent: string[],
  { name, spelling, value }: ReferenceField,
  { operation, headers }: AnswerContext,
  authorities: ReadonlySet<string>,
  notes: WithheldNotes,
): void {
  const { publicPrefix, upstreamPrefix, externalReferences } = operation;
  const host = headers.get('host');
  const passesExternal = externalReferences.has(name);
  const context: ReferenceContext = { publicPrefix, upstreamPrefix, authorities, host, passesExternal };
  const lines = typeof value === 'string' ? [value] : name === 'link' ? value : value.slice(0, 1);
  for (const line of lines) {
    const links = name === 'link' ? publicLinks(line, context) : undefined;
    const text = links === undefined ? publicReference(line, context) : links.text;
    if (text !== undefined) sent.push(spelling, text);
    if (text === undefined || links?.isWhole === false) notes.withhold(name);
  }
}

/** Returns whether a cookie crosses: a shared cache would give it to other clients. */
function pushCookies(
  sent: string[],
  value: string | string[],
  { operation, headers, scheme }: AnswerContext,
  notes: WithheldNotes,
): boolean {
  const { cookies, publicPrefix, upstreamPrefix } = operation;
  const context = { publicPrefix, upstreamPrefix, host: headers.get('host'), scheme };
  let crosses = false;
  for (const line of typeof value === 'string' ? [value] : value) {
    const text = cookies && clientCookie(line, cookies, context);
    if (text === undefined) notes.withhold(`set-cookie: ${cookieNameIn(line)}`);
    else {
      sent.push('Set-Cookie', text);
      crosses = true;
    }
  }
  return crosses;
}

function textOf(value: string | string[] | undefined): string | undefined {
  return typeof value === 'string' ? value : value?.join(', ');
}

function titleCase(name: string): string {
  return name.replace(/(^|-)[a-z]/g, (text) => text.toUpperCase());
}

/**
 * The Cache-Control header. Answers on secured operations are always private: `must-revalidate` alone would let shared caches store them
 * (RFC 9111 section 3.5). A line with quoted values is discarded, because these may contain commas.
 */
function cacheControl(given: string | string[] | undefined, isPublic: boolean): string {
  const text = textOf(given);
  if (text !== undefined && isPublic) return text;
  if (text === undefined || text === '' || text.includes('"')) return 'private, no-store';
  const directives = text.split(',').map((directive) => directive.trim());
  const kept = directives.filter((directive) => !/^(?:(?:public|s-maxage|private)\b|$)/i.test(directive));
  return kept.length === 1 && /^no-store$/i.test(kept[0] as string) ? text : ['private', ...kept].join(', ');
}
