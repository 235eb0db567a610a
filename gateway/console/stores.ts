// Pure: describes the stores of the gateway, by the name of their member of `/status`. Each row says what the console shows of the store,
// and what clients lose while it cannot be reached. A part of the process whose store has no row here does not compile.

interface KeysState {
  readonly store?: string;
  readonly reason?: string;
  readonly read_at?: string;
  readonly grace_ends_at?: string;
  readonly writeFailure?: string;
  /** When the store came back without any organization; undefined if it has one. */
  readonly emptied_at?: string;
}

interface LimitsState {
  readonly kind?: string;
  readonly state?: string;
  readonly reason?: string;
  readonly since_at?: string;
  readonly policyInForce?: string;
}

/** `kind`: where the store is. */
interface ReplayState {
  readonly state?: string;
  readonly kind?: string;
  readonly reason?: string;
  readonly since_at?: string;
}

/** `waiting`: what is not written yet. */
interface CountsState {
  readonly state?: string;
  readonly waiting?: number;
  readonly reason?: string;
  readonly since_at?: string;
}

interface SessionsState {
  readonly store?: string;
  readonly reason?: string;
}

/** The state of a store, and more text of the console about it. */
type ShownState = readonly [state: string | undefined, details?: string | undefined];

interface StoreRow {
  /** The store, in a sentence such as "The key store cannot be used". */
  readonly name: string;
  shown(state: never): ShownState;
  /** Returns what clients lose now; undefined if the store can be used. The function is absent if clients do not notice an outage. */
  lost?(state: never, nowMs: number): string | undefined;
  /** Sentences about what happens by itself when the store can be used again. */
  readonly back: string;
  /**
   * What the store keeps, for sentences such as "keys and usage cannot be written"; undefined if operators do not miss these writes.
   */
  readonly written: string | undefined;
}

/** The states of the key store in which it cannot be read. */
export const AWAY = ['failing', 'away'];

export const STORES = {
  keys: {
    name: 'key store',
    written: 'keys',
    back: 'The gateway tries again until the store answers. What changed during the outage, such as revoked keys, is then in force, without a restart.',
    shown: ({ store, reason, read_at, grace_ends_at: graceEndsAt, emptied_at: emptiedAt }: KeysState): ShownState => {
      if (emptiedAt !== undefined && !AWAY.includes(store ?? ''))
        return ['empty', `since ${emptiedAt}: every key gets 401 api_key_invalid until the latest export is imported`];
      return [store, graceEndsAt && `last read ${read_at}, known keys are valid until ${graceEndsAt}: ${reason}`];
    },
    lost: ({ store = '', grace_ends_at: graceEndsAt }: KeysState, nowMs: number) =>
      AWAY.includes(store) ? lostWithoutKeys(graceEndsAt, nowMs) : undefined,
  },
  limits: {
    name: 'limit store',
    written: undefined,
    back: 'The gateway tries it five times a second, and uses it again once it can count. Requests admitted during the outage are not counted.',
    shown: ({ state, kind, reason = '', since_at: since, policyInForce }: LimitsState): ShownState => [
      state,
      policyInForce ? `whenStoreIsAway: ${policyInForce} decides since ${since}: ${reason}` : kind,
    ],
    lost: ({ state, policyInForce = '' }: LimitsState) =>
      state === 'away' ? (LIMITS_CONSEQUENCES[policyInForce] ?? 'limits are not shared') : undefined,
  },
  idempotency: {
    name: 'idempotency store',
    written: 'idempotency',
    back: 'Such writes pass again once the store answers. Clients may repeat a write that was in progress, with the same key.',
    shown: ({ state, kind, ...why }: ReplayState): ShownState => [state, state === 'away' ? awayText(why) : kind],
    lost: ({ state }: ReplayState) =>
      state === 'away'
        ? 'writes with an Idempotency-Key get 503 gateway_overloaded, except to services that honour keys'
        : undefined,
  },
  deprecated_uses: {
    name: 'store of deprecated calls',
    written: undefined,
    back: 'The process holds the counts, and writes them then.',
    shown: ({ state, waiting }: CountsState): ShownState => [state, waitingText(waiting)],
    lost: ({ state }: CountsState) =>
      state === 'away' ? 'calls of deprecated operations are counted later' : undefined,
  },
  usage: {
    name: 'usage store',
    written: 'usage',
    back: 'The process holds the counts, and writes them then.',
    // A store that can be reached shows no number, because a few counts always wait to be written, and the number would differ between
    // instances.
    shown: ({ state, waiting, ...why }: CountsState): ShownState =>
      state === 'away'
        ? [state, [awayText(why), waitingText(waiting)].filter((text) => text !== '').join('; ')]
        : ['up'],
  },
  sessions: {
    name: 'session store',
    written: undefined,
    back: 'People stay signed in, unless the store has lost their sessions.',
    // Sessions are in the same Redis as the keys, so the row of the keys says what clients lose.
    shown: ({ store, reason }: SessionsState): ShownState => [store, reason],
  },
} as const satisfies Readonly<Record<string, StoreRow>>;

