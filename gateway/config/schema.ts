// The shape of the three files in config/: defaults, ranges, no unknown keys. Units are in the names.

import { z } from 'zod';

const whole = (what: string, min: number, max: number) =>
  z
    .int(outside(what, min, max))
    .min(min, outside(what, min, max))
    .max(max, outside(what, min, max));

const outside = (what: string, min: number, max: number) => `must be a whole number of ${what} from ${min} to ${max}`;

const httpUrl = z.string().refine(isHttpUrl, 'must be an http:// or https:// address');
const cidr = z.string().refine(isCidr, 'must be an address or a CIDR range such as 10.0.0.0/8');
const name = z
  .string()
  .regex(/^[A-Za-z][A-Za-z0-9_-]{0,63}$/, 'must be letters, digits, hyphens and underscores, beginning with a letter');
const scope = z
  .string()
  .regex(/^[a-z][a-z0-9_-]*:(read|write)$/, 'must be a scope of the form <resource>:read or <resource>:write');

/** `sandbox:<service>` or the origin of a server, without path. */
const target = z
  .string()
  .refine((text) => /^sandbox:[a-z]+$/.test(text) || (isHttpUrl(text) && new URL(text).pathname === '/'), {
    error: 'must be sandbox:<service>, or http://host:port without a path',
  });
const targets = z
  .union([target, z.array(target).min(1)], {
    error: 'must be sandbox:<service>, http://host:port without a path, or a list of these',
  })
  .transform((value) => (typeof value === 'string' ? [value] : value));

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
    })
    .prefault({}),
  timeouts: z
    .strictObject({
      /** From the first byte of a request to the last of its head. */
      headersMs: whole('milliseconds', 100, 600_000).default(15_000),
      /** From the first byte of a request to its last. */
      requestMs: whole('milliseconds', 100, 3_600_000).default(60_000),
      /** How long an idle client connection stays open; keep it above the idle time of the balancer in front. */
      keepAliveMs: whole('milliseconds', 0, 3_600_000).default(65_000),
      /** How long the gateway goes on serving after SIGTERM made it not ready, so that balancers notice. 5–10 s behind one. */
      drainDelayMs: whole('milliseconds', 0, 600_000).default(250),
      /** How long requests in flight may go on after that. */
      drainMs: whole('milliseconds', 0, 600_000).default(10_000),
    })
    .check(({ value: { headersMs, requestMs }, issues }) => {
      if (headersMs <= requestMs) return;
      const message = 'must not be longer than requestMs, which the head is a part of';
      issues.push({ code: 'custom', path: ['headersMs'], input: headersMs, message });
    })
    .prefault({}),
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
  logLevel: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal']).default('info'),
  /** Host names of the mail server's interfaces. */
  hosts: z.strictObject({}).default({}),
});

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
  /** For one exchange, from the first byte sent to the last received. */
  timeoutMs: whole('milliseconds', 1, 3_600_000).default(10_000),
  /** Connections per target. 16 took a quarter less CPU per request than 64. */
  connections: whole('connections', 1, 1024).default(16),
  /** The upstream itself guarantees that a repeated Idempotency-Key runs once. */
  honoursIdempotencyKey: z.boolean().default(false),

  // What a contract says by x-gateway-* members, for documents that carry none.
  security: z.strictObject({ apiKey: z.array(scope) }).optional(),
  public: z.boolean().optional(),
  limit: name.optional(),
  cost: whole('units', 1, 1_000_000).optional(),
  idempotency: z.enum(['optional', 'required', 'off']).optional(),
  body: z.enum(['buffer', 'stream']).optional(),
  response: z.enum(['report', 'refuse', 'off']).optional(),
});

export const upstreamsFile = z.strictObject({ upstreams: z.record(name, upstreamEntry) });

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

export type GatewayFile = z.output<typeof gatewayFile>;
export type UpstreamEntry = z.output<typeof upstreamEntry>;
export type LimitsFile = z.output<typeof limitsFile>;

function isHttpUrl(text: string): boolean {
  return /^https?:\/\/[^/?#\s@]+\/?$/.test(text) && URL.canParse(text);
}

function isCidr(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/');
  if (rest.length > 0) return false;
  const v4 = /^\d{1,3}(\.\d{1,3}){3}$/.test(address) && address.split('.').every((part) => Number(part) <= 255);
  const v6 = address.includes(':') && URL.canParse(`http://[${address}]`);
  const max = v4 ? 32 : 128;
  return (v4 || v6) && (bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= max));
}
