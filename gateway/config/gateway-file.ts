// The shape of config/gateway.yaml: the gateway's public appearance, its trusted parties, and its limits on requests.

import { z } from 'zod';
import { hosts } from './hosts.ts';
import { cidr, httpUrl, isHttpUrl, name, scope, whole } from './parts.ts';
import { tls } from './tls.ts';
import { tracing } from './tracing.ts';
import { operationDeprecations, versions } from './versions.ts';

const scopeOrAll = z
  .string()
  .regex(
    /^(\*|[a-z][a-z0-9_-]*:(read|write))$/,
    "must be a scope of the form <resource>:read or <resource>:write, or '*'",
  );

/** Signature algorithms of tokens. Asymmetric only: a key that verifies must not be able to sign. */
const algorithm = z.enum(['EdDSA', 'ES256', 'ES384', 'ES512', 'RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512']);
const origin = z
  .string()
  .refine((text) => text === '*' || (isHttpUrl(text) && !text.includes('*') && new URL(text).origin === text), {
    error: "must be an origin such as https://app.example.com, or '*'",
  })
  .meta({ pattern: '^([*]|https?://[^/?#\\s@*]+)$' });
const hostName = z
  .string()
  .regex(/^(\*|[a-z0-9]([a-z0-9.-]*[a-z0-9])?)$/, 'must be a host name in lower case without port, or *');

/** An issuer of tokens that are accepted besides API keys: for the platform's own applications. */
const issuer = z.strictObject({
  /** The exact `iss` of its tokens. */
  issuer: z.string().min(1).max(512),
  /** The URL of its public keys. */
  jwksUrl: z
    .string()
    .refine(isKeysUrl, 'must be an https:// address (http:// only on this machine)')
    .meta({ pattern: '^(https://|http://(localhost|127[.]0[.]0[.]1|\\[::1\\])([:/]|$))' }),
  /** The `aud` of its tokens must be or contain this. */
  audience: z.string().min(1).max(512),
  algorithms: z.array(algorithm).min(1, 'must name at least one algorithm').default(['EdDSA', 'ES256']),
  /** The names of the claims. */
  claims: z
    .strictObject({
      organization: z.string().min(1).default('org'),
      /** The claim is a list, or one text with spaces between the scopes. */
      scopes: z.string().min(1).default('scope'),
    })
    .prefault({}),
  /** The mode of its tokens. */
  mode: z.enum(['live', 'test']).default('live'),
  /** Upper bound on the scopes of its tokens. */
  scopesMax: z.array(scopeOrAll).default(['*']),
  /** Maximum clock difference. */
  clockToleranceSeconds: whole('seconds', 0, 300).default(30),
  /** Interval between downloads of its keys. */
  refreshSeconds: whole('seconds', 10, 86_400).default(300),
});

/** Origins whose pages may read answers in browsers. */
const crossOrigin = z
  .strictObject({
    origins: z.array(origin).min(1, 'must list at least one origin'),
    /** Whether browsers may send cookies and other credentials. */
    credentials: z.boolean().default(false),
    /** Time for which browsers may cache a preflight. */
    maxAgeSeconds: whole('seconds', 0, 86_400).default(600),
  })
  .check(({ value: { origins, credentials }, issues }) => {
    if (!(credentials && origins.includes('*'))) return;
    const message = 'must be false where every origin is let in: list the origins instead of *';
    issues.push({ code: 'custom', path: ['credentials'], input: credentials, message });
  });

const share = 'must be a number from 0.01 to 1';

