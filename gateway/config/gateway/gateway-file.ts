// The shape of config/gateway.yaml, which describes the gateway's public appearance, its trusted parties, and its limits on requests.
// Editors show the descriptions, and the tables of docs/config.md consist of them.

import { z } from 'zod';
import { alertSettings } from '../../alerts/settings.ts';
import { mcpSettings } from '../../mcp/settings.ts';
import { overloadSettings } from '../../overload/settings.ts';
import { replaySettings } from '../../replay/settings.ts';
import { sessionSettings } from '../../sessions/settings.ts';
import { usageSettings } from '../../usage/settings.ts';
import { cidr, httpUrl, name, scope, whole } from '../parts.ts';
import { cors } from './cross-origin.ts';
import { hosts } from './hosts.ts';
import { portal } from './portal.ts';
import { tls } from './tls.ts';
import { issuer } from './token-issuers.ts';
import { tracing } from './tracing.ts';
import { operationDeprecations, versions } from './versions.ts';

const limits = z.strictObject({
  bodyBytesMax: whole('bytes', 1, 1_073_741_824)
    .default(1_048_576)
    .describe(
      'The longest request body that is buffered. Streamed bodies (`x-gateway-body: stream`) may be longer; the text fields of a streamed form together may not.',
    ),
  headerBytesMax: whole('bytes', 1024, 1_048_576).default(16_384).describe('The longest header section of a request.'),
  urlBytesMax: whole('bytes', 256, 65_536).default(8_192).describe('The longest request target: path and query.'),
  jsonDepthMax: whole('levels', 1, 1000).default(32).describe('The deepest nesting of a JSON body or form.'),
  jsonMembersMax: whole('members', 1, 10_000_000)
    .default(10_000)
    .describe('The largest number of members and items in a JSON body or form, at all depths together.'),
});

const timeouts = z.strictObject({
  headersMs: whole('milliseconds', 100, 600_000)
    .default(15_000)
    .describe('The time from the first byte of a request to the end of its headers.'),
  requestMs: whole('milliseconds', 100, 3_600_000)
    .default(60_000)
    .describe('The time from the headers of a request to its last byte. Bodies through tunnels may take longer.'),
  writeIdleMs: whole('milliseconds', 100, 3_600_000)
    .default(60_000)
    .describe('The time for which a client may read nothing of a pending answer. Then its connection is closed.'),
  keepAliveMs: whole('milliseconds', 0, 3_600_000)
    .default(65_000)
    .describe(
      'The time for which an idle client connection stays open. Set it above the idle timeout of a load balancer in front.',
    ),
  drainDelayMs: whole('milliseconds', 0, 600_000)
    .default(250)
    .describe(
      'The time for which the gateway keeps serving after SIGTERM, while it reports that it is not ready. Behind a load balancer, set 5000 to 10000, so that the balancer notices.',
    ),
  drainMs: whole('milliseconds', 0, 600_000)
    .default(10_000)
    .describe('The time for which requests in flight may continue after `drainDelayMs`. Then they are cut.'),
});

const connections = z.strictObject({
  max: whole('connections', 1, 1_000_000)
    .default(20_000)
    .describe(
      'The largest number of client connections. One more is closed at once, without an answer. Divided among the workers.',
    ),
  perAddress: whole('connections', 1, 1_000_000)
    .default(1_000)
    .describe(
      'Connections from one client address; with IPv6, from one /64. Trusted proxies are exempt. Divided among the workers.',
    ),
});

const http = z.strictObject({
  fastPath: z
    .boolean()
    .default(true)
    .describe(
      "Whether the gateway reads usual requests with its own reader ([performance](performance.md#the-fast-path)). `false`: Node's HTTP server reads all requests.",
    ),
});

const keys = z.strictObject({
  cacheMax: whole('callers', 1, 10_000_000).default(100_000).describe('The largest number of cached callers.'),
  unknownCacheMax: whole('keys', 1, 10_000_000)
    .default(10_000)
    .describe('The largest number of unknown keys that are cached as unknown.'),
  graceSeconds: whole('seconds', 0, 86_400)
    .default(900)
    .describe('The time for which cached keys stay valid while the key store is unavailable.'),
  perOrganizationMax: whole('keys', 1, 100_000)
    .default(1_000)
    .describe(
      'The largest number of keys of an organization that work at the same time. One more is refused (409 `too_many_keys`); `keys import` and `seed` are not bound.',
    ),
});

