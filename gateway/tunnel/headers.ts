// What crosses a tunnel: everything but what belongs to one connection and what only the gateway says (RFC 9110 section 7.6.1).

import type { Admitted } from '../exchange.ts';

/** For the next hop only, whether or not Connection names them. */
const hopByHop = new Set([
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

/** Of requests: written anew, or not for upstreams. */
const gatewaySays = new Set([
  ...['host', 'expect', 'via', 'forwarded', 'traceparent', 'tracestate'],
  ...['x-request-id', 'x-organization-id', 'x-api-key-id'],
  // Names that some servers believe about who is asking.
  ...['x-real-ip', 'x-client-ip', 'x-cluster-client-ip', 'true-client-ip', 'cf-connecting-ip', 'fastly-client-ip'],
  ...['x-original-url', 'x-original-host', 'x-rewrite-url', 'x-host', 'front-end-https'],
]);
const gatewaySaysPrefix = /^x-(forwarded|gateway-)/;

/** Of answers: the gateway's own, or about connections that clients cannot have. */
const answerSays = new Set(['x-request-id', 'x-client-request-id', 'x-error-code', 'alt-svc']);
const answerSaysPrefix = /^x-gateway-/;

/** Of what the gateway adds to an answer: left out where the upstream has set it. */
const givesWay = new Set([
  ...['x-content-type-options', 'content-security-policy', 'referrer-policy', 'strict-transport-security'],
]);

export interface Sent {
  /** The upstream's own name, as its address has it. */
  readonly host: string;
  readonly traceparent: string;
}

/** The headers for the upstream. How a body is framed stays as it is, since its bytes do. */
export function tunnelRequestHeaders(admitted: Admitted, { host, traceparent }: Sent): Record<string, string> {
  const { headers, clientAddress, scheme } = admitted;
  const named = namedBy(headers.get('connection'));
  const sent: Record<string, string> = { __proto__: null } as unknown as Record<string, string>;
  for (const [name, value] of headers) if (isClientsToSend(name) && !named.has(name)) sent[name] = value;
  // Admitted in these forms only, but in spellings and with zeros that not every server takes.
  if (headers.has('transfer-encoding')) sent['transfer-encoding'] = 'chunked';
  const length = headers.get('content-length');
  if (length !== undefined) sent['content-length'] = String(BigInt(length));
  const asked = headers.get('host');
  const quoted = clientAddress.includes(':') ? `"[${clientAddress}]"` : clientAddress;
  sent.host = host;
  sent.connection = 'keep-alive';
  sent['x-request-id'] = admitted.id;
  sent.traceparent = traceparent;
  sent.forwarded = `for=${quoted};proto=${scheme}${asked === undefined ? '' : `;host="${asked}"`}`;
  sent['x-forwarded-for'] = clientAddress;
  sent['x-real-ip'] = clientAddress;
  sent['x-forwarded-proto'] = scheme;
  if (asked !== undefined) {
    sent['x-forwarded-host'] = asked;
    sent['x-forwarded-port'] = /:(\d+)$/.exec(asked)?.[1] ?? (scheme === 'https' ? '443' : '80');
  }
  sent.via = '1.1 api-gateway';
  return sent;
}

/** Some servers compare these as text, so they are spelled as the examples of RFC 6455 spell them. */
export function upgradeHeaders(admitted: Admitted, sent: Sent): Record<string, string> {
  return Object.assign(tunnelRequestHeaders(admitted, sent), { connection: 'Upgrade', upgrade: 'websocket' });
}

/** A framing header that Connection names would leave a body that nobody can see the end of. */
function namedBy(connection: string | undefined): ReadonlySet<string> {
  const named = new Set((connection ?? '').split(',').map((option) => option.trim().toLowerCase()));
  named.delete('content-length');
  return named;
}

/** Some servers read `_` as `-`: to them a name with underscores could be one of these, a credential or a length. */
function isClientsToSend(name: string): boolean {
  return !name.includes('_') && !hopByHop.has(name) && !gatewaySays.has(name) && !gatewaySaysPrefix.test(name);
}

/** A page needs its own scripts and styles; no other page may frame it. */
const PAGE_POLICY = "frame-ancestors 'none'";

export interface Answering {
  /** Flat names and values of the upstream's answer, as they came. */
  readonly raw: readonly string[];
  readonly status: number;
  /** Where the upstream is: addresses there are paths here. */
  readonly origin: string;
  /** The gateway's own headers, flat: they replace the upstream's, except for the constant ones, which give way. */
  readonly carried: readonly string[];
  /** Whether the answers are pages, which need their own scripts and styles. */
  readonly hasPages: boolean;
}

/** The header list for the client, flat, spelled as the upstream spells it. Security headers mean nothing on a 101. */
export function tunnelAnswerHeaders({ raw, status, origin, carried, hasPages }: Answering): string[] {
  const sent: string[] = [];
  const named = namedBy(valuesOf(raw, 'connection'));
  const ours = namesOf(carried);
  ours.delete('vary');
  for (const name of givesWay) ours.delete(name);
  const said = new Set<string>();
  for (let i = 0; i < raw.length; i += 2) {
    const name = (raw[i] as string).toLowerCase();
    const value = raw[i + 1] as string;
    if (hopByHop.has(name) || named.has(name) || ours.has(name) || answerSays.has(name)) continue;
    if (answerSaysPrefix.test(name)) continue;
    // A length that no body follows, in any case (RFC 9110 section 8.6).
    if (name === 'content-length' && status === 204) continue;
    said.add(name);
    sent.push(raw[i] as string, isLocation(name) ? withoutOrigin(value, origin) : value);
  }
  for (let i = 0; i < carried.length; i += 2) {
    const name = carried[i] as string;
    const lower = name.toLowerCase();
    if (givesWay.has(lower) && (status === 101 || said.has(lower))) continue;
    sent.push(name, hasPages && lower === 'content-security-policy' ? PAGE_POLICY : (carried[i + 1] as string));
  }
  return sent;
}

function isLocation(name: string): boolean {
  return name === 'location' || name === 'content-location';
}

/** Clients cannot reach the upstream's own address: what it says of itself becomes a path here. */
function withoutOrigin(location: string, origin: string): string {
  if (!URL.canParse(location)) return location;
  const url = new URL(location);
  return url.origin === origin ? url.pathname + url.search + url.hash : location;
}

function namesOf(flat: readonly string[]): Set<string> {
  return new Set(flat.flatMap((text, index) => (index % 2 === 0 ? [text.toLowerCase()] : [])));
}

function valuesOf(flat: readonly string[], name: string): string {
  return flat.filter((_, index) => index % 2 === 1 && flat[index - 1]?.toLowerCase() === name).join(',');
}
