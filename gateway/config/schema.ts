// The shapes of config/upstreams.yaml and config/limits.yaml, with defaults and ranges. Unknown keys are refused. Names include the
// unit.

import { z } from 'zod';
import { answerRules } from './answer-rules.ts';
import { breaking } from './breaking.ts';
import { site } from './hosts.ts';
import { isHttpUrl, name, scope, secretEntry, whole } from './parts.ts';
import { requestRules } from './request-rules.ts';
import { breaker, ejection, health } from './target-rules.ts';
import { tunnels } from './tunnels.ts';
import { upstreamTls } from './upstream-tls.ts';

/** A sandbox service, or the origin of a server without a path. */
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
  /** Globs below GATEWAY_CONTRACTS. */
  contracts: z.array(z.string().min(1)).min(1, 'must name at least one contract file or glob'),
  /** Prefix for every path of these contracts. */
  basePath: z
    .string()
    .regex(/^(\/[A-Za-z0-9._~-]+)+$/, 'must begin with a slash and not end with one')
    .optional(),
  /** Targets of live keys: one address, or several that share the load. */
  live: targets,
  /** Targets of test keys. Absent: test keys are refused. */
  test: targets.optional(),
  /** Deadline of one exchange, from its start to the last byte received, waiting and retries included. */
  timeoutMs: whole('milliseconds', 1, 3_600_000).default(10_000),
  /** Deadline for one connection to a target, TLS included. */
  connectTimeoutMs: whole('milliseconds', 1, 600_000).default(2_000),
  /** Deadline from the start of an attempt to the headers of its answer. Absent: only timeoutMs applies. */
  firstByteTimeoutMs: whole('milliseconds', 1, 3_600_000).optional(),
  /** Maximum pause between bytes of an answer's body. Absent: only timeoutMs applies. */
  idleTimeoutMs: whole('milliseconds', 1, 3_600_000).optional(),
  /** Retries of failed requests that are safe to repeat. */
  retry: z
    .strictObject({
      /** Maximum number of retries per request. */
      attempts: whole('attempts', 0, 5).default(2),
      /** Retries per hundred requests; three per second are always allowed. */
      budgetPercent: whole('percent', 0, 500).default(10),
    })
    .prefault({}),
  /** Connections per target. 16 took a quarter less CPU per request than 64. */
  connections: whole('connections', 1, 1024).default(16),
  /** Maximum age of a connection to a host name. An older one gets no further request, so that DNS changes take effect. */
  connectionMaxAgeSeconds: whole('seconds', 1, 86_400).default(60),
  /** Uses one connection per request, for upstreams that may send unsolicited answers. */
  isolate: z.boolean().default(false),
  /** When to eject a failing target while other targets work. */
  ejection,
  /** When to stop requests to all targets. */
  breaker,
  /** Active health checks. Absent: only the outcome of requests counts. */
  health: health.optional(),
  /** TLS settings for https:// addresses. Absent: the default certificate authorities, and no client certificate. */
  tls: upstreamTls.optional(),
  /** The gateway's login at the upstream. Clients may present the same to operations that accept Basic. */
  credential: z
    .strictObject({
      basic: z.strictObject({
        user: z.string().regex(/^[^:\s]{1,128}$/, 'must be a user name without colon and spaces'),
        /** Entry of the secrets store: `user:password`, or only the password. */
        secret: secretEntry,
      }),
    })
    .optional(),
  /** Maximum number of concurrent requests; further requests queue within their deadline. Absent: the number of connections. */
  maxInFlight: whole('requests', 1, 100_000).optional(),
  /** Maximum number of queued requests. */
  maxQueued: whole('requests', 0, 100_000).default(1000),
  /** Maximum expected wait of the last request in a queue that does not empty. Absent: 200, or the deadline if maxInFlight is set. */
  maxQueueMs: whole('milliseconds', 1, 3_600_000).optional(),
  /** Changes to requests before they are sent, in order. */
  requests: requestRules.default([]),
  /** Rules for answers: the first rule that matches applies. */
  answers: answerRules.default([]),
  /** The sites of its operations, if `hosts` of gateway.yaml defines host names. */
  hosts: z.array(site).min(1, 'must name at least one of api, mail, jmap and panel').default(['api']),
  /** Paths that are forwarded unchanged, without contract and key. */
  tunnels,
  /** Whether the upstream itself guarantees that a repeated Idempotency-Key executes once. */
  honoursIdempotencyKey: z.boolean().default(false),
  /** If it does not: how to handle a repeated key while the outcome of the first request is unknown. Absent: refuse. */
  whenOutcomeUnknown: z.enum(['refuse', 'run']).optional(),

  // The settings that contracts express by x-gateway-* members, for contracts without them.
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
  /** Accepted breaks of published contracts. */
  breaking: breaking.default([]),
});

export type Breaking = z.output<typeof breaking>;

const rule = {
  requests: whole('requests', 1, 1_000_000_000),
  windowSeconds: whole('seconds', 1, 86_400).default(60),
  /** false: counts and reports, but never refuses. */
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
