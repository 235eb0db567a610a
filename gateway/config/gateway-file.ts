// The shape of config/gateway.yaml: what clients see of the gateway, whom it believes, and how much of a request it takes in.

import { z } from 'zod';
import { hosts } from './hosts.ts';
import { cidr, httpUrl, isHttpUrl, name, scope, whole } from './parts.ts';
import { tls } from './tls.ts';
import { tracing } from './tracing.ts';
import { operationLives, versions } from './versions.ts';

const scopeOrAll = z
  .string()
  .regex(
    /^(\*|[a-z][a-z0-9_-]*:(read|write))$/,
    "must be a scope of the form <resource>:read or <resource>:write, or '*'",
  );

/** What signs tokens. Nothing symmetric: a key that verifies must not be able to sign. */
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

/** Whose tokens are accepted besides API keys: the platform's own applications. */
const issuer = z.strictObject({
  /** Their `iss`, exactly. */
  issuer: z.string().min(1).max(512),
  /** Where its public keys are. */
  jwksUrl: z
    .string()
    .refine(isKeysUrl, 'must be an https:// address (http:// only on this machine)')
    .meta({ pattern: '^(https://|http://(localhost|127[.]0[.]0[.]1|\\[::1\\])([:/]|$))' }),
  /** Their `aud` must be or contain this. */
  audience: z.string().min(1).max(512),
  algorithms: z.array(algorithm).min(1, 'must name at least one algorithm').default(['EdDSA', 'ES256']),
  /** Names of the claims. */
  claims: z
    .strictObject({
      organization: z.string().min(1).default('org'),
      /** A list, or one text with spaces between. */
      scopes: z.string().min(1).default('scope'),
    })
    .prefault({}),
  /** What a token reaches. */
  mode: z.enum(['live', 'test']).default('live'),
  /** The most its tokens can be granted, whatever they say. */
  scopesMax: z.array(scopeOrAll).default(['*']),
  /** How far its clock may be off. */
  clockToleranceSeconds: whole('seconds', 0, 300).default(30),
  /** How often its keys are read anew. */
  refreshSeconds: whole('seconds', 10, 86_400).default(300),
});

/** For browser applications: which pages of other origins may read answers. */
const crossOrigin = z
  .strictObject({
    origins: z.array(origin).min(1, 'must list at least one origin'),
    /** Whether cookies and the like may be sent along. */
    credentials: z.boolean().default(false),
    /** How long a browser may remember a preflight. */
    maxAgeSeconds: whole('seconds', 0, 86_400).default(600),
  })
  .check(({ value: { origins, credentials }, issues }) => {
    if (!(credentials && origins.includes('*'))) return;
    const message = 'must be false where every origin is let in: list the origins instead of *';
    issues.push({ code: 'custom', path: ['credentials'], input: credentials, message });
  });

const share = 'must be a number from 0.01 to 1';

