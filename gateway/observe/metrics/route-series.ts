// Decides the labels of request metrics: operation and status, or, if there are many operations, entry and status class. A histogram has 20
// lines for each series, so an operation takes some 3 KB of `/metrics` for each status.

import type { Operation } from '../../exchange/operation.ts';

/** The members of an operation that name its series. */
export type MeasuredOperation = Pick<Operation, 'upstream' | 'path' | 'entry' | 'method' | 'version'>;

/** The largest number of statuses for which an operation has series, because an upstream may invent hundreds. */
const STATUSES_MAX = 16;

export interface RouteSeries {
  /** Decides about the operations of a configuration. Call it for each configuration. */
  use(operations: readonly MeasuredOperation[], operationsMax: number): void;
  /** Returns the value of the label `http_route`. */
  routeOf(operation: MeasuredOperation | undefined): string;
  statusOf(operation: MeasuredOperation, status: number): string;
}

export function createRouteSeries(): RouteSeries {
  let isByEntry = false;
  let statuses = new WeakMap<MeasuredOperation, Set<number>>();

  return {
    use(operations, operationsMax) {
      isByEntry = operations.length > operationsMax;
      statuses = new WeakMap();
    },
    routeOf(operation) {
      if (operation === undefined) return 'unmatched';
      return isByEntry ? entryRoute(operation) : operation.path;
    },
    statusOf(operation, status) {
      if (isByEntry) return statusClass(status);
      const known = statuses.get(operation) ?? new Set();
      statuses.set(operation, known);
      if (known.size < STATUSES_MAX) known.add(status);
      return known.has(status) ? String(status) : statusClass(status);
    },
  };
}

/** Returns the label of an entry. No path has this form, so it cannot be taken for a path. */
function entryRoute({ entry }: MeasuredOperation): string {
  return `upstream:${entry}`;
}

function statusClass(status: number): string {
  return `${Math.floor(status / 100)}xx`;
}

/** The usual number of different statuses of an operation, including some refusals. */
const STATUSES_USUAL = 4;
const ROWS = 20;
/** The bytes of one row without the values of its labels, with a count of six digits. */
const ROW_BYTES =
  'http_server_request_duration_seconds_bucket{le="0.0005",http_request_method="",http_route="",http_response_status_code="200",api_version=""} 123456\n'
    .length;

/** Estimates the bytes of `/metrics` if all operations are in use. */
export function metricsBytesOf(operations: readonly MeasuredOperation[], operationsMax: number): number {
  const isByEntry = operations.length > operationsMax;
  const series = new Map(
    operations.map((operation) => {
      const route = isByEntry ? entryRoute(operation) : operation.path;
      const labels = `${operation.method}${route}${operation.version ?? ''}`;
      return [labels, labels.length];
    }),
  );
  let bytes = 0;
  for (const length of series.values()) bytes += STATUSES_USUAL * ROWS * (ROW_BYTES + length);
  return bytes;
}
