// Answers cross-origin requests of browsers (Fetch standard, section 3.2), and decides by host name which pages may read answers. Secret
// keys do not belong in browsers, so CORS is off until a host lists the origins that it trusts.

import type { Admitted, Arrived } from '../../exchange/exchange.ts';
import { authorityOf, hostNameIn } from '../admission/sites.ts';

interface CrossOriginRules {
  /** Exact origins, or `*`. */
  readonly origins: readonly string[];
  readonly credentials: boolean;
  readonly maxAgeSeconds: number;
}

interface CorsOptions {
  /** The rules by lower-case host name; `*` stands for every other host. */
  readonly hosts: Readonly<Record<string, CrossOriginRules>>;
  /** Names of headers that contracts declare, in either direction. */
  readonly declaredRequestHeaders: Iterable<string>;
  readonly declaredResponseHeaders: Iterable<string>;
  admit(arrived: Arrived): Admitted;
}

interface Cors {
  /** Lets an allowed page read the answer. Runs before the first stage that can refuse, because pages have to read refusals too. */
  allow(arrived: Arrived): void;
  /** Whether the request is from a page that may read its answer. */
  trusts(arrived: Arrived): boolean;
  /** Whether this is a preflight, for a host that has rules. Any other OPTIONS gets the answer of options.ts. */
  isPreflight(arrived: Arrived): boolean;
  /**
   * Answers a preflight without matching an operation, because the request that follows gets its own refusal. Counts nothing and asks no
   * store. Rejects with the codes of admit.
   */
  answerPreflight(arrived: Arrived): Promise<void>;
}

/** Browsers may send these headers. They are listed by name, because `*` covers neither Authorization nor requests with credentials. */
const REQUEST_HEADERS = [
  ...['Authorization', 'Content-Type', 'Accept', 'Accept-Language', 'Idempotency-Key', 'Last-Event-ID', 'Prefer'],
  ...['X-Request-Id', 'If-Match', 'If-None-Match', 'If-Modified-Since', 'If-Unmodified-Since'],
];
/** Headers that a page may read beside the CORS-safelisted headers. */
const RESPONSE_HEADERS = [
  ...['RateLimit', 'RateLimit-Policy', 'X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset'],
  ...['Retry-After', 'X-Request-Id', 'X-Client-Request-Id', 'X-Error-Code', 'WWW-Authenticate', 'Allow'],
  ...['Idempotent-Replayed', 'Original-Request-Id', 'ETag', 'Link', 'Location', 'Deprecation', 'Sunset'],
];
const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE';

/** The rules of one host, with header values that are made only once. */
interface Host {
  readonly anyOrigin: boolean;
  readonly origins: ReadonlySet<string>;
  /** Flat names and values that every answer to an allowed page gets, beside its origin. */
  readonly shared: readonly string[];
  readonly preflight: readonly string[];
}

export function createCors(options: CorsOptions): Cors {
  const { admit } = options;
  const hosts = new Map(Object.entries(options.hosts).map(([name, rules]) => [name, toHost(rules, options)]));
  const fallback = hosts.get('*');

  function hostOf({ request }: Arrived): Host | undefined {
    if (hosts.size === 0) return undefined;
    return hosts.get(hostNameIn(authorityOf(request) ?? '')) ?? fallback;
  }

  return {
    allow(arrived) {
      const host = hostOf(arrived);
      if (host === undefined) return;
      // Refused origins get this header, too, because a cache must not give the answer for one origin to another.
      if (!host.anyOrigin) arrived.commonHeaders.push('Vary', 'Origin');
      const allowed = allowedOrigin(host, arrived);
      if (allowed !== undefined) arrived.commonHeaders.push('Access-Control-Allow-Origin', allowed, ...host.shared);
    },
    trusts(arrived) {
      const host = hostOf(arrived);
      return host !== undefined && allowedOrigin(host, arrived) !== undefined;
    },
    isPreflight(arrived) {
      if (arrived.request.method !== 'OPTIONS') return false;
      const { headers } = arrived.request;
      return (
        headers.origin !== undefined &&
        headers['access-control-request-method'] !== undefined &&
        hostOf(arrived) !== undefined
      );
    },
    async answerPreflight(arrived) {
      admit(arrived);
      const host = hostOf(arrived) as Host;
      const allowed = allowedOrigin(host, arrived) === undefined ? [] : host.preflight;
      arrived.trail.status = 204;
      arrived.response.writeHead(204, [...arrived.commonHeaders, ...allowed, 'Cache-Control', 'no-store']);
      arrived.response.end();
    },
  };
}

function toHost({ origins, credentials, maxAgeSeconds }: CrossOriginRules, options: CorsOptions): Host {
  const readable = joinNames(RESPONSE_HEADERS, options.declaredResponseHeaders);
  const sendable = joinNames(REQUEST_HEADERS, options.declaredRequestHeaders);
  return {
    anyOrigin: origins.includes('*'),
    origins: new Set(origins),
    shared: [
      ...['Access-Control-Expose-Headers', readable],
      ...(credentials ? ['Access-Control-Allow-Credentials', 'true'] : []),
    ],
    preflight: [
      ...['Access-Control-Allow-Methods', METHODS],
      ...['Access-Control-Allow-Headers', sendable],
      ...['Access-Control-Max-Age', String(maxAgeSeconds)],
    ],
  };
}

function allowedOrigin({ anyOrigin, origins }: Host, { request }: Arrived): string | undefined {
  const { origin } = request.headers;
  if (origin === undefined) return undefined;
  if (anyOrigin) return '*';
  return origins.has(origin) ? origin : undefined;
}

/** Joins both lists. A name that differs only in case is listed once. */
function joinNames(own: readonly string[], declared: Iterable<string>): string {
  const names = new Map([...declared].map((name) => [name.toLowerCase(), name]));
  for (const name of own) names.set(name.toLowerCase(), name);
  return [...names.values()].join(', ');
}
