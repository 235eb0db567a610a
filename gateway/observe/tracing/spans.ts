// Pure: converts an ended exchange to spans in the JSON form of OTLP (opentelemetry-proto 1.x, trace.proto; ids in hexadecimal). Names and
// attributes follow OpenTelemetry's semantic conventions for HTTP (1.44). Contains no path, query, header or body.

import type { Trail } from '../../exchange/trail.ts';
import { TIMED_STAGES } from '../../stages.ts';
import { parseTraceparent } from './context.ts';

const KIND_SERVER = 2;
const KIND_CLIENT = 3;
const STATUS_ERROR = 2;

export interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly object[];
  readonly events?: readonly object[];
  readonly links?: readonly object[];
  readonly status?: { readonly code: number };
}

/** Returns a span for the exchange, with the ends of its stages as events, and a span for each attempt at an upstream. */
export function spansOf(trail: Trail, endedAt: number): Span[] {
  const { traceId, trace } = trail;
  if (traceId === undefined || trace === undefined) return [];
  const client = parseTraceparent(trail.clientTraceparent);
  const server: Span = {
    traceId,
    spanId: trace.spanId,
    ...(trace.parentSpanId === undefined ? {} : { parentSpanId: trace.parentSpanId }),
    name: nameOf(trail),
    kind: KIND_SERVER,
    startTimeUnixNano: nanoseconds(trail.startedAt),
    endTimeUnixNano: nanoseconds(endedAt),
    attributes: serverAttributes(trail),
    events: eventsOf(trail),
    ...(client === undefined ? {} : { links: [client] }),
    ...(trail.status >= 500 ? { status: { code: STATUS_ERROR } } : {}),
  };
  return [server, ...clientSpans(trail, endedAt)];
}

function nameOf({ method, operation, rare }: Trail): string {
  const place = operation?.path ?? rare?.tunnel;
  return place === undefined ? method : `${method} ${place}`;
}

function serverAttributes(trail: Trail): object[] {
  const { operation, caller, status, code, stage, rare } = trail;
  return attributes({
    'http.request.method': trail.method,
    'http.route': operation?.path,
    'http.response.status_code': status,
    'error.type': status >= 500 ? (code ?? String(status)) : undefined,
    'client.address': trail.clientAddress,
    'gateway.request_id': trail.id,
    'gateway.operation': operation?.id,
    'gateway.tunnel': rare?.tunnel,
    'gateway.tool': rare?.tool,
    'gateway.organization': caller?.organization?.id,
    'gateway.stage': stage,
    'gateway.code': code,
    'gateway.replayed': rare?.replayed,
  });
}

const EVENT_NAMES = [...Object.values(TIMED_STAGES), 'forwarded'];

function eventsOf({ endedAt, forwardedAt = Number.NaN }: Trail): object[] {
  return [...endedAt, forwardedAt].flatMap((at, index) =>
    Number.isNaN(at) ? [] : { timeUnixNano: nanoseconds(at), name: EVENT_NAMES[index] },
  );
}

function clientSpans({ traceId = '', trace, operation, ...trail }: Trail, endedAt: number): Span[] {
  const attempts = trace?.attempts ?? [];
  return attempts.map(({ spanId, beganAt, target }, index) => {
    const isLast = index === attempts.length - 1;
    // Only the last attempt can have a status, because all earlier attempts failed.
    const status = isLast ? trail.upstreamStatus : undefined;
    const { hostname, port } = serverIn(target);
    return {
      traceId,
      spanId,
      parentSpanId: trace?.spanId ?? '',
      name: operation?.method ?? trail.method,
      kind: KIND_CLIENT,
      startTimeUnixNano: nanoseconds(beganAt),
      endTimeUnixNano: nanoseconds(isLast ? endedAt : (attempts[index + 1]?.beganAt ?? endedAt)),
      attributes: attributes({
        'http.request.method': operation?.method ?? trail.method,
        'http.response.status_code': status,
        'http.request.resend_count': index === 0 ? undefined : index,
        'server.address': hostname,
        'server.port': port,
        'gateway.upstream': operation?.upstream,
        'error.type': status === undefined ? (trail.code ?? 'no_answer') : status >= 400 ? String(status) : undefined,
      }),
      ...(status === undefined || status >= 400 ? { status: { code: STATUS_ERROR } } : {}),
    };
  });
}

function serverIn(origin: string): { readonly hostname?: string; readonly port?: number } {
  if (!URL.canParse(origin)) return {};
  const { protocol, hostname, port } = new URL(origin);
  return { hostname, port: port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port) };
}

/** Returns the attributes that have a value. */
export function attributes(values: Readonly<Record<string, string | number | boolean | undefined>>): object[] {
  return Object.entries(values)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => ({ key, value: valueFor(value) }));
}

function valueFor(value: string | number | boolean | undefined): object {
  if (typeof value === 'number') return { intValue: String(value) };
  return typeof value === 'boolean' ? { boolValue: value } : { stringValue: value };
}

/** Converts `performance.now()` to nanoseconds since 1970, in steps of a microsecond, because a number cannot represent more digits. */
function nanoseconds(at: number): string {
  return `${Math.round((performance.timeOrigin + at) * 1000)}000`;
}