export const gatewayFile = z.strictObject({
  /** The URL that clients use: in doc_url, in Link headers and as the realm of challenges. */
  publicUrl: httpUrl.default('http://localhost:8080').transform((url) => url.replace(/\/+$/, '')),
  /** Proxies whose X-Forwarded-For is trusted. */
  trustedProxies: z.array(cidr).default([]),
  limits: z
    .strictObject({
      /** Of buffered bodies; streamed bodies are not limited. */
      bodyBytesMax: whole('bytes', 1, 1_073_741_824).default(1_048_576),
      headerBytesMax: whole('bytes', 1024, 1_048_576).default(16_384),
      urlBytesMax: whole('bytes', 256, 65_536).default(8_192),
      jsonDepthMax: whole('levels', 1, 1000).default(32),
      /** Members and items of a JSON body at all depths. */
      jsonMembersMax: whole('members', 1, 10_000_000).default(10_000),
    })
    .prefault({}),
  timeouts: z
    .strictObject({
      /** From the first byte of a request to the end of its headers. */
      headersMs: whole('milliseconds', 100, 600_000).default(15_000),
      /** From the headers of a request to its last byte; bodies through tunnels may take longer. */
      requestMs: whole('milliseconds', 100, 3_600_000).default(60_000),
      /** Time for which a client may read nothing of a pending answer. */
      writeIdleMs: whole('milliseconds', 100, 3_600_000).default(60_000),
      /** Time for which an idle client connection stays open; must exceed the idle time of a load balancer in front. */
      keepAliveMs: whole('milliseconds', 0, 3_600_000).default(65_000),
      /** Time for which the gateway keeps serving after SIGTERM made it not ready, so that load balancers notice. 5–10 s behind one. */
      drainDelayMs: whole('milliseconds', 0, 600_000).default(250),
      /** Time for which requests in flight may continue after that. */
      drainMs: whole('milliseconds', 0, 600_000).default(10_000),
    })
    .prefault({}),
  /** Client connections. A connection above the maximum is closed immediately. */
  connections: z
    .strictObject({
      max: whole('connections', 1, 1_000_000).default(20_000),
      /** Trusted proxies may have more. */
      perAddress: whole('connections', 1, 1_000_000).default(1_000),
    })
    .prefault({}),
  /** Absent: no TLS, because a proxy in front terminates it. */
  tls: tls.optional(),
  keys: z
    .strictObject({
      /** Maximum number of cached callers. */
      cacheMax: whole('callers', 1, 10_000_000).default(100_000),
      /** Maximum number of unknown keys cached as unknown. */
      unknownCacheMax: whole('keys', 1, 10_000_000).default(10_000),
      /** Time for which cached keys stay valid while the key store is unavailable. */
      graceSeconds: whole('seconds', 0, 86_400).default(900),
    })
    .prefault({}),
  /** Scopes that `*` does not include and that only operator organizations may hold. */
  operatorScopes: z.array(scope).default(['mail:read', 'mail:write']),
  issuers: z.record(name, issuer).default({}),
  /** By host name; `*` applies to every host that is not listed. */
  cors: z.record(hostName, crossOrigin).default({}),
  idempotency: z
    .strictObject({
      /** Time for which an answer can be replayed. */
      retainSeconds: whole('seconds', 60, 2_592_000).default(86_400),
      /** Longer answers are not stored. */
      answerBytesMax: whole('bytes', 0, 1_048_576).default(65_536),
      /** Maximum stored bytes of one organization within retainSeconds, both modes together. */
      organizationBytesMax: whole('bytes', 1_048_576, 1_099_511_627_776).default(67_108_864),
    })
    .prefault({}),
  overload: z
    .strictObject({
      /** Maximum number of concurrent requests in one process. */
      maxInFlight: whole('requests', 1, 1_000_000).default(10_000),
      /**
       * Maximum share of all request slots and buffers for one organization. For slots of an upstream it applies only while others
       * wait.
       */
      organizationShare: z.number(share).min(0.01, share).max(1, share).default(0.5),
      /** Event loop delay that, if repeated, makes the gateway refuse requests. */
      loopDelayMs: whole('milliseconds', 10, 60_000).default(500),
      /** Maximum bytes of buffered bodies in one process. */
      bufferedBytesMax: whole('bytes', 65_536, 1_099_511_627_776).default(134_217_728),
    })
    .prefault({}),
  /** The destination of traces. Absent: no traces are recorded. */
  tracing: tracing.optional(),
  logLevel: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal']).default('info'),
  /** Directory of published contracts below GATEWAY_CONTRACTS; contracts that break them are refused. */
  publishedContracts: z
    .string()
    .regex(/^[A-Za-z0-9_-]+(\/[A-Za-z0-9_-]+)*$/, 'must be a path below GATEWAY_CONTRACTS')
    .optional(),
  /** Release, deprecation and sunset dates of versions. */
  versions: versions.default({}),
  /** The same for single operations, by id. */
  operations: operationDeprecations.default({}),
  /** Host names for parts of the API; all other host names are then refused. */
  hosts: hosts.default({}),
});

export type GatewayFile = z.output<typeof gatewayFile>;

function isKeysUrl(text: string): boolean {
  if (!/^https?:\/\/[^\s@]+$/.test(text) || !URL.canParse(text)) return false;
  const { protocol, hostname } = new URL(text);
  return protocol === 'https:' || ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
}
