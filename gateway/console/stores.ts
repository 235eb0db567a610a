// Pure: the stores of the gateway, by the name of their member of `/status`. Each row says what clients lose while the store is away. A part
// of the process whose store has no row here does not compile.

interface KeysState {
  readonly store?: string;
  readonly reason?: string;
  readonly read_at?: string;
  readonly grace_ends_at?: string;
  readonly writeFailure?: string;
}

interface LimitsState {
  readonly kind?: string;
  readonly state?: string;
  readonly reason?: string;
  readonly since_at?: string;
  readonly policyInForce?: string;
}

/** `up` or `away`. */
interface State {
  readonly state?: string;
}

interface StoreRow {
  /** The store, in a sentence such as "The key store cannot be used". */
  readonly name: string;
  /** What clients lose now; undefined if the store can be used. */
  lost(state: never, nowMs: number): string | undefined;
}

/** The states of the key store in which it cannot be read. */
export const AWAY = ['failing', 'away'];

/** The row is undefined if clients do not notice that the store is away. */
export const STORES = {
  keys: {
    name: 'key store',
    lost: ({ store = '', grace_ends_at: graceEndsAt }: KeysState, nowMs: number) =>
      AWAY.includes(store) ? ofKeys(graceEndsAt, nowMs) : undefined,
  },
  limits: {
    name: 'store of limits',
    lost: ({ state, policyInForce = '' }: LimitsState) =>
      state === 'away' ? (ofLimits[policyInForce] ?? 'limits are not shared') : undefined,
  },
  idempotency: {
    name: 'store of idempotent answers',
    lost: ({ state }: State) => (state === 'away' ? 'writes with an Idempotency-Key get 503' : undefined),
  },
  deprecated_uses: {
    name: 'store of deprecated calls',
    lost: ({ state }: State) => (state === 'away' ? 'calls of deprecated operations are counted later' : undefined),
  },
  // Counts of use wait in the process until they can be stored.
  usage: undefined,
  // Sessions are in the same Redis as the keys, so the row of the keys covers its outage.
  sessions: undefined,
} as const satisfies Readonly<Record<string, StoreRow | undefined>>;

type StateOf<Row> = Row extends { lost(state: infer Of, nowMs: number): unknown } ? Of : State;

/** The members of `/status` about stores. */
export type StoreStates = { readonly [Name in keyof typeof STORES]?: StateOf<(typeof STORES)[Name]> };

/** Returns the names of the stores that clients miss now, with what they lose. */
export function lossesOf(status: StoreStates, nowMs: number): { readonly name: string; readonly lost: string }[] {
  return (Object.keys(STORES) as (keyof StoreStates)[]).flatMap((member) => {
    const store: { name: string; lost(state: object, nowMs: number): string | undefined } | undefined = STORES[member];
    const lost = store?.lost(status[member] ?? {}, nowMs);
    return store === undefined || lost === undefined ? [] : [{ name: store.name, lost }];
  });
}

function ofKeys(graceEndsAt: string | undefined, nowMs: number): string {
  if (graceEndsAt === undefined) return 'keys cannot be looked up';
  if (Date.parse(graceEndsAt) <= nowMs) return 'no key works any more: requests get 503 auth_unavailable';
  return `known keys work until ${graceEndsAt}, others get 503`;
}

const ofLimits: Readonly<Record<string, string>> = {
  local: 'limits are counted per instance',
  allow: 'no limit is enforced',
  refuse: 'requests under a limit get 503',
};
