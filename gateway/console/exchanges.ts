// Pure: makes one row per recent exchange, from its log line, and the filter that a query asks for. Counts rows by code, caller and
// operation.

import { brokeContract, hasFailed, wasRefused } from '../shared/failed-requests.ts';
import type { ExchangeFilter, ExchangeLine } from '../shared/questions/exchange-filter.ts';

export interface ExchangeRow {
  readonly request_id: string;
  /** End of the exchange: ISO 8601, UTC. */
  readonly at: string;
  /** Method and path template; `GET unmatched` for requests that belong to no operation. */
  readonly operation: string;
  /** Path of a request that belongs to no operation; `{…}` stands for each part that may be a value. */
  readonly path: string | null;
  readonly organization: string | null;
  readonly key: string | null;
  /** The address of the client, which identifies the sender if no organization is known. */
  readonly client: string | null;
  readonly status: number;
  readonly stage: string;
  readonly code: string | null;
  /** Whether the gateway refused the request before it was sent to the service. */
  readonly refused: boolean;
  /** Whether the client got an answer that breaks the contract. */
  readonly broken: boolean;
  readonly upstream: string | null;
  /** The tool with which an agent called the operation. */
  readonly tool: string | null;
  readonly duration_ms: number;
  /**
   * The time until the upstream began to answer; null if it gave no answer. The rest of the duration is spent in the gateway and in the
   * transfer.
   */
  readonly upstream_ms: number | null;
  /**
   * The time for which a target had the request and did not answer, until the timeout, or the failed connection; null in any other case.
   */
  readonly waited_ms: number | null;
  /** The time from the first byte of the answer to the last one for the client; null for fast requests, of which it is not known. */
  readonly transfer_ms: number | null;
  /** The instance that served the exchange; undefined if it is the instance that answers the page. */
  readonly instance?: string;
}

const LIMIT_MAX = 200;
const VALUE_LENGTH_MAX = 300;

export function exchangeFilterOf(params: URLSearchParams): ExchangeFilter {
  const text = (name: string) => params.get(name)?.slice(0, VALUE_LENGTH_MAX) || undefined;
  const time = (name: string) => numberOf(Date.parse(params.get(name) ?? ''));
  return {
    code: text('code'),
    operation: text('operation'),
    operationId: text('operation_id'),
    organization: text('organization'),
    key: text('key'),
    client: text('client'),
    upstream: text('upstream'),
    status: text('status'),
    fromMs: time('from'),
    toMs: time('to'),
    durationMinMs: numberOf(Number(params.get('min_ms') ?? Number.NaN)),
    limit: Math.min(LIMIT_MAX, Math.max(1, numberOf(Number(params.get('limit') ?? Number.NaN)) ?? 100)),
  };
}

function numberOf(value: number): number | undefined {
  return Number.isFinite(value) ? value : undefined;
}

export function exchangeRow(line: ExchangeLine): ExchangeRow {
  const { method, route, tunnel, mcp, upstream_ms: upstreamMs } = line;
  const template =
    route ?? (tunnel === undefined ? (mcp === undefined ? 'unmatched' : `agents ${mcp}`) : `tunnel ${tunnel}`);
  return {
    request_id: String(line.request_id),
    at: new Date(Number(line.time)).toISOString(),
    operation: `${method} ${template}`,
    path: textOrNull(line.path),
    organization: textOrNull(line.organization),
    key: textOrNull(line.key_id),
    client: textOrNull(line.client),
    status: Number(line.status),
    stage: String(line.stage),
    code: textOrNull(line.code),
    refused: wasRefused(line),
    broken: brokeContract(line),
    upstream: textOrNull(line.upstream),
    tool: textOrNull(line.tool),
    duration_ms: Number(line.duration_ms),
    upstream_ms: typeof upstreamMs === 'number' ? upstreamMs : null,
    waited_ms: typeof upstreamMs === 'number' ? null : waitedMs(line),
    transfer_ms: typeof upstreamMs === 'number' ? transferMs(line, upstreamMs) : null,
  };
}

/** Returns the time for which a target had the request, if the exchange ended in `forward` because the service failed. */
function waitedMs(line: ExchangeLine): number | null {
  if (line.stage !== 'forward' || line.target == null || !hasFailed(line)) return null;
  return sentMs(line);
}

