// Checks that no operation or other tunnel uses the paths of a tunnel, and that tunnels that count together have the same limits.

import type { Mistake } from '../../shared/mistakes.ts';
import type { Source } from '../../shared/yaml-source.ts';
import { type HostName, type Hosts, hostOfSite } from '../gateway/hosts.ts';
import type { TunnelEntry } from './tunnels.ts';

interface Entry {
  readonly hosts: readonly HostName[];
  readonly tunnels: readonly TunnelEntry[];
}

/** The properties of an operation that determine its place. */
interface PathOwner {
  readonly id: string;
  readonly upstream: string;
  readonly path: string;
}

/** The gateway's own paths, on every host name except the panel's. */
const OWN_PATHS = ['/.well-known/jwks.json', '/docs', '/docs.md', '/docs/*', '/llms.txt', '/openapi', '/openapi/*'];

interface TunnelCheck {
  /** The entries by name; `hosts` are the sites of their operations. */
  readonly upstreams: Readonly<Record<string, Entry>>;
  readonly hosts: Hosts;
  readonly publicUrl: string;
  readonly operations: readonly PathOwner[];
  readonly source: Source;
}

/** Another use of a path on these host names. */
interface TakenPath {
  readonly pattern: string;
  readonly names: readonly (string | undefined)[];
  readonly what: string;
}

/**
 * Pushes a mistake for every tunnel path that is already in use. Two tunnels conflict only if their paths are equal, because otherwise the
 * more specific path has priority.
 */
export function checkTunnels(check: TunnelCheck, mistakes: Mistake[]): void {
  const nameOf = (of: HostName) => hostOfSite(of, check.hosts, check.publicUrl);
  const taken = takenAlready(check, nameOf);
  const tunnelled: TakenPath[] = [];
  checkCountedTogether(check, mistakes);
  for (const { at, pattern, hosts, notOn, upstream } of pathsOf(check)) {
    const never = notOn.map(nameOf);
    const names = hosts.map(nameOf).filter((name) => name !== undefined && !never.includes(name));
    const isHere = (one: TakenPath) => one.names.some((name) => names.includes(name as string));
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

/** Requires that tunnels that count together have the same bounds, because they share a counter. */
function checkCountedTogether({ upstreams, source }: TunnelCheck, mistakes: Mistake[]): void {
  for (const [upstream, { tunnels }] of Object.entries(upstreams)) {
    const first = new Map<string, number>();
    for (const [index, { logins, limits }] of tunnels.entries()) {
      const { countedAs } = logins;
      if (countedAs === undefined) continue;
      const before = tunnels[first.get(countedAs) ?? index]?.limits as typeof limits;
      if (!first.has(countedAs)) first.set(countedAs, index);
      for (const key of new Set([...Object.keys(limits), ...Object.keys(before)]) as Set<keyof typeof limits>) {
        if (limits[key] === before[key]) continue;
        const at = ['upstreams', upstream, 'tunnels', index, 'logins', 'countedAs'];
        const reason = `the tunnels counted as ${countedAs} differ in limits.${key}.`;
        mistakes.push(source.mistakeAt(at, reason, `Write the same limits.${key} in all of them.`));
      }
    }
  }
}

function takenAlready(
  { upstreams, operations }: TunnelCheck,
  nameOf: (of: HostName) => string | undefined,
): TakenPath[] {
  const everywhere = (['api', 'mail', 'jmap'] as const).map(nameOf);
  return [
    ...OWN_PATHS.map((pattern) => ({ pattern, names: everywhere, what: "one of the gateway's own" })),
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
    tunnels.flatMap(({ paths, hosts, notOn }, index) =>
      paths.map((pattern, position) => {
        const at = ['upstreams', upstream, 'tunnels', index, 'paths', position];
        return { at, pattern, hosts, notOn, upstream };
      }),
    ),
  );
}

/**
 * Whether a path exists that matches both patterns. Tunnel paths end in `*` for everything below, and operations contain `{parameters}`.
 */
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
