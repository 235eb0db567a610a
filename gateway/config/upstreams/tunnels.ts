// The shape of an upstream's `tunnels`: paths that are forwarded unchanged, without contract and key. tunnel-paths.ts checks that nothing
// else uses these paths.

import { z } from 'zod';
import { site } from '../gateway/hosts.ts';
import { whole } from '../parts.ts';

/** Refuses characters that could be spelled in two ways. */
const PLAIN_PATH = /^(\/[A-Za-z0-9_~-][A-Za-z0-9._~-]*|\/\.well-known)*\/?$/;
const path = z.string().refine((text) => text.startsWith('/') && PLAIN_PATH.test(text), {
  error: 'must be a path such as /login, of letters, digits and .-_~',
});
const pathOrBelow = z.string().refine((text) => text.startsWith('/') && PLAIN_PATH.test(text.replace(/\/\*$/, '/')), {
  error: 'must be a path such as /jmap, or /jmap/* for everything below it, of letters, digits and .-_~',
});

/** `*` is one segment here. */
const filePath = z.string().regex(/^(\/(\*|[A-Za-z0-9_~-][A-Za-z0-9._~-]*))+\/\*$/, {
  error: 'must be a path such as /files/*/*, in which each * is one segment, and the last one the name of a file',
});

/** The rules that recognize successful and failed logins in the answers of the service. */
const logins = z.strictObject({
  countedAs: z
    .string()
    .regex(/^[a-z][a-z0-9-]{0,62}$/, 'must be a name of lower-case letters, digits and hyphens')
    .optional()
    .meta({
      description:
        'Tunnels of the upstream with the same name here count the requests, connections and failed logins of an address together, whatever the host name, and need the same `limits`. Default: each tunnel counts its own.',
      values: 'name',
    }),
  paths: z.array(pathOrBelow).default(['/*']).meta({
    description:
      'The paths at which a success shows that a login was right, so that its client passes when others have failed too often. Leave out paths that the service answers without a login. Answers to OPTIONS never show it.',
    values: 'paths, `/jmap/*` for everything below',
  }),
  refusals: z
    .array(z.literal([401, 402, 403, 429]))
    .min(1, 'must name at least one status')
    .default([401, 402, 403, 429])
    .meta({
      description: 'The statuses that show a failed login.',
      values: 'statuses of 401, 402, 403 and 429',
    }),
  passwordTokens: z
    .array(z.string().regex(/^[A-Za-z0-9._~+/-]{1,64}$/, 'must be the beginning of a token, such as api_'))
    .default(['api_'])
    .meta({
      description:
        'Prefixes of Bearer tokens that contain a user name and a password. Such tokens can be guessed, so failed logins with them count like failed logins with Basic. Other Bearer tokens cannot be guessed, and do not count. Upper and lower case are the same.',
      values: 'beginnings such as `api_`',
    }),
});

/** Limits per client address. */
const limits = z.strictObject({
  requests: whole('requests', 1, 1_000_000_000)
    .default(600)
    .describe('Requests that one client address may send in any period of `limits.windowSeconds`.'),
  windowSeconds: whole('seconds', 1, 86_400).default(60).describe('The length of the period.'),
  connections: whole('connections', 1, 1_000_000)
    .default(20)
    .describe('Requests in flight, event streams and WebSockets that one client address may have at once.'),
  connectionsTotal: whole('connections', 1, 1_000_000).default(2000).describe('The same for all addresses together.'),
  failures: whole('failures', 1, 1_000_000)
    .default(50)
    .describe(
      'Failed logins, including logins in flight, that one client address may have with credentials that can be guessed (`logins.passwordTokens`); then it has to wait. This limit protects the address of the gateway, which an upstream may block for all clients.',
    ),
  failuresTotal: whole('failures', 1, 1_000_000)
    .optional()
    .describe('The same for all addresses together. Default: unlimited.'),
  failuresWindowSeconds: whole('seconds', 1, 604_800)
    .default(86_400)
    .describe('The period in which failed logins count. It begins with the first failure.'),
});

export const tunnel = z.strictObject({
  paths: z.array(pathOrBelow).min(1, 'must name at least one path').meta({
    description:
      'The paths that are forwarded, as clients write them. The service gets a path below the `basePath` of the entry without that prefix. No operation and no other tunnel may use the same paths.',
    values: 'paths, `/jmap/*` for everything below',
  }),
  hosts: z
    .array(site)
    .min(1, 'must name at least one host of gateway.yaml, such as api')
    .default(['api'])
    .describe('The host names, by their keys under `hosts` of `gateway.yaml`. Only `panel` may have the path `/*`.'),
  notOn: z
    .array(site)
    .default([])
    .describe(
      'Host names, by the same keys, that never serve these paths, even if one of `hosts` has the same name. With `[api]`, a tunnel on `mail` exists only if `hosts.mail` differs from the name of the API.',
    ),
  plain: z
    .boolean()
    .default(false)
    .describe(
      'Whether the plain listener (`tls.plain`) forwards these paths too, if a request shows no credentials. For challenges of certificate authorities.',
    ),
  pages: z
    .boolean()
    .optional()
    .describe(
      'Whether the service serves pages with their own scripts, which the Content-Security-Policy of the gateway would forbid. Default: only on `panel`.',
    ),
  webSocket: z.boolean().default(false).describe('Whether connections may be upgraded to WebSockets.'),
  redirects: z
    .record(path, path)
    .default({})
    .meta({ description: 'Paths that are answered with a redirect to another path.', values: 'path: path' }),
  except: z
    .array(z.string().regex(/^[\x21-\x7e]{2,100}$/, 'must be text of 2 to 100 visible characters such as *.php*'))
    .default([])
    .meta({
      description: 'Paths below `paths` that are not forwarded. Upper and lower case are the same.',
      values: 'text in which `*` matches anything',
    }),
  fileNames: z.array(filePath).default([]).meta({
    description:
      'Paths whose last segment is only the name of a file, which the service repeats in Content-Disposition. A name that `except` refuses is replaced by `file` for the service, and put back into its answer.',
    values: 'paths such as `/files/*/*`, in which `*` is one segment',
  }),
  logins: logins.prefault({}).describe('How failed logins are recognized and counted.'),
  limits: limits.prefault({}).describe('What one client address may do.'),
});

export const tunnels = z.array(tunnel).default([]);

export type TunnelEntry = z.output<typeof tunnel>;