type StateOf<Row> = Row extends { shown(state: infer Of): unknown } ? Of : never;

/** The members of `/status` about stores. */
export type StoreStates = { readonly [Name in keyof typeof STORES]?: StateOf<(typeof STORES)[Name]> };

/** Returns the stores of the process, each with the row of its member. */
function storesIn(status: StoreStates): { readonly state: object; readonly row: RowOfAny }[] {
  const rows: readonly [string, RowOfAny][] = Object.entries(STORES);
  const states: Readonly<Record<string, object | undefined>> = status;
  return rows.flatMap(([member, row]) => {
    const state = states[member];
    return state === undefined ? [] : [{ state, row }];
  });
}

interface RowOfAny {
  readonly name: string;
  readonly back: string;
  readonly written: string | undefined;
  shown(state: object): ShownState;
  lost?(state: object, nowMs: number): string | undefined;
}

export interface StoreReport {
  readonly name: string;
  readonly state: string;
  readonly details: string;
  /** What clients lose now, and what comes back by itself; undefined while the store can be used. */
  readonly lost?: string;
  readonly back?: string;
}

/** Returns what the console shows of the stores. */
export function storeReports(status: StoreStates, nowMs: number): StoreReport[] {
  return storesIn(status).map(({ state, row }) => {
    const [shown = '', details = ''] = row.shown(state);
    const report = { name: row.name, state: shown, details };
    const lost = row.lost?.(state, nowMs) ?? 'they notice nothing';
    return AWAY.includes(shown) ? { ...report, lost, back: row.back } : report;
  });
}

/** Returns the names of the stores that clients miss now, with what they lose. */
export function lossesOf(status: StoreStates, nowMs: number): { readonly name: string; readonly lost: string }[] {
  return storesIn(status).flatMap(({ state, row }) => {
    const lost = row.lost?.(state, nowMs);
    return lost === undefined ? [] : [{ name: row.name, lost }];
  });
}

/** Names what cannot be written while the disk is full. */
export const ALL_WRITTEN = new Intl.ListFormat('en-GB').format(
  Object.values(STORES).flatMap(({ written }) => written ?? []),
);

/** When a store stopped accepting writes, and why. */
type WhyAway = Pick<ReplayState, 'reason' | 'since_at'>;

/** Returns the first failure of the stores that accept no writes; an empty object if none has failed, or none says when. */
export function firstFailureOf(status: StoreStates): WhyAway {
  const away = storesIn(status).flatMap(({ state, row }) => {
    const failing: Pick<ReplayState, 'state' | 'reason' | 'since_at'> = state;
    return row.written !== undefined && failing.state === 'away' ? [failing] : [];
  });
  return away.sort((one, other) => (one.since_at ?? '').localeCompare(other.since_at ?? ''))[0] ?? {};
}

function awayText({ reason, since_at: since }: WhyAway): string {
  const when = since === undefined ? '' : `since ${since}`;
  return [when, reason ?? ''].filter((text) => text !== '').join(': ');
}

function waitingText(waiting = 0): string {
  return waiting === 0 ? '' : `waiting to be written: ${waiting}`;
}

function lostWithoutKeys(graceEndsAt: string | undefined, nowMs: number): string {
  if (graceEndsAt === undefined) return 'keys cannot be looked up';
  if (Date.parse(graceEndsAt) <= nowMs) return 'no key works any more: requests get 503 auth_unavailable';
  return `known keys work until ${graceEndsAt}, others get 503`;
}

const LIMITS_CONSEQUENCES: Readonly<Record<string, string>> = {
  local: 'limits are counted per instance',
  allow: 'no limit is enforced',
  refuse: 'requests under a limit get 503',
};
