// What the admin listener says about the gateway as a whole: whether it is ready, and the state of its parts.

/** `ending`: still serving, but not ready any more; `draining`: only what is in flight is finished. */
export type Lifecycle = 'starting' | 'serving' | 'ending' | 'draining';

export interface StatusOptions {
  readonly version: string;
  lifecycle(): Lifecycle;
  keys(): { readonly store: 'reachable' | 'failing'; readonly position: number | undefined };
  limits(): { readonly state: 'up' | 'away' };
  /** What the parts of the gateway say of themselves, as members of the status. */
  parts(): object;
  /** Epoch milliseconds. */
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
    const keys = options.keys();
    // An instance that has never read its key store knows no key: others may be able to.
    const canCheckKeys = keys.store === 'reachable' || keys.position !== undefined;
    return {
      ready: lifecycle === 'serving' && canCheckKeys,
      checks: {
        lifecycle,
        // Known keys go on while the store is away, and limits have their policy: both are reported, neither takes the gateway out.
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

/** Addresses and state by upstream. The rest of its configuration is left out, because a reader of the status needs no more. */
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
