// Finds the tunnel for a path on a site. Built once per configuration.

import type { Admitted } from '../exchange/exchange.ts';
import { createGuessable } from './guessable.ts';

/** Limits per client address and in total; the address limit does the counting. */
interface TunnelLimits {
  readonly requests: number;
  readonly windowSeconds: number;
  readonly connections: number;
  readonly connectionsTotal: number;
  readonly failures: number;
  readonly failuresTotal?: number | undefined;
  readonly failuresWindowSeconds: number;
}

/** The rules that recognize successful and failed logins in the answers of the upstream. */
interface LoginRules {
  /** Tunnels of the upstream with the same name are counted together. */
  readonly countedAs?: string | undefined;
  /** Paths on which a success proves a correct login. */
  readonly paths: readonly string[];
  /** Statuses that show a failed one. */
  readonly refusals: readonly number[];
  /** Beginnings of Bearer tokens that hold a user name and a password. */
  readonly passwordTokens: readonly string[];
}

/** A tunnel as configured in upstreams.yaml. */
export interface TunnelRules {
  /** Exact paths, or prefixes that end in `/*`. */
  readonly paths: readonly string[];
  readonly hosts: readonly string[];
  /** Sites on which the paths do not exist, even if they share a host name with other sites. */
  readonly notOn: readonly string[];
  /** Whether the plain listener beside the TLS listener also forwards the paths. */
  readonly plain: boolean;
  /** Whether the upstream serves pages; default: true on the panel. */
  readonly pages?: boolean | undefined;
  readonly webSocket: boolean;
  /** Path → path that its clients are sent to. */
  readonly redirects: Readonly<Record<string, string>>;
  /** Paths that are not forwarded: patterns in which `*` matches any text. */
  readonly except: readonly string[];
  /** Paths whose last segment is only the name of a file. `*` is one segment. */
  readonly fileNames: readonly string[];
  readonly logins: LoginRules;
  readonly limits: TunnelLimits;
}

interface TunnelledUpstream {
  readonly live: readonly string[];
  /** From the last byte of a request's body to the head of the answer. */
  readonly timeoutMs: number;
  /** Longest pause in the body of the answer; default: `timeoutMs`. */
  readonly idleTimeoutMs?: number | undefined;
  /** The prefix that clients write before the paths of the service. */
  readonly basePath?: string | undefined;
  /** One request per connection. */
  readonly isolate?: boolean | undefined;
  readonly tunnels: readonly TunnelRules[];
}

export interface Tunnel {
  /** Unique, and stable across reloads. */
  readonly name: string;
  readonly upstream: string;
  /** The name under which its requests, connections and failed logins are counted. It is stable across reloads. */
  readonly countedAs: string;
  readonly rules: TunnelRules;
  readonly addresses: readonly string[];
  readonly timeoutMs: number;
  readonly idleTimeoutMs: number;
  readonly isolate: boolean;
  /** Whether the upstream serves HTML pages, which the gateway's strict Content-Security-Policy would break. */
  readonly hasPages: boolean;
  /** Path → path that its clients are sent to. */
  readonly redirects: ReadonlyMap<string, string>;
  /** The base path of the upstream, or an empty text. */
  readonly basePath: string;
  /** Returns the path for the service, without the base path at its beginning. */
  toUpstream(path: string): string;
  /** Whether a normalised path matches one of the declared paths. */
  owns(path: string): boolean;
  /** Whether a normalised path must not reach the upstream although a declared path matches it. */
  isExcepted(path: string): boolean;
  /** Returns a path with another file name, if the path is excepted only because of its file name; undefined otherwise. */
  renamePath(path: string): RenamedPath | undefined;
  /** Returns the credential of a request, if it can be guessed. */
  guessableIn(admitted: Pick<Admitted, 'headers'>): string | undefined;
  /** Whether the answer to a request with credentials shows that they are right, or that they are wrong. */
  showsLogin(method: string, path: string, status: number): boolean;
}

/** A path for the upstream, and the file name that was removed from it. */
interface RenamedPath {
  readonly path: string;
  /** The file name, as the client encoded it. */
  readonly name: string;
}

/** The name that replaces the name of a file if that must not reach the upstream. */
export const PLACEHOLDER_NAME = 'file';

interface TunnelTable {
  /** @param target the target of the request line; its path must be spelled as in the configuration */
  find(sites: ReadonlySet<string>, target: string): Tunnel | undefined;
}

type TunnelledUpstreams = Readonly<Record<string, TunnelledUpstream>>;

export function tunnelsOf(upstreams: TunnelledUpstreams): readonly Tunnel[] {
  return Object.entries(upstreams).flatMap(([upstream, entry]) =>
    entry.tunnels.map((rules, index) => toTunnel(upstream, entry, rules, `${upstream}/${index}`)),
  );
}

