// What crosses in each direction: allow lists, framing made anew, identity that only the gateway can write.

import type { Checked } from '../exchange.ts';

/** Header fields as undici gives them: lower-case names. */
export type AnswerHeaders = Readonly<Record<string, string | string[] | undefined>>;

// http-conventions 8.2. Everything else a client sends stays here: credentials, cookies, hop-by-hop fields, and whatever it calls itself.
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

const answerAllowed = new Set([
  ...['content-type', 'content-language', 'content-encoding', 'content-disposition', 'content-range', 'accept-ranges'],
  ...['etag', 'last-modified', 'expires', 'vary', 'link', 'retry-after', 'idempotent-replayed'],
]);
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
  ],
]);
const answerOwnedPrefix = /^(x-internal-|proxy-|x-gateway-)/;

export interface Identity {
  readonly assertion: string;
  readonly traceparent: string;
}

/** The header list for the upstream, flat: what the client may say, then what only the gateway says. */
export function requestHeaders(checked: Checked, identity: Identity): string[] {
  const { headers, operation, caller, clientAddress, scheme } = checked;
  const sent: string[] = [];
  for (const name of requestAllowed) {
    const value = headers.get(name);
    if (value !== undefined && (name !== 'idempotency-key' || operation.idempotency !== 'off')) sent.push(name, value);
  }
  for (const name of operation.requestHeaders) {
    const value = headers.get(name);
    if (value !== undefined && isClientsToSend(name)) sent.push(name, value);
  }
  const host = headers.get('host') ?? '';
  const quoted = clientAddress.includes(':') ? `"[${clientAddress}]"` : clientAddress;
  sent.push('x-request-id', checked.id);
  sent.push('traceparent', identity.traceparent);
  sent.push('forwarded', `for=${quoted};proto=${scheme};host="${host}"`);
  sent.push('x-forwarded-for', clientAddress);
  sent.push('x-forwarded-proto', scheme);
  sent.push('x-forwarded-host', host);
  sent.push('via', '1.1 api-gateway');
  if (caller.organization) {
    sent.push('x-organization-id', caller.organization.id);
    sent.push('x-api-key-id', caller.subject);
  }
  sent.push('x-gateway-assertion', identity.assertion);
  return sent;
}

/** Declared header parameters cross unless they are the gateway's own, in any spelling: some servers read `_` as `-`. */
function isClientsToSend(name: string): boolean {
  const spelled = name.replaceAll('_', '-');
  return !gatewayOwned.has(spelled) && !gatewayOwnedPrefix.test(spelled) && !requestAllowed.includes(name);
}

/** The header list for the client, flat. `Cache-Control` is private unless the upstream said something stricter (RFC 9111 section 3.5). */
export function answerHeaders(given: AnswerHeaders, declared: ReadonlySet<string>, isPublic: boolean): string[] {
  const sent: string[] = [];
  for (const name in given) {
    const value = given[name];
    if (value === undefined || !(answerAllowed.has(name) || (declared.has(name) && !isOwned(name)))) continue;
    if (typeof value === 'string') sent.push(name, value);
    else for (const line of value) sent.push(name, line);
  }
  sent.push('cache-control', cacheControl(given['cache-control'], isPublic));
  const location = given.location;
  // An absolute address would name an internal host.
  if (typeof location === 'string' && /^\/(?!\/)/.test(location)) sent.push('location', location);
  return sent;
}

function isOwned(name: string): boolean {
  return answerOwned.has(name) || answerOwnedPrefix.test(name);
}

function cacheControl(given: string | string[] | undefined, isPublic: boolean): string {
  if (given === undefined) return 'private, no-store';
  const text = typeof given === 'string' ? given : given.join(', ');
  if (isPublic || !/\b(public|s-maxage)\b/i.test(text)) return text;
  const kept = text
    .split(',')
    .map((directive) => directive.trim())
    .filter((directive) => !/^(public|s-maxage)/i.test(directive));
  return ['private', ...kept].join(', ');
}
