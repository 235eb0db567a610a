// Traces of exchanges. A trace begins at the gateway, whatever trace context a client sends: clients must not decide which traces are
// sampled. The client's context becomes a link of the span.

import type { TrailNotes } from '../../exchange/notes.ts';
import { type Trail, trailOf } from '../../exchange/trail.ts';
import { isSampled, traceparentOf } from './context.ts';
import { createExporter, type ExporterOptions } from './exporter.ts';
import { attributes, spansOf } from './spans.ts';

export interface TraceIds {
  traceId(): string;
  spanId(): string;
}

/** Creates and records the `traceparent` of one attempt at an upstream. */
export type TraceparentFor = (notes: TrailNotes) => string;

/** Puts an exchange into the trace of the exchange that has begun it. */
export type TraceWithin = (inner: Trail, outer: Trail) => void;

export interface Tracing {
  readonly traceparentFor: TraceparentFor;
  readonly traceWithin: TraceWithin;
  /** Call it before the line is logged, so that the line contains the trace id. */
  finish(trail: Trail): void;
  close(): Promise<void>;
}

export interface TracingOptions extends Omit<ExporterOptions, 'resource'> {
  readonly ids: TraceIds;
  readonly sampleRatio: number;
  readonly serviceName: string;
  /** Distinguishes this process from others of the same service. */
  readonly instance: string;
}

/** Without tracing: upstreams get ids for traces of their own, and the gateway records no spans. */
export function untraced(ids: TraceIds): TraceparentFor {
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

export function createTracing({ ids, sampleRatio, serviceName, instance, ...options }: TracingOptions): Tracing {
  const exporter = createExporter({
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
        // The request reached no upstream, so no other service has the trace id: log it only if the trace is sampled.
        const traceId = begin(trail);
        if (trail.trace === undefined) return;
        trail.traceId = traceId;
      }
      if (trail.trace !== undefined) exporter.add(spansOf(trail, performance.now()));
    },
    close: exporter.close,
  };
}
