// Makes the headers through a tunnel. All fields pass except hop-by-hop fields (RFC 9110 section 7.6.1) and fields that only the gateway
// may set. Throws headers_too_large.

import { GatewayError } from '../catalogue/errors.ts';
import type { Admitted } from '../exchange/exchange.ts';
import { plainLength } from '../http1/grammar.ts';
import { setsSessionCookie, withoutSessionCookies } from '../shared/http/session-cookies.ts';
import { PLACEHOLDER_NAME } from './table.ts';

/** Hop-by-hop fields, dropped whether or not Connection names them. */
const HOP_BY_HOP = new Set([
  ...[
    'connection',
    'keep-alive',
    'proxy-connection',
    'te',
    'trailer',
    'transfer-encoding',
    'upgrade',
    'http2-settings',
  ],
  ...['proxy-authenticate', 'proxy-authorization', 'proxy-authentication-info'],
]);

/** Request fields that the gateway sets itself or withholds from upstreams. */
const OWNED_REQUEST_HEADERS = new Set([
  ...['host', 'expect', 'via', 'forwarded', 'traceparent', 'tracestate'],
  ...['x-request-id', 'x-organization-id', 'x-api-key-id'],
  // Some servers take the client's address or the original URL from these.
  ...['x-real-ip', 'x-client-ip', 'x-cluster-client-ip', 'true-client-ip', 'cf-connecting-ip', 'fastly-client-ip'],
  ...['x-original-url', 'x-original-host', 'x-rewrite-url', 'x-host', 'front-end-https'],
]);
const OWNED_REQUEST_PREFIX = /^x-(forwarded|gateway-)/;

/** Answer fields that the gateway itself sets, or that concern connections which clients cannot open. */
const OWNED_ANSWER_HEADERS = new Set(['x-request-id', 'x-client-request-id', 'x-error-code', 'alt-svc']);
const OWNED_ANSWER_PREFIX = /^x-gateway-/;

/** Security headers of the gateway that the upstream may replace with its own. */
const REPLACEABLE_HEADERS = new Set([
  ...['x-content-type-options', 'content-security-policy', 'referrer-policy', 'strict-transport-security'],
]);

interface TunnelRequestOptions {
  /** Host of the upstream's address. */
  readonly host: string;
  /** Whether the request gets a new connection. */
  readonly isolate: boolean;
  readonly traceparent: string;
}

/** Common HTTP libraries read at most 100 header lines, and some servers ban an address that sends more. The proxy library may add one. */
const LINES_MAX = 99;
/** The largest number of lines that the gateway, and an upgrade, add. */
const OWN_LINES_MAX = 15;

/** Returns the headers for the upstream. The framing stays, because the bytes of the body are passed on unchanged. */
export function tunnelRequestHeaders(
  admitted: Admitted,
  { host, isolate, traceparent }: TunnelRequestOptions,
): Record<string, string> {
  const { headers, clientAddress, scheme } = admitted;
  const sent: Record<string, string> = { __proto__: null } as unknown as Record<string, string>;
  for (const [name, value] of headers) if (mayForward(name)) sent[name] = value;
  withholdSessions(sent);
  // Already validated, but not every server accepts other spellings.
  if (headers.has('transfer-encoding')) sent['transfer-encoding'] = 'chunked';
  if (headers.size + OWN_LINES_MAX > LINES_MAX && Object.keys(sent).length + OWN_LINES_MAX > LINES_MAX)
    throw new GatewayError('headers_too_large', { fields: { max_lines: LINES_MAX - OWN_LINES_MAX } });
  const requestHost = headers.get('host');
  const quoted = clientAddress.includes(':') ? `"[${clientAddress}]"` : clientAddress;
  sent.host = host;
  sent.connection = isolate ? 'close' : 'keep-alive';
  sent['x-request-id'] = admitted.id;
  sent.traceparent = traceparent;
  sent.forwarded = `for=${quoted};proto=${scheme}${requestHost === undefined ? '' : `;host="${requestHost}"`}`;
  sent['x-forwarded-for'] = clientAddress;
  sent['x-real-ip'] = clientAddress;
  sent['x-forwarded-proto'] = scheme;
  if (requestHost !== undefined) {
    sent['x-forwarded-host'] = requestHost;
    sent['x-forwarded-port'] = /:(\d+)$/.exec(requestHost)?.[1] ?? (scheme === 'https' ? '443' : '80');
  }
  sent.via = '1.1 api-gateway';
  return sent;
}

/** Removes the cookies of sessions, because they are only for the gateway. */
function withholdSessions(sent: Record<string, string>): void {
  const { cookie } = sent;
  if (cookie === undefined) return;
  const kept = withoutSessionCookies(cookie);
  if (kept === undefined) delete sent.cookie;
  else sent.cookie = kept;
}

