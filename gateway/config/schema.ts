// The shapes of config/upstreams.yaml and config/limits.yaml: defaults, ranges, no unknown keys. Units are in the names.

import { z } from 'zod';
import { answerRules } from './answer-rules.ts';
import { breaking } from './breaking.ts';
import { site } from './hosts.ts';
import { isHttpUrl, name, scope, secretEntry, whole } from './parts.ts';
import { requestRules } from './request-rules.ts';
import { breaker, ejection, health } from './target-rules.ts';
import { tunnels } from './tunnels.ts';
import { upstreamTls } from './upstream-tls.ts';

/** A service of the sandbox, or the origin of a server, without path. */
const target = z
  .string()
  .refine((text) => /^sandbox:(platform|mail)$/.test(text) || (isHttpUrl(text) && new URL(text).pathname === '/'), {
    error: 'must be sandbox:platform, sandbox:mail, or http://host:port without a path',
  })
  .meta({ pattern: '^(sandbox:(platform|mail)|https?://[^/?#\\s@]+/?)$' });
const targets = z
  .union([target, z.array(target).min(1, 'must name at least one address')], {
    error: 'must be sandbox:platform, sandbox:mail, http://host:port without a path, or a list of these',
  })
  .transform((value) => (typeof value === 'string' ? [value] : value));

export const upstreamEntry = z.strictObject({
  /** Globs under GATEWAY_CONTRACTS. */
  contracts: z.array(z.string().min(1)).min(1, 'must name at least one contract file or glob'),
  /** Put in front of every path of these contracts. */
  basePath: z
    .string()
    .regex(/^(\/[A-Za-z0-9._~-]+)+$/, 'must begin with a slash and not end with one')
    .optional(),
  /** Where live keys go: one address, or several that share the load. */
  live: targets,
  /** Where test keys go. Without it they are refused. */
  test: targets.optional(),
  /** For one exchange, to the last byte received: waiting and retries included. */
  timeoutMs: whole('milliseconds', 1, 3_600_000).default(10_000),
  /** For one connection to a target, TLS included. */
  connectTimeoutMs: whole('milliseconds', 1, 600_000).default(2_000),
  /** From the beginning of an attempt to the head of its answer. Absent: the deadline alone. */
  firstByteTimeoutMs: whole('milliseconds', 1, 3_600_000).optional(),
  /** Without a byte of the answer's body. Absent: the deadline alone. */
  idleTimeoutMs: whole('milliseconds', 1, 3_600_000).optional(),
  /** Of what failed and can safely be sent again. */
  retry: z
    .strictObject({
      /** How often one request is sent again at most. */
      attempts: whole('attempts', 0, 5).default(2),
      /** Retries per hundred requests; three per second are always possible. */
      budgetPercent: whole('percent', 0, 500).default(10),
    })
    .prefault({}),
  /** Connections per target. 16 took a quarter less CPU per request than 64. */
  connections: whole('connections', 1, 1024).default(16),
  /** A connection to a name that is older gets no further request, so that changes of names are followed. */
  connectionMaxAgeSeconds: whole('seconds', 1, 86_400).default(60),
  /** One request per connection: for an upstream that may answer what it was not asked. */
  isolate: z.boolean().default(false),
  /** When a target that fails gets nothing, while others do. */
  ejection,
  /** When none of the targets gets anything. */
  breaker,
  /** How targets are asked whether they work. Absent: what becomes of requests says it. */
  health: health.optional(),
  /** Whom the gateway believes behind https:// addresses, and what it shows there. Absent: whom everybody believes, and nothing. */
  tls: upstreamTls.optional(),
  /** What the gateway logs in with there; clients may show the same to operations that accept Basic. */
  credential: z
    .strictObject({
      basic: z.strictObject({
        user: z.string().regex(/^[^:\s]{1,128}$/, 'must be a user name without colon and spaces'),
        /** Entry of the secrets store: `user:password`, or the password alone. */
        secret: secretEntry,
      }),
    })
    .optional(),
  /** Requests it is sent at once; the rest wait within their deadline. Absent: as many as there are connections. */
  maxInFlight: whole('requests', 1, 100_000).optional(),
  /** Requests that may wait for it. */
  maxQueued: whole('requests', 0, 100_000).default(1000),
  /** How long the last of a line that does not empty may have to wait. Absent: 200, or the deadline where maxInFlight is given. */
  maxQueueMs: whole('milliseconds', 1, 3_600_000).optional(),
  /** What is changed in requests before they are sent, in order. */
  requests: requestRules.default([]),
  /** What becomes of its answers: the first rule that fits decides. */
  answers: answerRules.default([]),
  /** On which host names its operations are, where `hosts` of gateway.yaml gives some. */
  hosts: z.array(site).min(1, 'must name at least one of api, mail, jmap and panel').default(['api']),
  /** Paths that are passed on as they are, without contract and key. */
  tunnels,
  /** The upstream itself guarantees that a repeated Idempotency-Key runs once. */
  honoursIdempotencyKey: z.boolean().default(false),
  /** What becomes of a repeated key where it does not, if the outcome of the first request is unknown. Absent: it is refused. */
  whenOutcomeUnknown: z.enum(['refuse', 'run']).optional(),

  // What a contract says by x-gateway-* members, for documents that carry none.
  security: z.strictObject({ apiKey: z.array(scope) }).optional(),
  public: z.boolean().optional(),
  limit: name.optional(),
  cost: whole('units', 1, 1_000_000).optional(),
  idempotency: z.enum(['optional', 'required', 'off']).optional(),
  body: z.enum(['buffer', 'stream']).optional(),
  response: z.enum(['report', 'refuse', 'off']).optional(),
});

export const upstreamsFile = z.strictObject({
  upstreams: z.record(name, upstreamEntry),
  /** Breaks of published contracts that are accepted. */
  breaking: breaking.default([]),
});

export type Breaking = z.output<typeof breaking>;

const rule = {
  requests: whole('requests', 1, 1_000_000_000),
  windowSeconds: whole('seconds', 1, 86_400).default(60),
  /** false: counts and reports, never refuses. */
  enforce: z.boolean().default(true),
};
const countPer = z.enum(['organization', 'key']);

export const limitsFile = z.strictObject({
  countPer: countPer.default('organization'),
  whenStoreIsAway: z.enum(['local', 'allow', 'refuse']).default('local'),
  tiers: z.record(name, z.strictObject(rule)),
  extra: z.record(name, z.strictObject({ ...rule, per: countPer.default('organization') })).default({}),
  operations: z
    .record(z.string(), z.strictObject({ extra: name.optional(), cost: whole('units', 1, 1_000_000).optional() }))
    .default({}),
  organizations: z.record(z.string(), z.strictObject(rule)).default({}),
  addresses: z
    .strictObject({ failures: whole('failures', 1, 1_000_000), windowSeconds: whole('seconds', 1, 86_400).default(60) })
    .prefault({ failures: 60, windowSeconds: 60 }),
});

export type UpstreamEntry = z.output<typeof upstreamEntry>;
export type LimitsFile = z.output<typeof limitsFile>;
