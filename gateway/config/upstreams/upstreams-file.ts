// The shape of config/upstreams.yaml, with defaults and ranges. Unknown keys are refused. Names include the unit. Editors show the
// descriptions, and the tables of docs/config.md consist of them.

import { z } from 'zod';
import { credential } from '../../upstream/settings.ts';
import { site } from '../gateway/hosts.ts';
import { name, whole } from '../parts.ts';
import { breaking } from './breaking.ts';
import { compression } from './compression.ts';
import { contractMembers } from './contract-members.ts';
import { cookies, requestHeaders, responseHeaders } from './crossing.ts';
import { operationSettings } from './operation-settings.ts';
import { answerRules, requestRules } from './rules.ts';
import { servers } from './servers.ts';
import { breaker, ejection, health, targets, withNamedExamples } from './targets.ts';
import { tunnels } from './tunnels.ts';
import { upstreamTls } from './upstream-tls.ts';

/**
 * Products for which the trial of an upstream has a table. Requests do not depend on the product, because rules declare the needs of a
 * service.
 */
const product = z.literal('stalwart', { error: 'must be stalwart, or absent' }).optional().meta({
  description:
    'The product behind the entry. `upstreams try` then shows whether the steps of [its page](mail.md#try-it) hold. The setting changes no request.',
  values: '`stalwart`',
});

/** A prefix of paths. */
export const BASE_PATH = /^(\/[A-Za-z0-9._~-]+)+$/;

