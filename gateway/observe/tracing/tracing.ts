// Traces of exchanges. A trace begins at the gateway, whatever trace context a client sends, because clients must not decide which traces
// are sampled. The client's context becomes a link of the span.

import { hostname } from 'node:os';
import type { TrailNotes } from '../../exchange/notes.ts';
import { type Trail, trailOf } from '../../exchange/trail.ts';
import { isFieldText } from '../../shared/http/words.ts';
import type { Log } from '../log/log.ts';
import { isSampled, traceparentOf } from './context.ts';
import { Exporter, type ExporterOptions } from './exporter.ts';
import { attributes, spansOf } from './spans.ts';

interface TracingParts extends Pick<TracingOptions, 'version' | 'onOutcome'> {
  /** The block `tracing` of gateway.yaml. */
  readonly settings:
    | (Pick<TracingOptions, 'endpoint' | 'sampleRatio' | 'serviceName'> & {
        readonly headersSecret?: string | undefined;
      })
    | undefined;
  readSecret(entry: string): string | undefined;
  readonly ids: TraceIds;
  readonly log: Log;
}

/**
 * Opens the export of traces; undefined without tracing in gateway.yaml. Throws an Error for operators if the secret is missing or
 * malformed.
 */
export function openTracing({ settings, readSecret, log, ...parts }: TracingParts): Tracing | undefined {
  if (settings === undefined) return undefined;
  const { headersSecret, ...further } = settings;
  return createTracing({
    ...parts,
    ...further,
    headers: headersSecret === undefined ? {} : tracingHeaders(readSecret(headersSecret), headersSecret),
    instance: `${hostname()}:${process.pid}`,
    onHealth(reason) {
      if (reason === undefined) log.logger.info('the collector of traces takes spans again');
      else log.logger.warn({ reason }, 'the collector of traces takes no spans; they are dropped and counted');
    },
  });
}

/**
 * Parses the headers for the collector from a secret: one `Name: value` per line. Throws an Error for operators, without the value, if the
 * secret is missing or malformed.
 */
export function tracingHeaders(text: string | undefined, entry: string): Record<string, string> {
  if (text === undefined)
    throw new Error(`The secret ${entry}, which holds the headers for the collector of traces, does not exist.`);
  const headers: Record<string, string> = {};
  for (const line of text.split('\n').filter((one) => one.trim() !== '')) {
    const [, name, value] = /^([A-Za-z0-9-]+):[ \t]*(\S.*?)[ \t\r]*$/.exec(line) ?? [];
    if (name === undefined || value === undefined || !isFieldText(value))
      throw new Error(`The secret ${entry} is not lines of Name: value in ASCII.`);
    headers[name] = value;
  }
  return headers;
}

interface TraceIds {
  traceId(): string;
  spanId(): string;
}

/** Creates and records the `traceparent` of one attempt at an upstream. */
export type TraceparentFor = (notes: TrailNotes) => string;

/** Puts an exchange into the trace of the exchange that began it. */
export type TraceWithin = (inner: Trail, outer: Trail) => void;

export interface Tracing {
  readonly traceparentFor: TraceparentFor;
  readonly traceWithin: TraceWithin;
  /** Ends a trace. Call it before the line is logged, because the line contains the trace id. */
  finish(trail: Trail): void;
  close(): Promise<void>;
}

interface TracingOptions extends Omit<ExporterOptions, 'resource'> {
  readonly ids: TraceIds;
  readonly sampleRatio: number;
  readonly serviceName: string;
  /** Distinguishes this process from others of the same service. */
  readonly instance: string;
}

/** Makes trace ids without tracing, so that upstreams get ids for their traces, and the gateway records no spans. */
export function createUntracedIds(ids: TraceIds): TraceparentFor {
  return (notes) => {
    const trail = trailOf(notes);
    trail.traceId ??= ids.traceId();
    return traceparentOf({ traceId: trail.traceId, spanId: ids.spanId() }, true);
  };
}

export function untracedWithin(ids: TraceIds): TraceWithin {
  return (inner, outer) => {
    outer.traceId ??= ids.traceId();
    inner.traceId = outer.traceId;
  };
}

function createTracing({ ids, sampleRatio, serviceName, instance, ...options }: TracingOptions): Tracing {
  const exporter = new Exporter({
    ...options,
    resource: attributes({
      'service.name': serviceName,
      'service.version': options.version,
      'service.instance.id': instance,
    }),
  });

  /** Runs once per exchange, as soon as its trace id is needed. */
  function begin(trail: Trail): string {
    const traceId = ids.traceId();
    if (isSampled(traceId, sampleRatio)) trail.trace = { spanId: ids.spanId(), attempts: [] };
    return traceId;
  }

  return {
    traceparentFor(notes) {
      const trail = trailOf(notes);
      trail.traceId ??= begin(trail);
      const { traceId, trace, target = '' } = trail;
      const spanId = ids.spanId();
      trace?.attempts.push({ spanId, beganAt: performance.now(), target });
      return traceparentOf({ traceId, spanId }, trace !== undefined);
    },
    traceWithin(inner, outer) {
      outer.traceId ??= begin(outer);
      inner.traceId = outer.traceId;
      if (outer.trace === undefined) return;
      inner.trace = { spanId: ids.spanId(), attempts: [], parentSpanId: outer.trace.spanId };
    },
    finish(trail) {
      if (trail.traceId === undefined) {
        // The request reached no upstream, so no other service knows its trace id. The log then has the id only if the trace is exported.
        const traceId = begin(trail);
        if (trail.trace === undefined) return;
        trail.traceId = traceId;
      }
      if (trail.trace !== undefined) exporter.add(spansOf(trail, performance.now()));
    },
    close: () => exporter.close(),
  };
}
