// What crosses in each direction: allow lists, framing made anew, identity that only the gateway can write.

import type { Checked, Operation } from '../exchange.ts';
import { publicLinks, publicPath } from './references.ts';

/** Header fields as a connection gives them: lower-case names; a list where a field came several times. */
export type AnswerHeaders = Readonly<Record<string, string | string[] | undefined>>;

// Everything else a client sends stays here: credentials, cookies, hop-by-hop fields, and whatever it calls itself.
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

// Names the gateway writes or consumes itself; a contract that declares one of them cannot open a way for a client's own.
const gatewayOwned = new Set([
  ...[
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

/** Lower case → as clients read it, like every name the gateway itself writes. */
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
  ].map((name) => [name.toLowerCase(), name]),
);
/** Of these, several lines make one list; of the others the first one counts, which is also the one that was checked. */
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
  // How long something lives is said by the configuration of the gateway.
  ...['deprecation', 'sunset'],
]);
/** Of these, what is sent on is only what clients can reach. */
const references = new Set(['link', 'content-location']);
/** Which pages may read an answer is the gateway's to say. */
const answerOwnedPrefix = /^(x-internal-|proxy-|x-gateway-|access-control-)/;

export interface IdentityHeaders {
  /** Undefined: the upstream is shown a credential instead, and nothing of who asks. */
  readonly assertion: string | undefined;
  readonly traceparent: string;
}

/** What of a request its headers toward an upstream are made of. */
type Headed = Pick<Checked, 'headers' | 'operation' | 'caller' | 'clientAddress' | 'scheme' | 'id'>;

/** The header list for the upstream, flat: what the client may say, then what only the gateway says. */
export function upstreamRequestHeaders(checked: Headed, identity: IdentityHeaders): string[] {
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
    if (name === 'accept-encoding' && operation.answerCheck === 'refuse') continue;
    if (value !== undefined && !named?.has(name) && isClientsToSend(name)) sent.push(name, value);
  }
  // What is encoded cannot be checked.
  if (operation.answerCheck === 'refuse') sent.push('accept-encoding', 'identity');
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

/** Declared header parameters cross unless they are the gateway's own, in any spelling: some servers read `_` as `-`. */
function isClientsToSend(name: string): boolean {
  const spelled = name.replaceAll('_', '-');
  return !gatewayOwned.has(spelled) && !gatewayOwnedPrefix.test(spelled) && !requestAllowed.includes(name);
}

/** The header list for the client, flat. `Cache-Control` is private unless the upstream said something stricter (RFC 9111 section 3.5). */
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
 * What caches may do. Answers on secured operations are private whatever else is said: `must-revalidate` alone would let shared caches store
 * them (RFC 9111 section 3.5). What is quoted may hold commas, so that nothing of such a line is believed.
 */
function cacheControl(given: string | string[] | undefined, isPublic: boolean): string {
  const text = textOf(given);
  if (text !== undefined && isPublic) return text;
  if (text === undefined || text === '' || text.includes('"')) return 'private, no-store';
  const directives = text.split(',').map((directive) => directive.trim());
  const kept = directives.filter((directive) => !/^(?:(?:public|s-maxage|private)\b|$)/i.test(directive));
  return kept.length === 1 && /^no-store$/i.test(kept[0] as string) ? text : ['private', ...kept].join(', ');
}
