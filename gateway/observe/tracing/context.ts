// Pure: reads and writes the traceparent header (W3C Trace Context, section 3.2).

interface TraceContext {
  readonly traceId: string;
  readonly spanId: string;
}

const FORM = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.*)?$/;

/** Returns undefined for a malformed or absent header. Reads the known part of later versions. */
export function parseTraceparent(header: string | undefined): TraceContext | undefined {
  const [, version, traceId = '', spanId = '', more] = FORM.exec(header ?? '') ?? [];
  if (version === undefined || version === 'ff' || (version === '00' && more !== undefined)) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  return { traceId, spanId };
}

/** Returns the `traceparent`. Its flags say that the trace id is random, and whether the trace is sampled. */
export function traceparentOf({ traceId, spanId }: TraceContext, sampled: boolean): string {
  return `00-${traceId}-${spanId}-${sampled ? '03' : '02'}`;
}

/** Whether the trace is sampled. The random end of the trace id decides, so that all gateways decide alike about a trace. */
export function isSampled(traceId: string, ratio: number): boolean {
  return Number.parseInt(traceId.slice(-8), 16) < ratio * 0x1_0000_0000;
}
