// Sends spans to a collector by OTLP over HTTP, in JSON and in batches. A collector that is slow or away holds nothing up: what does not
// fit into the queue, and what could not be delivered, is counted and forgotten.

import type { Span } from './spans.ts';

/** Spans that wait at most: about 2 MB. */
const QUEUE_MAX = 2048;
const BATCH_MAX = 512;
const BATCH_MS = 1000;
const DELIVERY_MS = 5000;
/** At the end, for what is left. */
const LAST_MS = 1000;

export interface ExporterOptions {
  readonly endpoint: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Of the process, flat OTLP attributes. */
  readonly resource: readonly object[];
  readonly version: string;
  readonly batchMs?: number;
  readonly deliveryMs?: number;
  onOutcome(outcome: 'exported' | 'dropped', spans: number): void;
  /** It cannot be reached, for this reason; or it can again. */
  onHealth(reason: string | undefined): void;
}

export interface Exporter {
  add(spans: readonly Span[]): void;
  /** Delivers what is left, or gives it up after a moment. */
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

  /** One batch at a time, until nothing is left that is worth one. */
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

  /** Why it could not be delivered. Not tried again: what comes next matters more than what was. */
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