export const gatewayFile = z.strictObject({
  /** The address clients use: doc_url, Link headers, the realm of challenges. */
  publicUrl: httpUrl.default('http://localhost:8080').transform((url) => url.replace(/\/+$/, '')),
  /** Whose X-Forwarded-For is believed. */
  trustedProxies: z.array(cidr).default([]),
  limits: z
    .strictObject({
      /** Of bodies that are read to be checked; a streamed one is not held. */
      bodyBytesMax: whole('bytes', 1, 1_073_741_824).default(1_048_576),
      headerBytesMax: whole('bytes', 1024, 1_048_576).default(16_384),
      urlBytesMax: whole('bytes', 256, 65_536).default(8_192),
      jsonDepthMax: whole('levels', 1, 1000).default(32),
      /** Members and items of a JSON body, at all depths together. */
      jsonMembersMax: whole('members', 1, 10_000_000).default(10_000),
    })
    .prefault({}),
  timeouts: z
    .strictObject({
      /** From the first byte of a request to the last of its head. */
      headersMs: whole('milliseconds', 100, 600_000).default(15_000),
      /** From the head of a request to its last byte; bodies that go through tunnels may take longer. */
      requestMs: whole('milliseconds', 100, 3_600_000).default(60_000),
      /** How long a client may read nothing of an answer that waits for it. */
      writeIdleMs: whole('milliseconds', 100, 3_600_000).default(60_000),
      /** How long an idle client connection stays open; keep it above the idle time of the balancer in front. */
      keepAliveMs: whole('milliseconds', 0, 3_600_000).default(65_000),
      /** How long the gateway goes on serving after SIGTERM made it not ready, so that balancers notice. 5–10 s behind one. */
      drainDelayMs: whole('milliseconds', 0, 600_000).default(250),
      /** How long requests in flight may go on after that. */
      drainMs: whole('milliseconds', 0, 600_000).default(10_000),
    })
    .prefault({}),
  /** Of clients. One too many is closed at once. */
  connections: z
    .strictObject({
      max: whole('connections', 1, 1_000_000).default(20_000),
      /** Trusted proxies may have more. */
      perAddress: whole('connections', 1, 1_000_000).default(1_000),
    })
    .prefault({}),
  /** Absent: no TLS, which somebody in front speaks. */
  tls: tls.optional(),
  keys: z
    .strictObject({
      /** How many callers are remembered. */
      cacheMax: whole('callers', 1, 10_000_000).default(100_000),
      /** How many unknown keys are remembered as unknown. */
      unknownCacheMax: whole('keys', 1, 10_000_000).default(10_000),
      /** How long known keys go on while the key store is away. */
      graceSeconds: whole('seconds', 0, 86_400).default(900),
    })
    .prefault({}),
  /** Scopes that `*` never covers and that only operator organizations may hold. */
  operatorScopes: z.array(scope).default(['mail:read', 'mail:write']),
  issuers: z.record(name, issuer).default({}),
  /** By host name; `*` stands for every host that is not listed. */
  cors: z.record(hostName, crossOrigin).default({}),
  idempotency: z
    .strictObject({
      /** How long an answer can be given again. */
      retainSeconds: whole('seconds', 60, 2_592_000).default(86_400),
      /** Longer answers are not kept. */
      answerBytesMax: whole('bytes', 0, 1_048_576).default(65_536),
      /** What one organization may store in the time an answer is kept, both modes together. */
      organizationBytesMax: whole('bytes', 1_048_576, 1_099_511_627_776).default(67_108_864),
    })
    .prefault({}),
  overload: z
    .strictObject({
      /** Requests under way in one process. */
      maxInFlight: whole('requests', 1, 1_000_000).default(10_000),
      /** The part of all places and buffers that one organization may have; of the places of an upstream, while others wait. */
      organizationShare: z.number(share).min(0.01, share).max(1, share).default(0.5),
      /** How late the event loop may be, again and again, before requests are refused. */
      loopDelayMs: whole('milliseconds', 10, 60_000).default(500),
      /** Of bodies that are held until they have been sent on, in one process. */
      bufferedBytesMax: whole('bytes', 65_536, 1_099_511_627_776).default(134_217_728),
    })
    .prefault({}),
  /** Where traces are kept. Absent: nowhere, and nothing is noted for them. */
  tracing: tracing.optional(),
  logLevel: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal']).default('info'),
  /** Directory below GATEWAY_CONTRACTS of what clients have been promised; contracts that break it are refused. */
  publishedContracts: z
    .string()
    .regex(/^[A-Za-z0-9_-]+(\/[A-Za-z0-9_-]+)*$/, 'must be a path below GATEWAY_CONTRACTS')
    .optional(),
  /** When versions were released, are deprecated and end. */
  versions: versions.default({}),
  /** The same for single operations, by id. */
  operations: operationLives.default({}),
  /** Names for parts of what is served; every other name is refused then. */
  hosts: hosts.default({}),
});

export type GatewayFile = z.output<typeof gatewayFile>;

function isKeysUrl(text: string): boolean {
  if (!/^https?:\/\/[^\s@]+$/.test(text) || !URL.canParse(text)) return false;
  const { protocol, hostname } = new URL(text);
  return protocol === 'https:' || ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
}