export function createTunnelTable(upstreams: TunnelledUpstreams): TunnelTable {
  const tunnels = tunnelsOf(upstreams);
  const exact = new Map<string, Tunnel[]>();
  const below: (readonly [prefix: string, tunnel: Tunnel])[] = [];
  for (const tunnel of tunnels) {
    for (const path of tunnel.rules.paths) {
      if (path.endsWith('/*')) below.push([path.slice(0, -1), tunnel]);
      else exact.set(path, [...(exact.get(path) ?? []), tunnel]);
    }
  }
  // The longest prefix comes first, so that the most specific prefix wins.
  below.sort(([one], [other]) => other.length - one.length);

  return {
    find(sites, target) {
      if (tunnels.length === 0) return undefined;
      const path = pathIn(target);
      const isHere = ({ rules }: Tunnel) =>
        rules.hosts.some((site) => sites.has(site)) && !rules.notOn.some((site) => sites.has(site));
      const found = exact.get(path)?.find(isHere);
      return found ?? below.find(([prefix, tunnel]) => path.startsWith(prefix) && isHere(tunnel))?.[1];
    },
  };
}

function toTunnel(upstream: string, entry: TunnelledUpstream, rules: TunnelRules, name: string): Tunnel {
  const { live, timeoutMs, idleTimeoutMs = timeoutMs, isolate = false, basePath = '' } = entry;
  const patterns = rules.except.map((text) => text.toLowerCase().split('*'));
  const { countedAs } = rules.logins;
  const first = entry.tunnels.findIndex(({ logins }) => countedAs !== undefined && logins.countedAs === countedAs);
  const files = rules.fileNames.map((pattern) => pattern.split('/'));

  function isExcepted(path: string): boolean {
    if (patterns.length === 0) return false;
    const forms = [path.toLowerCase(), decodeURIComponent(path).toLowerCase()];
    return patterns.some((pieces) => forms.some((form) => isLike(form, pieces)));
  }

  return {
    name,
    upstream,
    countedAs: first === -1 ? name : `${upstream}/${first}`,
    rules,
    addresses: live,
    timeoutMs,
    idleTimeoutMs,
    isolate,
    hasPages: rules.pages ?? rules.hosts.includes('panel'),
    redirects: new Map(
      Object.entries(rules.redirects).flatMap(([from, to]) => [[from, to] as const, [`${from}/`, to] as const]),
    ),
    basePath,
    toUpstream: (path) => (basePath !== '' && path.startsWith(`${basePath}/`) ? path.slice(basePath.length) : path),
    owns: (path) => covers(rules.paths, path),
    isExcepted,
    renamePath(path) {
      if (files.length === 0) return undefined;
      const segments = path.split('/');
      const fileName = segments.at(-1) as string;
      if (fileName === '' || !files.some((pattern) => isAt(pattern, segments)) || !isExcepted(path)) return undefined;
      const harmless = segments.with(-1, PLACEHOLDER_NAME).join('/');
      return isExcepted(harmless) ? undefined : { path: harmless, name: fileName };
    },
    guessableIn: createGuessable(rules.logins.passwordTokens),
    showsLogin: (method, path, status) =>
      status < 300 ? method !== 'OPTIONS' && covers(rules.logins.paths, path) : rules.logins.refusals.includes(status),
  };
}

/** Whether one of the paths matches. A path that ends with a slash and a star matches as a prefix. */
function covers(paths: readonly string[], path: string): boolean {
  return paths.some((own) => (own.endsWith('/*') ? path.startsWith(own.slice(0, -1)) : path === own));
}

function isAt(pattern: readonly string[], segments: readonly string[]): boolean {
  return pattern.length === segments.length && pattern.every((one, index) => one === '*' || one === segments[index]);
}

/** Returns the path of a request target, which may be in absolute form. */
function pathIn(target: string): string {
  const rest = target.startsWith('/') ? target : target.replace(/^https?:\/\/[^/?#]*/i, '');
  const mark = rest.indexOf('?');
  return mark === -1 ? rest : rest.slice(0, mark);
}

/** Whether the text consists of the pieces in order, with any text between them. Runs in linear time, because clients choose the text. */
function isLike(text: string, pieces: readonly string[]): boolean {
  const first = pieces[0] as string;
  const last = pieces.at(-1) as string;
  if (pieces.length === 1) return text === first;
  if (!text.startsWith(first) || text.length < first.length + last.length || !text.endsWith(last)) return false;
  let at = first.length;
  const end = text.length - last.length;
  for (const piece of pieces.slice(1, -1)) {
    const found = text.indexOf(piece, at);
    if (found === -1 || found + piece.length > end) return false;
    at = found + piece.length;
  }
  return true;
}
