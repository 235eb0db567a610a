// Traces of exchanges. A trace begins at the gateway, whatever a client says of its own: whoever is outside must not decide what is kept
// inside. Its context becomes a link of the span.

import type { Trail } from '../../exchange.ts';
import { isSampled, traceparentOf } from './context.ts';
import { createExporter, type ExporterOptions } from './exporter.ts';
import { attributes, spansOf } from './spans.ts';

export interface TraceIds {
  traceId(): string;
  spanId(): string;
}

/** Makes the `traceparent` of something that is about to be sent to an upstream, once for each time, and notes it. */
export type TraceparentFor = (trail: Trail) => string;

export interface Tracing {
  readonly traceparentFor: TraceparentFor;
  /** Before its line is logged, so that the line names the trace. */
  finish(trail: Trail): void;
  close(): Promise<void>;
}

export interface TracingOptions extends Omit<ExporterOptions, 'resource'> {
  readonly ids: TraceIds;
  readonly sampleRatio: number;
  readonly serviceName: string;
  /** Tells this process from others of the same service. */
  readonly instance: string;
}

/** Without tracing: upstreams get ids for traces of their own, and nobody keeps anything here. */
export function untraced(ids: TraceIds): TraceparentFor {
  return (trail) => {
    trail.traceId ??= ids.traceId();
    return traceparentOf({ traceId: trail.traceId, spanId: ids.spanId() }, true);
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

  /** Once per exchange, as soon as somebody has to know. */
  function begin(trail: Trail): string {
    const traceId = ids.traceId();
    if (isSampled(traceId, sampleRatio)) trail.trace = { spanId: ids.spanId(), attempts: [] };
    return traceId;
  }

  return {
    traceparentFor(trail) {
      trail.traceId ??= begin(trail);
      const { traceId, trace, target = '' } = trail;
      const spanId = ids.spanId();
      trace?.attempts.push({ spanId, beganAt: performance.now(), target });
      return traceparentOf({ traceId, spanId }, trace !== undefined);
    },
    finish(trail) {
      if (trail.traceId === undefined) {
        // It got nowhere, so nobody else knows of the trace: only one that is kept is worth a name.
        const traceId = begin(trail);
        if (trail.trace === undefined) return;
        trail.traceId = traceId;
      }
      if (trail.trace !== undefined) exporter.add(spansOf(trail, performance.now()));
    },
    close: exporter.close,
  };
}