function transferMs(line: ExchangeLine, upstreamMs: number): number | null {
  const ms = sentMs(line);
  return ms === null ? null : Math.max(0, ms - upstreamMs);
}

/** Returns the time of the stage `forward` without its queue; null if the line does not say it. */
function sentMs({ stages_ms: stages, queued_ms: queued = 0 }: ExchangeLine): number | null {
  const { forward } = (stages ?? {}) as { readonly forward?: number };
  return forward === undefined ? null : Math.max(0, forward - Number(queued));
}

/** Merges the lists of several processes, newest first. */
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

interface Share {
  readonly name: string;
  readonly requests: number;
  /** 5xx that the gateway did not give itself. */
  readonly failed: number;
  /** Requests that the gateway refused before they were sent to the service. */
  readonly refused: number;
  /** Refused requests that got a 5xx. An upstream with an open breaker or a full queue hurts clients as much as a failing upstream. */
  readonly unserved: number;
  /** Answers that break the contract, and that clients got. */
  readonly broken: number;
  /** True for requests without an organization, whose name is the address of the client. */
  readonly client?: true;
}

interface Breakdown {
  readonly requests: number;
  /** The end of the oldest counted request; null if no request was counted. */
  readonly since: string | null;
  readonly errors_since: string | null;
  readonly codes: readonly Share[];
  readonly organizations: readonly Share[];
  readonly operations: readonly Share[];
  /** The latest requests that the service failed or answered against the contract, and the latest that were refused; newest first. */
  readonly failures: readonly ExchangeRow[];
  readonly refusals: readonly ExchangeRow[];
  readonly latest: readonly ExchangeRow[];
  readonly slowest: readonly ExchangeRow[];
}

const SHARES_MAX = 15;
const LATEST_MAX = 10;

/**
 * Adds up lists of the same time, each newest first. Earlier errors and failures are in separate lists, because the latest requests may all
 * be from one busy minute, and the latest errors from an open breaker.
 *
 * @param errors with 4xx or 5xx
 * @param failed with 5xx that the gateway itself did not cause
 * @param broken that break the contract, and that clients got
 */
export function breakdownOf(
  latest: readonly ExchangeRow[],
  errors: readonly ExchangeRow[],
  failed: readonly ExchangeRow[],
  broken: readonly ExchangeRow[],
): Breakdown {
  const byId = new Map(
    [...latest, ...errors, ...failed, ...broken].map((row) => [`${row.instance} ${row.request_id}`, row]),
  );
  const counted = [...byId.values()];
  const others = errors.filter((row) => row.code !== null && (row.refused || row.status < 500));
  return {
    requests: counted.length,
    since: latest.at(-1)?.at ?? null,
    errors_since: [errors.at(-1)?.at, failed.at(-1)?.at].filter((at) => at !== undefined).sort()[0] ?? null,
    codes: sharesOf(counted, ({ code }) => code),
    organizations: sharesOf(counted, ({ organization, client }) => organization ?? client),
    operations: sharesOf(counted, ({ operation }) => operation),
    // Two lists, because a busy client over its limit would push the failures out of one list.
    failures: newestFirst([failed, broken], LATEST_MAX),
    refusals: others.slice(0, LATEST_MAX),
    latest: latest.slice(0, LATEST_MAX),
    slowest: latest.toSorted((one, other) => other.duration_ms - one.duration_ms).slice(0, LATEST_MAX),
  };
}

function sharesOf(rows: readonly ExchangeRow[], nameOf: (row: ExchangeRow) => string | null): Share[] {
  const groups = Map.groupBy(
    rows.filter((row) => nameOf(row) !== null),
    (row) => nameOf(row) as string,
  );
  return [...groups]
    .map(([name, all]): Share => {
      const refused = all.filter((row) => row.refused).length;
      const failed = all.filter((row) => row.status >= 500 && !row.refused).length;
      const unserved = all.filter((row) => row.refused && row.status >= 500).length;
      const isClient = all[0]?.organization === null && name === all[0].client;
      const broken = all.filter((row) => row.broken).length;
      return { name, requests: all.length, failed, refused, unserved, broken, ...(isClient && { client: true }) };
    })
    .sort((one, other) => other.requests - one.requests || one.name.localeCompare(other.name))
    .slice(0, SHARES_MAX);
}
