// The state of the gateway for the admin listener: its readiness, and the state of its parts.

/** `ending`: still serving, but no longer ready; `draining`: finishes only requests in progress. */
export type Lifecycle = 'starting' | 'serving' | 'ending' | 'draining';

export interface StatusOptions {
  readonly version: string;
  lifecycle(): Lifecycle;
  keys(): { readonly store: 'reachable' | 'failing'; readonly position: number | undefined };
  limits(): { readonly state: 'up' | 'away' };
  /** State of the parts, as members of the status. */
  parts(): object;
  /** Epoch milliseconds. */
  now(): number;
}

export interface Readiness {
  readonly ready: boolean;
  readonly checks: Readonly<Record<string, string>>;
}

export interface Status {
  /** The state of single upstreams does not count: one that is down must not take every route down. */
  readiness(): Promise<Readiness>;
  status(): Promise<object>;
}

export function createStatus(options: StatusOptions): Status {
  const startedAtMs = options.now();

  async function readiness(): Promise<Readiness> {
    const lifecycle = options.lifecycle();
    const keys = options.keys();
    // An instance that has never read its key store cannot check keys; other instances may be able to.
    const canCheckKeys = keys.store === 'reachable' || keys.position !== undefined;
    return {
      ready: lifecycle === 'serving' && canCheckKeys,
      checks: {
        lifecycle,
        // Cached keys stay valid while the store is away, and limits have their outage policy: both are reported, but do not make the gateway
        // unready.
        keys: keys.store,
        limits: options.limits().state,
      },
    };
  }

  async function status(): Promise<object> {
    return {
      version: options.version,
      started_at: new Date(startedAtMs).toISOString(),
      lifecycle: options.lifecycle(),
      ...options.parts(),
    };
  }

  return { readiness, status };
}

type ByName = Readonly<Record<string, object>>;

/** Addresses and state by upstream. Leaves out the rest of the configuration, which readers of the status do not need. */
export function upstreamStatus(
  upstreams: Readonly<
    Record<string, { readonly live: readonly string[]; readonly test?: readonly string[] | undefined }>
  >,
  ...states: readonly ByName[]
): object {
  const all = Object.entries(upstreams).map(([name, { live, test }]) => [
    name,
    Object.assign({ live, test }, ...states.map((state) => state[name])),
  ]);
  return Object.fromEntries(all);
}
