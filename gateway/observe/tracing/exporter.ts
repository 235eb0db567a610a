// Sends spans to a collector by OTLP over HTTP, in JSON and in batches. A slow or absent collector delays no request, because spans that do
// not fit into the queue, or cannot be delivered, are counted and dropped.

import type { Span } from './spans.ts';

/** Bound of the queue: about 2 MB. */
const QUEUE_MAX = 2048;
const BATCH_MAX = 512;
const BATCH_MS = 1000;
const DELIVERY_MS = 5000;
/** Time for the remaining spans at shutdown. */
const LAST_MS = 1000;

export interface ExporterOptions {
  readonly endpoint: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Attributes of the process, as flat OTLP attributes. */
  readonly resource: readonly object[];
  readonly version: string;
  readonly batchMs?: number;
  readonly deliveryMs?: number;
  onOutcome(outcome: 'exported' | 'dropped', spans: number): void;
  /** Called with the reason when the collector cannot be reached, and with undefined when it can be reached again. */
  onHealth(reason: string | undefined): void;
}

interface Exporter {
  add(spans: readonly Span[]): void;
  /** Delivers the remaining spans, or drops them after a moment. */
  close(): Promise<void>;
}

export function createExporter(options: ExporterOptions): Exporter {
  const { endpoint, resource, version, batchMs = BATCH_MS, deliveryMs = DELIVERY_MS, onOutcome } = options;
  const headers = { 'content-type': 'application/json', ...options.headers };
  let queue: Span[] = [];
  let timer: NodeJS.Timeout | undefined;
  let delivering: Promise<void> | undefined;
  let reason: string | undefined;
  let isClosed = false;

  function add(spans: readonly Span[]): void {
    if (isClosed || queue.length + spans.length > QUEUE_MAX) {
      onOutcome('dropped', spans.length);
      return;
    }
    queue.push(...spans);
    if (queue.length >= BATCH_MAX) void deliver();
    else timer ??= setTimeout(deliver, batchMs);
  }

  /** Sends one batch at a time, until too few spans for a batch are left. */
  function deliver(): Promise<void> {
    delivering ??= deliverBatches(deliveryMs).finally(() => {
      delivering = undefined;
      if (queue.length > 0 && !isClosed) timer ??= setTimeout(deliver, batchMs);
    });
    return delivering;
  }

  async function deliverBatches(withinMs: number): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    do {
      const batch = queue.slice(0, BATCH_MAX);
      queue = queue.slice(BATCH_MAX);
      const failure = await send(batch, withinMs);
      onOutcome(failure === undefined ? 'exported' : 'dropped', batch.length);
      noteHealth(failure);
    } while (queue.length >= BATCH_MAX);
  }

  /** Returns the reason if delivery failed. A delivery is never retried, because new spans matter more than old spans. */
  async function send(spans: readonly Span[], withinMs: number): Promise<string | undefined> {
    const scopeSpans = [{ scope: { name: 'gateway', version }, spans }];
    const body = JSON.stringify({ resourceSpans: [{ resource: { attributes: resource }, scopeSpans }] });
    try {
      const signal = AbortSignal.timeout(withinMs);
      const answer = await fetch(endpoint, { method: 'POST', headers, body, signal, redirect: 'error' });
      await answer.body?.cancel();
      return answer.ok ? undefined : `it answered ${answer.status}`;
    } catch (error) {
      const { name, cause } = error as Error & { readonly cause?: NodeJS.ErrnoException };
      return name === 'TimeoutError' ? 'no answer in time' : (cause?.code ?? name);
    }
  }

  function noteHealth(failure: string | undefined): void {
    if ((failure === undefined) !== (reason === undefined)) options.onHealth(failure);
    reason = failure;
  }

  async function close(): Promise<void> {
    isClosed = true;
    const last = (async () => {
      await delivering;
      if (queue.length > 0) await deliverBatches(LAST_MS);
    })();
    clearTimeout(timer);
    let overdue: NodeJS.Timeout | undefined;
    await Promise.race([last, new Promise((resolve) => (overdue = setTimeout(resolve, LAST_MS)))]);
    clearTimeout(overdue);
  }

  return { add, close };
}