/** Uses the spelling of the examples in RFC 6455, because some servers compare these values as text. */
export function upgradeHeaders(admitted: Admitted, sent: TunnelRequestOptions): Record<string, string> {
  return Object.assign(tunnelRequestHeaders(admitted, sent), { connection: 'Upgrade', upgrade: 'websocket' });
}

/** Returns the fields that Connection names, except Content-Length, without which the body would have no detectable end. */
function namedBy(connection: string | undefined): ReadonlySet<string> {
  const named = new Set((connection ?? '').split(',').map((option) => option.trim().toLowerCase()));
  named.delete('content-length');
  return named;
}

/**
 * Rejects names with underscores, because some servers read `_` as `-`, so such a name could become a gateway field, a credential or a
 * length.
 */
function mayForward(name: string): boolean {
  return (
    !name.includes('_') && !HOP_BY_HOP.has(name) && !OWNED_REQUEST_HEADERS.has(name) && !OWNED_REQUEST_PREFIX.test(name)
  );
}

/** The Content-Security-Policy for upstreams with pages. The pages load their own scripts and styles, but no other page may frame them. */
const PAGE_POLICY = "frame-ancestors 'none'";

interface TunnelAnswer {
  /** Names and values of the upstream's answer, flat and unchanged. */
  readonly raw: readonly string[];
  readonly status: number;
  /** The origin of the upstream. Locations on it are turned into paths. */
  readonly origin: string;
  /** The prefix of the locations for clients, if the upstream got the path without it. */
  readonly basePath?: string | undefined;
  /** The name of the file that the client requested, if the upstream got `PLACEHOLDER_NAME`. */
  readonly fileName?: string | undefined;
  /**
   * The gateway's headers, flat. They replace headers of the upstream, except security headers, which are left out if the upstream has
   * them.
   */
  readonly commonHeaders: readonly string[];
  /** Whether the upstream serves HTML pages, which load their own scripts and styles. */
  readonly hasPages: boolean;
}

/**
 * Returns the headers for the client, flat, in the upstream's spelling. A 101 gets no security headers, because they have no effect there.
 */
export function tunnelAnswerHeaders(answering: TunnelAnswer): string[] {
  const { raw, status, commonHeaders, hasPages } = answering;
  const sent: string[] = [];
  const named = namedBy(valuesOf(raw, 'connection'));
  const ours = namesOf(commonHeaders);
  ours.delete('vary');
  for (const name of REPLACEABLE_HEADERS) ours.delete(name);
  const present = new Set<string>();
  for (let i = 0; i < raw.length; i += 2) {
    const name = (raw[i] as string).toLowerCase();
    const value = raw[i + 1] as string;
    if (HOP_BY_HOP.has(name) || named.has(name) || ours.has(name) || OWNED_ANSWER_HEADERS.has(name)) continue;
    if (OWNED_ANSWER_PREFIX.test(name) || (name === 'set-cookie' && setsSessionCookie(value))) continue;
    // A 101 and a 204 have no body, so they must not carry a length (RFC 9110 section 8.6).
    if (name === 'content-length' && (status === 204 || status === 101)) continue;
    present.add(name);
    sent.push(raw[i] as string, publicValue(name, value, answering));
  }
  for (let i = 0; i < commonHeaders.length; i += 2) {
    const name = commonHeaders[i] as string;
    const lower = name.toLowerCase();
    if (REPLACEABLE_HEADERS.has(lower) && (status === 101 || present.has(lower))) continue;
    sent.push(name, hasPages && lower === 'content-security-policy' ? PAGE_POLICY : (commonHeaders[i + 1] as string));
  }
  return sent;
}

/** Returns the value of a field for the client, with public addresses. */
function publicValue(name: string, value: string, { origin, basePath = '', fileName }: TunnelAnswer): string {
  if (name === 'location' || name === 'content-location') return publicLocation(value, origin, basePath);
  if (name === 'content-length') return plainLength(value);
  if (fileName === undefined || name !== 'content-disposition') return value;
  // The name consists of characters of a path, so it contains no quote and no control character.
  return value.replace(`"${PLACEHOLDER_NAME}"`, () => `"${fileName}"`);
}

/** Turns a location on the upstream's origin into a path, because clients cannot reach that origin. */
function withoutOrigin(location: string, origin: string): string {
  if (!URL.canParse(location)) return location;
  const url = new URL(location);
  return url.origin === origin ? url.pathname + url.search + url.hash : location;
}

function publicLocation(location: string, origin: string, basePath: string): string {
  const path = withoutOrigin(location, origin);
  return path.startsWith('/') && !path.startsWith('//') ? basePath + path : path;
}

function namesOf(flat: readonly string[]): Set<string> {
  return new Set(flat.flatMap((text, index) => (index % 2 === 0 ? [text.toLowerCase()] : [])));
}

function valuesOf(flat: readonly string[], name: string): string {
  return flat.filter((_, index) => index % 2 === 1 && flat[index - 1]?.toLowerCase() === name).join(',');
}