const metrics = z.strictObject({
  operationsMax: whole('operations', 0, 100_000)
    .default(200)
    .describe(
      'With more operations than this, the metrics of requests are kept by entry and class of status instead of by operation and status ([metrics](metrics.md#size)).',
    ),
});

function publicUrlOr(fallback: string) {
  return httpUrl
    .default(fallback)
    .transform((url) => url.replace(/\/+$/, ''))
    .describe(
      'The address that clients use. It appears in `doc_url`, `Link`, challenges and the issuer of assertions. The default has the port of `PORT`, and begins with `https` where `tls` is set.',
    );
}

export const gatewayFile = z.strictObject({
  publicUrl: publicUrlOr('http://localhost:8080'),
  trustedProxies: z
    .array(cidr)
    .default([])
    .meta({ description: 'The proxies whose `X-Forwarded-For` is trusted.', values: 'addresses and CIDR ranges' }),
  limits: limits.prefault({}).describe('The largest requests that are accepted.'),
  timeouts: timeouts.prefault({}).describe('How long clients and a shutdown may take.'),
  connections: connections.prefault({}).describe('How many connections clients may have open.'),
  http: http.prefault({}).describe('How requests are read.'),
  tls: tls.optional().describe('HTTPS on the public listener. Without it, a proxy in front has to terminate TLS.'),
  keys: keys.prefault({}).describe('How API keys are cached, and how many an organization may have.'),
  operatorScopes: z.array(scope).default(['mail:read', 'mail:write']).meta({
    description:
      "Scopes that `'*'` does not include and that only operator organizations may hold. The scopes of the gateway's own contract need not be listed ([administration](administration.md)).",
    values: 'scopes',
  }),
  issuers: z.record(name, issuer).default({}).meta({
    description: 'Issuers whose tokens are accepted besides API keys ([tokens](tokens.md)).',
    values: 'issuers by name',
  }),
  sessions: sessionSettings.optional().meta({
    description:
      'Sessions of people who sign in with a browser ([browser applications](sessions.md)). Without it, cookies are not read.',
  }),
  cors: cors.default({}).meta({
    description: 'Other origins whose pages may read answers. Without it, no origin may.',
    values: 'rules by host name; `*` for every other host',
  }),
  idempotency: replaySettings
    .prefault({})
    .describe('How the first answers to writes with an `Idempotency-Key` are kept.'),
  versions: versions.default({}).meta({
    description: 'Release, deprecation and end of versions ([versions](versions.md)).',
    values: 'by version (`v1`)',
  }),
  operations: operationDeprecations
    .default({})
    .meta({ description: 'The same for single operations.', values: 'by operation id' }),
  overload: overloadSettings.prefault({}).describe('When requests are refused because the gateway has too much to do.'),
  metrics: metrics.prefault({}).describe('How detailed the metrics are.'),
  usage: usageSettings.prefault({}).describe('How the use of each organization is counted and kept.'),
  tracing: tracing.optional().describe('Where traces are sent. Without it, no traces are recorded.'),
  publishedContracts: z
    .string()
    .regex(/^[A-Za-z0-9_-]+(\/[A-Za-z0-9_-]+)*$/, 'must be a path below GATEWAY_CONTRACTS')
    .optional()
    .meta({
      description:
        'Directory of the published contracts. A contract that breaks them is refused ([contracts](contracts.md)).',
      values: 'directory below `GATEWAY_CONTRACTS`',
    }),
  logLevel: z
    .enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal'])
    .default('info')
    .describe('The lowest level that is logged. Exchanges are logged at `info`.'),
  alerts: alertSettings.optional().meta({
    description:
      'Messages about causes that need attention, by webhook or mail ([alerts](alerts.md)). Without it, only the console shows them.',
  }),
  hosts: hosts.default({}).describe('The host names of the gateway, by what each of them serves.'),
  portal: portal.prefault({}).describe('The documentation for clients, under `/docs`.'),
  mcp: mcpSettings
    .optional()
    .describe('An endpoint for agents, which call operations as tools ([agents](mcp.md)). Without it, there is none.'),
});

export type GatewayFile = z.output<typeof gatewayFile>;

/** Returns the schema of gateway.yaml. @param publicUrl the default of `publicUrl` */
export function gatewayFileAt(publicUrl: string): typeof gatewayFile {
  return gatewayFile.extend({ publicUrl: publicUrlOr(publicUrl) });
}
