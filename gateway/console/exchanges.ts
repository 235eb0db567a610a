// Pure: one row per recent exchange, from its decision record, and the filter that a query asks for.

type DecisionRecord = Readonly<Record<string, unknown>>;

export interface ExchangeRow {
  readonly request_id: string;
  /** End of the exchange: ISO 8601, UTC. */
  readonly at: string;
  /** Method and path template; `GET unmatched` for requests that belong to no operation. */
  readonly operation: string;
  readonly organization: string | null;
  readonly key: string | null;
  /** The address of the client: it names the sender where no organization is known. */
  readonly client: string | null;
  readonly status: number;
  readonly stage: string;
  readonly code: string | null;
  readonly upstream: string | null;
  readonly duration_ms: number;
  /** Time until the upstream began to answer; null: it was not asked, or did not answer. The rest is the gateway and the transfer. */
  readonly upstream_ms: number | null;
  /** The instance that has the exchange; absent if it is the one that answers. */
  readonly instance?: string;
}

/** The filter of `observe/exchange-filter.ts`. */
export interface ExchangeQuery {
  readonly code?: string | undefined;
  readonly operation?: string | undefined;
  readonly organization?: string | undefined;
  readonly key?: string | undefined;
  readonly client?: string | undefined;
  readonly upstream?: string | undefined;
  readonly status?: string | undefined;
  readonly fromMs?: number | undefined;
  readonly toMs?: number | undefined;
  readonly durationMinMs?: number | undefined;
  readonly limit: number;
}

const LIMIT_MAX = 200;
const VALUE_LENGTH_MAX = 300;

export function exchangeQueryOf(params: URLSearchParams): ExchangeQuery {
  const text = (name: string) => params.get(name)?.slice(0, VALUE_LENGTH_MAX) || undefined;
  const time = (name: string) => numberOf(Date.parse(params.get(name) ?? ''));
  return {
    ...{
      code: text('code'),
      operation: text('operation'),
      organization: text('organization'),
      key: text('key'),
      client: text('client'),
    },
    ...{ upstream: text('upstream'), status: text('status'), fromMs: time('from'), toMs: time('to') },
    durationMinMs: numberOf(Number(params.get('min_ms') ?? Number.NaN)),
    limit: Math.min(LIMIT_MAX, Math.max(1, numberOf(Number(params.get('limit') ?? Number.NaN)) ?? 100)),
  };
}

function numberOf(value: number): number | undefined {
  return Number.isFinite(value) ? value : undefined;
}

export function exchangeRow(record: DecisionRecord): ExchangeRow {
  const { method, route, tunnel, upstream_ms: upstreamMs } = record;
  const path = route ?? (tunnel === undefined ? 'unmatched' : `tunnel ${tunnel}`);
  return {
    request_id: String(record.request_id),
    at: new Date(Number(record.time)).toISOString(),
    operation: `${method} ${path}`,
    organization: textOrNull(record.organization),
    key: textOrNull(record.key_id),
    client: textOrNull(record.client),
    status: Number(record.status),
    stage: String(record.stage),
    code: textOrNull(record.code),
    upstream: textOrNull(record.upstream),
    duration_ms: Number(record.duration_ms),
    upstream_ms: typeof upstreamMs === 'number' ? upstreamMs : null,
  };
}

/** Merges the lists of several processes, the newest first. */
export function newestFirst<Row extends { readonly at: string }>(
  lists: readonly (readonly Row[])[],
  limit: number,
): Row[] {
  return lists
    .flat()
    .sort((one, other) => other.at.localeCompare(one.at))
    .slice(0, limit);
}

function textOrNull(value: unknown): string | null {
  return value === undefined ? null : String(value);
}
