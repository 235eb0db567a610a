// Headers between client and upstream: allow lists in both directions, new framing, and identity headers that only the gateway can set.

import type { Checked, Operation } from '../exchange.ts';
import { upstreamCodings } from './encoding/request-codings.ts';
import { publicLinks, publicPath } from './references.ts';

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
  'prefer',
  'user-agent',
];

// Fields that the gateway sets or consumes. A contract that declares one of them does not let the client's value through.
const gatewayOwned = new Set([
  ...[
    'accept-encoding',
    'authorization',
    'cookie',
    'host',
    'content-length',
    'forwarded',
    'via',
    'traceparent',
    'tracestate',
    'x-request-id',
  ],
  ...['connection', 'keep-alive', 'te', 'trailer', 'transfer-encoding', 'upgrade', 'expect', 'http2-settings'],
  ...['x-organization-id', 'x-api-key-id', 'x-gateway-assertion'],
]);
const gatewayOwnedPrefix = /^(x-forwarded-|proxy-|x-gateway-)/;

/** Lower-case name → spelling for clients. */
const answerAllowed = new Map(
  [
    ...[
      'Content-Type',
      'Content-Language',
      'Content-Encoding',
      'Content-Disposition',
      'Content-Range',
      'Accept-Ranges',
    ],
    ...['ETag', 'Last-Modified', 'Expires', 'Vary', 'Link', 'Retry-After', 'Idempotent-Replayed'],
    'Preference-Applied',
  ].map((name) => [name.toLowerCase(), name]),
);
/** For these fields, several lines form one list. For the others the first line counts, which is the one that was checked. */
const answerLists = new Set(['content-language', 'content-encoding', 'accept-ranges', 'vary', 'link']);
const answerOwned = new Set([
  ...[
    'connection',
    'keep-alive',
    'transfer-encoding',
    'upgrade',
    'trailer',
    'content-length',
    'server',
    'date',
    'set-cookie',
  ],
  ...[
    'www-authenticate',
    'authentication-info',
    'x-powered-by',
    'x-request-id',
    'x-error-code',
    'location',
    'cache-control',
  ],
  ...[
    'ratelimit',
    'ratelimit-policy',
    'x-ratelimit-limit',
    'x-ratelimit-remaining',
    'x-ratelimit-reset',
    'x-client-request-id',
    'original-request-id',
    'allow',
  ],
  // The gateway's configuration decides deprecations.
  ...['deprecation', 'sunset'],
]);
/** Fields with references: only references that clients can reach are passed on. */
const references = new Set(['link', 'content-location']);
/** The gateway alone decides about CORS. */
const answerOwnedPrefix = /^(x-internal-|proxy-|x-gateway-|access-control-)/;

export interface IdentityHeaders {
  /** Undefined: the upstream gets a credential instead, and no identity of the caller. */
  readonly assertion: string | undefined;
  readonly traceparent: string;
}

/** The parts of a request that its upstream headers are made of. */
type Headed = Pick<Checked, 'headers' | 'operation' | 'caller' | 'clientAddress' | 'scheme' | 'id'>;

/**
 * Headers for the upstream, flat: first the allowed fields of the client, then the gateway's own.
 *
 * @param readsAnswer whether the gateway reads or stores the answer before the client gets it, so that it must have no content coding
 */
export function upstreamRequestHeaders(checked: Headed, identity: IdentityHeaders, readsAnswer: boolean): string[] {
  const { headers, operation, caller, clientAddress, scheme } = checked;
  const sent: string[] = [];
  const named = namedBy(headers.get('connection'));
  for (const name of requestAllowed) {
    const value = headers.get(name);
    if (value === undefined || named?.has(name)) continue;
    if (name !== 'idempotency-key' || operation.idempotency !== 'off') sent.push(name, value);
  }
  for (const name of operation.requestHeaders) {
    const value = headers.get(name);
    if (value !== undefined && !named?.has(name) && mayForward(name)) sent.push(name, value);
  }
  if (readsAnswer) sent.push('accept-encoding', 'identity');
  else {
    const accepted = headers.get('accept-encoding');
    if (accepted !== undefined && !named?.has('accept-encoding'))
      sent.push('accept-encoding', upstreamCodings(accepted));
  }
  const host = headers.get('host');
  const quoted = clientAddress.includes(':') ? `"[${clientAddress}]"` : clientAddress;
  sent.push('x-request-id', checked.id);
  sent.push('traceparent', identity.traceparent);
  sent.push('forwarded', `for=${quoted};proto=${scheme}${host === undefined ? '' : `;host="${host}"`}`);
  sent.push('x-forwarded-for', clientAddress);
  sent.push('x-forwarded-proto', scheme);
  if (host !== undefined) sent.push('x-forwarded-host', host);
  sent.push('via', '1.1 api-gateway');
  if (identity.assertion === undefined) return sent;
  if (caller.organization) {
    sent.push('x-organization-id', caller.organization.id);
    if (caller.issuer === undefined) sent.push('x-api-key-id', caller.subject);
  }
  sent.push('x-gateway-assertion', identity.assertion);
  return sent;
}

/** Fields that a Connection header declares to be for the next hop only (RFC 9110 section 7.6.1). */
function namedBy(connection: string | undefined): ReadonlySet<string> | undefined {
  if (connection === undefined || connection === 'keep-alive' || connection === 'close') return undefined;
  return new Set(connection.split(',').map((option) => option.trim().toLowerCase()));
}

/** Declared header parameters pass, except the gateway's own fields in any spelling: some servers read `_` as `-`. */
function mayForward(name: string): boolean {
  const spelled = name.replaceAll('_', '-');
  return !gatewayOwned.has(spelled) && !gatewayOwnedPrefix.test(spelled) && !requestAllowed.includes(name);
}

/** Headers for the client, flat. `Cache-Control` is private unless the upstream sets something stricter (RFC 9111 section 3.5). */
export function clientAnswerHeaders(given: AnswerHeaders, operation: Operation): string[] {
  const declared = operation.responseHeaders;
  const sent: string[] = [];
  const named = namedBy(textOf(given.connection));
  for (const name in given) {
    const value = given[name];
    const spelling = answerAllowed.get(name) ?? (declared.has(name) && !isOwned(name) ? titleCase(name) : undefined);
    if (value === undefined || spelling === undefined || named?.has(name)) continue;
    const isSingle = typeof value === 'string' || (answerAllowed.has(name) && !answerLists.has(name));
    if (references.has(name)) sent.push(...publicReferences(name, spelling, value, operation));
    else if (isSingle) sent.push(spelling, typeof value === 'string' ? value : (value[0] as string));
    else for (const line of value) sent.push(spelling, line);
  }
  sent.push('Cache-Control', cacheControl(given['cache-control'], operation.security.length === 0));
  const location = publicPath(textOf(given.location), operation);
  if (location !== undefined) sent.push('Location', location);
  return sent;
}

function publicReferences(name: string, spelling: string, value: string | string[], operation: Operation): string[] {
  const lines = typeof value === 'string' ? [value] : value;
  const toPublic = name === 'link' ? publicLinks : publicPath;
  return lines.flatMap((line) => {
    const text = toPublic(line, operation);
    return text === undefined ? [] : [spelling, text];
  });
}

function textOf(value: string | string[] | undefined): string | undefined {
  return typeof value === 'string' ? value : value?.join(', ');
}

function titleCase(name: string): string {
  return name.replace(/(^|-)[a-z]/g, (text) => text.toUpperCase());
}

function isOwned(name: string): boolean {
  return answerOwned.has(name) || answerOwnedPrefix.test(name);
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
