// Which tunnel a path belongs to, on which site. Built once per configuration.

/** What one client address may ask of a tunnel, and all together: counted elsewhere. */
export interface TunnelLimits {
  readonly requests: number;
  readonly windowSeconds: number;
  readonly connections: number;
  readonly connectionsTotal: number;
  readonly failures: number;
  readonly failuresTotal?: number | undefined;
  readonly failuresWindowSeconds: number;
}

/** A tunnel as upstreams.yaml has it. */
export interface TunnelRules {
  /** Exact, or ending in `/*` for everything below. */
  readonly paths: readonly string[];
  readonly hosts: readonly string[];
  readonly webSocket: boolean;
  /** Path → path that its clients are sent to. */
  readonly redirects: Readonly<Record<string, string>>;
  /** Paths that are not passed on: text with `*` for anything. */
  readonly except: readonly string[];
  readonly limits: TunnelLimits;
}

export interface TunnelledUpstream {
  readonly live: readonly string[];
  /** From the last byte of a request's body to the head of the answer. */
  readonly timeoutMs: number;
  /** Without a byte of the answer's body. Absent: as long as `timeoutMs`. */
  readonly idleTimeoutMs?: number | undefined;
  /** One request per connection. */
  readonly isolate?: boolean | undefined;
  readonly tunnels: readonly TunnelRules[];
}

export interface Tunnel {
  /** Unique, and the same over reloads. */
  readonly name: string;
  readonly upstream: string;
  readonly rules: TunnelRules;
  readonly addresses: readonly string[];
  readonly timeoutMs: number;
  readonly idleTimeoutMs: number;
  readonly isolate: boolean;
  /** Pages of its own: what the gateway says about pages in general would break them. */
  readonly hasPages: boolean;
  /** Path → path that its clients are sent to. */
  readonly redirects: ReadonlyMap<string, string>;
  /** Whether a normalised path is below the declared ones. */
  owns(path: string): boolean;
  /** Whether a normalised path is one that must not reach the upstream all the same. */
  isExcepted(path: string): boolean;
}

export interface TunnelTable {
  readonly tunnels: readonly Tunnel[];
  /** @param target of the request line; a path that is written in another way than its tunnel has it is not found */
  find(sites: ReadonlySet<string>, target: string): Tunnel | undefined;
}

export function createTunnelTable(upstreams: Readonly<Record<string, TunnelledUpstream>>): TunnelTable {
  const tunnels = Object.entries(upstreams).flatMap(([upstream, entry]) =>
    entry.tunnels.map((rules, index) => toTunnel(upstream, entry, rules, index)),
  );
  const exact = new Map<string, Tunnel[]>();
  const below: (readonly [prefix: string, tunnel: Tunnel])[] = [];
  for (const tunnel of tunnels) {
    for (const path of tunnel.rules.paths) {
      if (path.endsWith('/*')) below.push([path.slice(0, -1), tunnel]);
      else exact.set(path, [...(exact.get(path) ?? []), tunnel]);
    }
  }
  // The longest first: what is declared more narrowly counts.
  below.sort(([one], [other]) => other.length - one.length);

  return {
    tunnels,
    find(sites, target) {
      if (tunnels.length === 0) return undefined;
      const path = pathIn(target);
      const isHere = ({ rules }: Tunnel) => rules.hosts.some((site) => sites.has(site));
      const found = exact.get(path)?.find(isHere);
      return found ?? below.find(([prefix, tunnel]) => path.startsWith(prefix) && isHere(tunnel))?.[1];
    },
  };
}

function toTunnel(upstream: string, entry: TunnelledUpstream, rules: TunnelRules, index: number): Tunnel {
  const { live, timeoutMs, idleTimeoutMs = timeoutMs, isolate = false } = entry;
  const patterns = rules.except.map((text) => text.toLowerCase().split('*'));
  return {
    name: `${upstream}/${index}`,
    upstream,
    rules,
    addresses: live,
    timeoutMs,
    idleTimeoutMs,
    isolate,
    hasPages: rules.hosts.includes('panel'),
    redirects: new Map(
      Object.entries(rules.redirects).flatMap(([from, to]) => [[from, to] as const, [`${from}/`, to] as const]),
    ),
    owns: (path) => rules.paths.some((own) => (own.endsWith('/*') ? path.startsWith(own.slice(0, -1)) : path === own)),
    isExcepted(path) {
      if (patterns.length === 0) return false;
      const forms = [path.toLowerCase(), decodeURIComponent(path).toLowerCase()];
      return patterns.some((pieces) => forms.some((form) => isLike(form, pieces)));
    },
  };
}

/** Also of a target that names its host. */
function pathIn(target: string): string {
  const rest = target.startsWith('/') ? target : target.replace(/^https?:\/\/[^/?#]*/i, '');
  const mark = rest.indexOf('?');
  return mark === -1 ? rest : rest.slice(0, mark);
}

/** Pieces of text in their order, with anything between them. In linear time, since clients choose the text. */
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