export const upstreamEntry = z.strictObject({
  contracts: z.array(z.string().min(1)).min(1, 'must name at least one contract file or glob').meta({
    description:
      'The OpenAPI documents (3.0, 3.1, 3.2) that the upstream serves. Files that others only refer to may be among them.',
    values: 'paths and globs below `GATEWAY_CONTRACTS`',
  }),
  live: targets.meta({
    description:
      'The targets of requests with live keys. Several addresses share the load. With `examples:` the gateway answers from the contract ([upstreams](upstreams.md#integrate-against-a-service-that-does-not-exist-yet)), with `gateway:` it answers the operations of its own contract ([administration](administration.md)), and with `session:` the operations that people sign in with ([browser applications](sessions.md)).',
    values:
      '`sandbox:platform`, `sandbox:mail`, `sandbox:files`, `examples:`, `gateway:`, `session:`, `http://host:port`, `https://host:port`, with a path or without ([upstreams](upstreams.md#where-paths-begin)), or a list of these',
  }),
  test: targets.optional().meta({
    description: 'The targets of requests with test keys. Without it, test keys are refused.',
    values: 'as `live`',
  }),
  basePath: z.string().regex(BASE_PATH, 'must begin with a slash and not end with one').optional().meta({
    description: 'The prefix that clients write before every path of these contracts.',
    fallback: "path of the document's first server",
    values: '`/v1`, `/v1/billing`',
  }),
  servers: servers.default({}).meta({
    description:
      'Further addresses, for operations whose contracts name other servers than the one that `live` replaces ([upstreams](upstreams.md#servers-on-other-hosts)).',
    values: 'addresses as `live`, or `{ live, test }`, by `https://host` or `https://host/path` of a document',
  }),
  timeoutMs: whole('milliseconds', 1, 3_600_000)
    .default(10_000)
    .describe(
      'The time from the start of an exchange to the head of its answer. It includes the body of the request, waiting and retries. An answer that is buffered, to be checked or stored, must be complete by then.',
    )
    .meta({ contractMember: 'x-gateway-timeout' }),
  connectTimeoutMs: whole('milliseconds', 1, 600_000)
    .default(2_000)
    .describe('The deadline for one connection to a target, TLS included.'),
  firstByteTimeoutMs: whole('milliseconds', 1, 3_600_000)
    .optional()
    .describe('The time from the start of an attempt to the headers of its answer. Default: only `timeoutMs` applies.'),
  idleTimeoutMs: whole('milliseconds', 1, 3_600_000)
    .default(30_000)
    .describe('The longest pause in the body of an answer. Event streams may pause without a limit.'),
  maxStreamMs: whole('milliseconds', 1, 2_000_000_000)
    .optional()
    .describe('The longest time that an answer may take after its head. Default: unlimited.'),
  retry: z
    .strictObject({
      attempts: whole('attempts', 0, 5)
        .default(2)
        .describe(
          'The largest number of retries of one request that is safe to repeat ([timeouts and retries](upstreams.md#timeouts-and-retries)). 0: no retries.',
        ),
      budgetPercent: whole('percent', 0, 500)
        .default(10)
        .describe('Retries per hundred requests. Three per second are always allowed.'),
    })
    .prefault({})
    .describe('How often the gateway retries requests that may be repeated.'),
  // 16 took a quarter less CPU per request than 64.
  connections: whole('connections', 1, 1024).default(16).describe('The largest number of connections per target.'),
  connectionMaxAgeSeconds: whole('seconds', 1, 86_400)
    .default(60)
    .describe(
      'The age at which a connection to a host name gets no further request, so that the gateway follows changes in DNS.',
    ),
  isolate: z
    .boolean()
    .default(false)
    .describe(
      '`true`: one connection per request, also in tunnels, for an upstream that may send unrequested answers ([connections](upstreams.md#connections)).',
    ),
  ejection: ejection.meta({
    description: 'When a failing target is ejected while other targets work.',
    values: '`off`, or a block, see below',
  }),
  breaker: breaker.meta({
    description: 'When requests to all targets stop, because the upstream fails as a whole.',
    values: '`off`, or a block, see below',
  }),
  health: health
    .optional()
    .meta({ description: 'Health checks of targets. Without it, only the outcome of requests counts.' }),
  tls: upstreamTls.optional().meta({
    description: 'TLS toward `https://` addresses. Without it, the default authorities and no client certificate.',
  }),
  credential,
  product,
  basicForClients: z
    .boolean()
    .optional()
    .describe(
      'Whether clients may present the user name and password of `credential` instead of a key, to operations whose contract accepts HTTP Basic. The gateway compares them itself. Needs a `basic` credential. If the setting is absent, the contract decides, and `check` warns.',
    ),
  maxInFlight: whole('requests', 1, 100_000)
    .optional()
    .describe(
      'The largest number of concurrent requests; more wait within their deadline. Default: the number of connections to its live targets.',
    ),
  maxQueued: whole('requests', 0, 100_000)
    .default(1000)
    .describe(
      'The largest number of waiting requests in one process; more are refused ([reliability](reliability.md#overload)).',
    ),
  maxQueueMs: whole('milliseconds', 1, 3_600_000)
    .optional()
    .describe(
      'The longest expected wait in a queue that does not empty for half a second; such a queue refuses further requests. Default: 200; with `maxInFlight`, only the deadline bounds the wait.',
    ),
  requests: requestRules.default([]).meta({
    description: 'Changes to requests before they are sent, in order ([upstreams](upstreams.md)).',
    values: 'rules',
  }),
  answers: answerRules.default([]).meta({
    description: 'Rules for answers. The first rule that matches applies ([upstreams](upstreams.md)).',
    values: 'rules',
  }),
  requestHeaders: requestHeaders.meta({
    description:
      'Further headers of clients that reach the service, for all operations of these contracts ([what arrives](upstreams.md#what-arrives)).',
    values: 'names of headers',
  }),
  responseHeaders: responseHeaders.meta({
    description:
      'Further headers of the service that reach clients ([answers](upstreams.md#answers)). With `location`, `link` or `content-location`, addresses of other hosts are passed too.',
    values: 'names of headers',
  }),
  authorization: z
    .enum(['withhold', 'forward'])
    .default('withhold')
    .describe(
      '`forward`: the service checks tokens itself and gets the token of a caller, if an issuer of `gateway.yaml` has signed it ([tokens](tokens.md#services-that-check-tokens-themselves)). API keys, user names and passwords never reach it. Not together with `credential` or `tunnels`.',
    ),
  sendCaller: z
    .boolean()
    .optional()
    .describe(
      'Whether requests identify the caller: `X-Gateway-Assertion`, `X-Organization-Id` and `X-Api-Key-Id` ([what arrives](upstreams.md#what-arrives)). Default: `true`; with a `credential` `false`, because a third-party service need not know your organizations.',
    ),
  sendClientAddress: z
    .boolean()
    .default(true)
    .describe(
      'Whether requests to its operations contain the address of the client, in `Forwarded` and `X-Forwarded-For`. Tunnels always send it.',
    ),
  cookies: cookies.meta({
    description:
      'The cookies that are passed from clients to the service and back ([cookies](upstreams.md#cookies)). All others are removed.',
    values: 'names of cookies',
  }),
  compression: compression.meta({
    description:
      'Whether the gateway compresses answers of text types that the service sends without a coding, for clients that accept one ([compression](upstreams.md#compression)).',
    values: '`off`, `on`, or a block, see below',
  }),
  hosts: z
    .array(site)
    .min(1, 'must name at least one host of gateway.yaml, such as api')
    .default(['api'])
    .describe('The host names that serve its operations, by their keys under `hosts` of `gateway.yaml`.'),
  tunnels: tunnels.meta({
    description: 'Paths that are forwarded unchanged, without contract and key.',
    values: 'tunnels, see below',
  }),
  operationNames: z
    .enum(['plain', 'qualified'])
    .default('plain')
    .describe(
      'The names of its operations in metrics, logs and rules: their `operationId`, or `<entry>.<operationId>`, for an entry whose names also occur in other entries ([upstreams](upstreams.md#names-of-operations)).',
    ),
  undeclaredQuery: z
    .enum(['refuse', 'pass', 'drop'])
    .default('refuse')
    .describe(
      'What happens to query parameters that a contract does not declare: the request is refused with 400, or they are passed on unchecked, or dropped ([upstreams](upstreams.md#query-parameters)).',
    )
    .meta({ contractMember: 'x-gateway-undeclared-query' }),
  operations: operationSettings.default({}).meta({
    description:
      'Settings of single operations, for contracts that you do not change. They override the settings in the contract.',
    values: 'blocks by `operationId`, see below',
  }),
  honoursIdempotencyKey: z
    .boolean()
    .default(false)
    .describe('Whether the upstream itself guarantees that a repeated `Idempotency-Key` executes once.'),
  whenOutcomeUnknown: z
    .enum(['refuse', 'run'])
    .optional()
    .describe(
      'If it does not: whether a repeated `Idempotency-Key` is refused or executed again while the outcome of the first request is unknown. Default: `refuse` ([idempotency](idempotency.md#when-the-outcome-is-unknown)).',
    ),
  ...contractMembers,
});

export const upstreamsFile = z.strictObject({
  upstreams: z
    .record(name, upstreamEntry)
    .transform(withNamedExamples)
    .describe('The services behind the gateway, by name.'),
  breaking: breaking.default([]).describe('Accepted breaks of published contracts ([contracts](contracts.md)).'),
});

export type UpstreamEntry = z.output<typeof upstreamEntry>;
