// What the admin listener says about the gateway as a whole: ready or not, and the state of everything it leans on.

/** `ending`: still serving, but not ready any more; `draining`: only what is in flight is finished. */
export type Lifecycle = 'starting' | 'serving' | 'ending' | 'draining';

export interface StatusOptions {
  readonly version: string;
  /** Which configuration is in force, since when, and what is wrong with a later one. */
  configuration(): object;
  upstreams(): Readonly<
    Record<string, { readonly live: readonly string[]; readonly test?: readonly string[] | undefined }>
  >;
  /** Of upstreams that are shown a credential or sent a bounded number of requests, by name. */
  access(): Readonly<Record<string, object>>;
  /** How the targets of each upstream do. */
  targets(): Readonly<Record<string, object>>;
  /** How many operations are served. */
  operations(): number;
  keys(): { readonly store: 'reachable' | 'failing' };
  /** Whose tokens are accepted, by name, with the state of their keys. */
  issuers(): object;
  limits(): { readonly state: 'up' | 'away' };
  /** Of the answers that are kept for idempotent writes. */
  idempotency(): { readonly state: 'up' | 'away' };
  /** What clients of the public listener are shown; empty: no TLS. */
  certificates(): readonly object[];
  /** Of the counts of calls of what is deprecated. */
  deprecatedUses(): object;
  /** Whether there is too much to do, and how near the bounds are. */
  overload(): object;
  lifecycle(): Lifecycle;
  now(): number;
}

export interface Readiness {
  readonly ready: boolean;
  readonly checks: Readonly<Record<string, string>>;
}

export interface Status {
  /** Single upstreams do not count: one that is down must not take every route down. */
  readiness(): Promise<Readiness>;
  status(): Promise<object>;
}

export function createStatus(options: StatusOptions): Status {
  const startedAtMs = options.now();

  async function readiness(): Promise<Readiness> {
    const lifecycle = options.lifecycle();
    return {
      ready: lifecycle === 'serving',
      checks: {
        lifecycle,
        // Known keys go on while the store is away, and limits have their policy: both are reported, neither takes the gateway out.
        keys: options.keys().store,
        limits: options.limits().state,
      },
    };
  }

  async function status(): Promise<object> {
    return {
      version: options.version,
      started_at: new Date(startedAtMs).toISOString(),
      lifecycle: options.lifecycle(),
      configuration: options.configuration(),
      operations: options.operations(),
      upstreams: upstreams(),
      keys: options.keys(),
      issuers: options.issuers(),
      limits: options.limits(),
      idempotency: options.idempotency(),
      certificates: options.certificates(),
      deprecated_uses: options.deprecatedUses(),
      overload: options.overload(),
    };
  }

  /** Addresses and state; what else the configuration says of them is nobody's business who merely looks. */
  function upstreams(): object {
    const access = options.access();
    const targets = options.targets();
    const all = Object.entries(options.upstreams()).map(([name, { live, test }]) => [
      name,
      { live, test, ...targets[name], ...access[name] },
    ]);
    return Object.fromEntries(all);
  }

  return { readiness, status };
}
