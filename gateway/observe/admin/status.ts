// Reports the state of the gateway for the admin listener: its readiness, and the state of its parts.

/** `ending`: still serving, but no longer ready; `draining`: finishes only requests in progress. */
export type Lifecycle = 'starting' | 'serving' | 'ending' | 'draining';

export interface StatusOptions {
  readonly version: string;
  lifecycle(): Lifecycle;
  keys(): { readonly store: 'reachable' | 'failing'; readonly position: number | undefined };
  limits(): { readonly state: 'up' | 'away' };
  /** Returns the names whose certificate is ordered but missing; undefined if the gateway orders no certificates. */
  missingCertificates(): readonly string[] | undefined;
  /** Returns the states of the parts, as members of the status. */
  parts(): object;
  /** Epoch milliseconds. */
  now(): number;
}

interface Readiness {
  readonly ready: boolean;
  readonly checks: Readonly<Record<string, string>>;
}

interface Status {
  /**
   * Whether load balancers may send requests here. The state of upstreams is ignored, because one upstream that is down must not take every
   * route down.
   */
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
        // A key store or limit store that cannot be reached is reported, but does not make the gateway unready, because cached keys stay
        // valid, and limits have an outage policy.
        keys: keys.store,
        limits: options.limits().state,
        // A missing certificate is reported, but does not make the gateway unready, because a load balancer would then block the
        // certificate authority whose challenge the order needs.
        ...certificatesCheck(options.missingCertificates()),
      },
    };
  }

  async function status(): Promise<object> {
    return {
      version: options.version,
      started_at: new Date(startedAtMs).toISOString(),
      lifecycle: options.lifecycle(),
      ...(withReadableTimes(options.parts()) as object),
    };
  }

  return { readiness, status };
}

function certificatesCheck(missing: readonly string[] | undefined): Readonly<Record<string, string>> {
  if (missing === undefined) return {};
  return { certificates: missing.length === 0 ? 'valid' : `missing: ${missing.join(', ')}` };
}

/**
 * Adds the time as ISO 8601 beside each member in epoch milliseconds, such as `read_at` beside `readAtMs`, and `since_at` beside `since`.
 * The members in milliseconds are published, and stay.
 */
function withReadableTimes(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withReadableTimes);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).flatMap(([name, member]): [string, unknown][] => {
    const readable = readableName(name);
    if (readable === undefined || typeof member !== 'number') return [[name, withReadableTimes(member)]];
    return [
      [name, member],
      [readable, new Date(member).toISOString()],
    ];
  });
  return Object.fromEntries(members);
}

function readableName(name: string): string | undefined {
  if (name === 'since') return 'since_at';
  if (!name.endsWith('AtMs')) return undefined;
  return name.slice(0, -'Ms'.length).replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

type ByName = Readonly<Record<string, object>>;

/** Returns addresses and state of each upstream. */
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
