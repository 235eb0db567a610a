// The shape of an upstream's `tunnels`: paths that are forwarded unchanged, without contract and key. Also checks that no operation or
// other tunnel uses their paths.

import { z } from 'zod';
import type { Mistake } from '../config-errors.ts';
import type { Source } from '../shared/yaml-source.ts';
import { type HostName, type Hosts, hostOfSite, site } from './hosts.ts';
import { whole } from './parts.ts';

/** Refuses characters that could be spelled in two ways. */
const plainPath = /^(\/[A-Za-z0-9_~-][A-Za-z0-9._~-]*|\/\.well-known)*\/?$/;
const path = z.string().refine((text) => text.startsWith('/') && plainPath.test(text), {
  error: 'must be a path such as /login, of letters, digits and .-_~',
});
const pathOrBelow = z.string().refine((text) => text.startsWith('/') && plainPath.test(text.replace(/\/\*$/, '/')), {
  error: 'must be a path such as /jmap, or /jmap/* for everything below it, of letters, digits and .-_~',
});

/** Limits per client address. */
const limits = z.strictObject({
  requests: whole('requests', 1, 1_000_000_000)
    .default(600)
    .describe('Requests that one client address may send in any span of `limits.windowSeconds`.'),
  windowSeconds: whole('seconds', 1, 86_400).default(60).describe('The length of that span.'),
  connections: whole('connections', 1, 1_000_000)
    .default(20)
    .describe('Requests in flight, event streams and WebSockets that one client address may have at once.'),
  connectionsTotal: whole('connections', 1, 1_000_000).default(2000).describe('The same for all addresses together.'),
  failures: whole('failures', 1, 1_000_000)
    .default(50)
    .describe(
      'Failed logins with user name and password that one client address may have; then it has to wait. It protects the address of the gateway, which an upstream may block for all clients.',
    ),
  failuresTotal: whole('failures', 1, 1_000_000)
    .optional()
    .describe('The same for all addresses together. Default: unlimited.'),
  failuresWindowSeconds: whole('seconds', 1, 604_800)
    .default(86_400)
    .describe('The span in which failed logins count. It begins with the first failure.'),
});

export const tunnel = z.strictObject({
  paths: z.array(pathOrBelow).min(1, 'must name at least one path').meta({
    description:
      'The paths that are forwarded, as clients write them. The service gets a path below the `basePath` of the entry without that prefix. No operation and no other tunnel may have them.',
    values: 'paths, `/jmap/*` for everything below',
  }),
  hosts: z
    .array(site)
    .min(1, 'must name at least one of api, mail, jmap and panel')
    .default(['api'])
    .describe('The host names, by their keys under `hosts` of `gateway.yaml`. Only `panel` may have the path `/*`.'),
  webSocket: z.boolean().default(false).describe('Whether connections may be upgraded to WebSockets.'),
  redirects: z
    .record(path, path)
    .default({})
    .meta({ description: 'Paths that are answered with a redirect to another path.', values: 'path: path' }),
  except: z
    .array(z.string().regex(/^[\x21-\x7e]{2,100}$/, 'must be text of 2 to 100 visible characters such as *.php*'))
    .default([])
    .meta({
      description: 'Paths below these that are not forwarded. Upper and lower case are the same.',
      values: 'text in which `*` matches anything',
    }),
  limits: limits.prefault({}),
});

export const tunnels = z.array(tunnel).default([]);

export type TunnelEntry = z.output<typeof tunnel>;

interface Entry {
  readonly hosts: readonly HostName[];
  readonly tunnels: readonly TunnelEntry[];
}

/** The properties of an operation that determine its place. */
interface Placed {
  readonly id: string;
  readonly upstream: string;
  readonly path: string;
}

/** The gateway's own paths, on every host name except the panel's. */
const ownPaths = ['/.well-known/jwks.json', '/docs', '/docs.md', '/docs/*', '/llms.txt', '/openapi', '/openapi/*'];

export interface TunnelCheck {
  /** By name; `hosts` are the sites of an upstream's operations. */
  readonly upstreams: Readonly<Record<string, Entry>>;
  readonly hosts: Hosts;
  readonly publicUrl: string;
  readonly operations: readonly Placed[];
  readonly source: Source;
}

/** Another use of a path on these host names. */
interface Taken {
  readonly pattern: string;
  readonly names: readonly (string | undefined)[];
  readonly what: string;
}

/**
 * Pushes a mistake for every tunnel path that is already in use. Between tunnels only equal paths conflict, because the more specific
 * one wins.
 */
export function checkTunnels(check: TunnelCheck, mistakes: Mistake[]): void {
  const nameOf = (of: HostName) => hostOfSite(of, check.hosts, check.publicUrl);
  const taken = takenAlready(check, nameOf);
  const tunnelled: Taken[] = [];
  for (const { at, pattern, hosts, upstream } of pathsOf(check)) {
    const names = hosts.map(nameOf).filter((name) => name !== undefined);
    const isHere = (one: Taken) => one.names.some((name) => names.includes(name as string));
    const other =
      taken.find((one) => isHere(one) && meet(pattern, one.pattern)) ??
      tunnelled.find((one) => isHere(one) && pattern === one.pattern);
    tunnelled.push({ pattern, names, what: `a path of another tunnel of "${upstream}"` });
    if (pattern === '/*' && hosts.some((of) => of !== 'panel')) {
      const reason = 'only the panel can forward all paths of a host.';
      mistakes.push(check.source.mistakeAt(at, reason, 'List the paths, or leave only panel in hosts.'));
    } else if (other !== undefined) {
      const reason = `the path ${other.pattern} is ${other.what}.`;
      mistakes.push(check.source.mistakeAt(at, reason, 'Take it out, or put the tunnel on other hosts.'));
    }
  }
}

function takenAlready({ upstreams, operations }: TunnelCheck, nameOf: (of: HostName) => string | undefined): Taken[] {
  const everywhere = (['api', 'mail', 'jmap'] as const).map(nameOf);
  return [
    ...ownPaths.map((pattern) => ({ pattern, names: everywhere, what: "one of the gateway's own" })),
    ...operations.map(({ id, upstream, path: pattern }) => ({
      pattern,
      names: (upstreams[upstream]?.hosts ?? ['api']).map(nameOf),
      what: `that of the operation ${id}`,
    })),
  ];
}

/** Returns every path of every tunnel, with its place in the file. */
function pathsOf({ upstreams }: TunnelCheck) {
  return Object.entries(upstreams).flatMap(([upstream, { tunnels }]) =>
    tunnels.flatMap(({ paths, hosts }, index) =>
      paths.map((pattern, position) => {
        const at = ['upstreams', upstream, 'tunnels', index, 'paths', position];
        return { at, pattern, hosts, upstream };
      }),
    ),
  );
}

/** Returns whether some path matches both patterns: tunnel paths end in `*` for everything below, operations have `{parameters}`. */
function meet(one: string, other: string): boolean {
  const [left, right] = [one.split('/'), other.split('/')];
  for (let i = 0; i < Math.max(left.length, right.length); i++) {
    const [a, b] = [left[i], right[i]];
    if (a === '*' || b === '*') return a !== undefined && b !== undefined;
    if (a === undefined || b === undefined) return false;
    if (a !== b && !a.startsWith('{') && !b.startsWith('{')) return false;
  }
  return true;
}
