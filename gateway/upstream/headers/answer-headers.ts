// Makes the headers of an answer for the client. A field is passed on if it is on the allow list, or if the contract or the entry of the
// upstream declares it.

import type { Checked } from '../../exchange/exchange.ts';
import type { AnswerHeaders } from '../../http1/client/wire.ts';
import {
  isOwnedAnswerHeader,
  REPLACED_ANSWER_HEADERS,
  RESERVED_ANSWER_HEADERS,
} from '../../shared/http/owned-headers.ts';
import { clientCookie, cookieNameIn } from './cookies.ts';
import { publicLinks, publicReference, type ReferenceContext } from './references.ts';

/**
 * How a field of an answer is treated. `once`: only its first line is passed on, because only that line is checked against the contract.
 * `list`: every line is passed on.
 */
interface AnswerField {
  readonly spelling: string;
  readonly treatment: 'once' | 'list' | 'reference' | 'ranges' | 'cookies' | 'replaced' | 'reserved';
}

/** The fields whose treatment is fixed, by their lower-case names. The contract and the entry of the upstream decide about all others. */
const ANSWER_FIELDS = new Map<string, AnswerField>(
  (
    [
      [['Content-Type', 'Content-Disposition', 'Content-Range', 'Age', 'ETag', 'Last-Modified', 'Expires'], 'once'],
      [['Content-Digest', 'Repr-Digest', 'Retry-After', 'Idempotent-Replayed'], 'once'],
      // This field tells an nginx in front of the gateway not to buffer the events of a stream.
      [['X-Accel-Buffering'], 'once'],
      [['Content-Language', 'Content-Encoding', 'Vary', 'Accept-Patch', 'Preference-Applied'], 'list'],
      [['Link', 'Location', 'Content-Location'], 'reference'],
      [['Accept-Ranges'], 'ranges'],
      [['Set-Cookie'], 'cookies'],
      // Fields that the gateway writes itself, after the loop.
      [['Cache-Control', ...REPLACED_ANSWER_HEADERS], 'replaced'],
      [RESERVED_ANSWER_HEADERS, 'reserved'],
    ] as const
  ).flatMap(([names, treatment]) => names.map((name) => [name.toLowerCase(), { spelling: name, treatment }] as const)),
);

/** The parts of a request that the headers of its answer depend on. */
type AnswerContext = Pick<Checked, 'headers' | 'operation' | 'scheme'>;

/** Notes the names of fields that do not reach the client, and `set-cookie: name`. */
export interface WithheldNotes {
  withhold(field: string): void;
}

/** Returns the fields that a Connection header declares to be for the next hop only (RFC 9110 section 7.6.1). */
function namedBy(connection: string | undefined): ReadonlySet<string> | undefined {
  if (connection === undefined || connection === 'keep-alive' || connection === 'close') return undefined;
  return new Set(connection.split(',').map((option) => option.trim().toLowerCase()));
}

/**
 * Appends the headers for the client. `Cache-Control` is private unless the upstream sets something stricter (RFC 9111 section 3.5).
 *
 * @param authorities `host:port` of the upstream's targets
 * @param sent the list to which the headers are appended; it is also returned
 */
export function clientAnswerHeaders(
  given: AnswerHeaders,
  context: AnswerContext,
  authorities: ReadonlySet<string>,
  notes: WithheldNotes,
  sent: string[] = [],
): string[] {
  const { operation } = context;
  const named = namedBy(joinedValueOf(given.connection));
  let setsCookies = false;
  for (const name in given) {
    const value = given[name];
    if (value === undefined || named?.has(name)) continue;
    const { spelling, treatment } = ANSWER_FIELDS.get(name) ?? declaredField(name, operation.responseHeaders);
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

const WITHHELD_FIELD: AnswerField = { spelling: '', treatment: 'reserved' };
/** Bound of `declaredFields`, because each reload can declare new names. */
const DECLARED_FIELDS_MAX = 1000;
/** The treatment of declared fields that upstreams have sent, so that it is found once per name. */
const declaredFields = new Map<string, AnswerField>();

/** Returns the treatment of a field about which the contract or the entry decides. */
function declaredField(name: string, declared: ReadonlySet<string>): AnswerField {
  if (!declared.has(name)) return WITHHELD_FIELD;
  const known = declaredFields.get(name);
  if (known !== undefined) return known;
  const field: AnswerField = isOwnedAnswerHeader(name)
    ? WITHHELD_FIELD
    : { spelling: titleCase(name), treatment: 'list' };
  if (declaredFields.size < DECLARED_FIELDS_MAX) declaredFields.set(name, field);
  return field;
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

/**
 * Appends the cookies that are passed on. Returns true if there is one. The answer must then be private, because a shared cache would give
 * the cookie to other clients.
 */
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

/** Returns the first value of a field. */
export function firstValueOf(value: string | string[] | undefined): string | undefined {
  return typeof value === 'string' ? value : value?.[0];
}

/** Returns the declared length of a body; -1 if there is none. */
export function declaredLengthOf(headers: AnswerHeaders): number {
  const text = firstValueOf(headers['content-length']);
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : -1;
}

/** Returns all values of a field as one. */
export function joinedValueOf(value: string | string[] | undefined): string | undefined {
  return typeof value === 'string' ? value : value?.join(', ');
}

function titleCase(name: string): string {
  return name.replace(/(^|-)[a-z]/g, (text) => text.toUpperCase());
}

/** The latest Cache-Control of an upstream and the result for it. Most answers repeat the value. */
let latestDirectives: string | undefined;
let latestPrivate = 'private, no-store';

/** Returns the Cache-Control header. Answers on secured operations are always private. */
function cacheControl(given: string | string[] | undefined, isPublic: boolean): string {
  const text = joinedValueOf(given);
  if (text !== undefined && isPublic) return text;
  if (text !== latestDirectives) {
    latestPrivate = privateDirectives(text);
    latestDirectives = text;
  }
  return latestPrivate;
}

/**
 * Returns the directives that make an answer stricter. `must-revalidate` is not one of them, because it alone would let shared caches store
 * the answer (RFC 9111 section 3.5). A line with quoted values is discarded, because these may contain commas.
 */
function privateDirectives(text: string | undefined): string {
  if (text === undefined || text === '' || text.includes('"')) return 'private, no-store';
  const directives = text.split(',').map((directive) => directive.trim());
  const kept = directives.filter((directive) => !/^(?:(?:public|s-maxage|private)\b|$)/i.test(directive));
  return kept.length === 1 && /^no-store$/i.test(kept[0] as string) ? text : ['private', ...kept].join(', ');
}
