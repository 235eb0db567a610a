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

export class Exporter {
  readonly #options: ExporterOptions;
  #queue: Span[] = [];
  #timer: NodeJS.Timeout | undefined;
  #delivering: Promise<void> | undefined;
  /** The reason why the collector cannot be reached. */
  #reason: string | undefined;
  #isClosed = false;

  constructor(options: ExporterOptions) {
    this.#options = options;
  }

  add(spans: readonly Span[]): void {
    if (this.#isClosed || this.#queue.length + spans.length > QUEUE_MAX) {
      this.#options.onOutcome('dropped', spans.length);
      return;
    }
    this.#queue.push(...spans);
    if (this.#queue.length >= BATCH_MAX) void this.#deliver();
    else this.#deliverLater();
  }

  /** Delivers the remaining spans, or drops them after a moment. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const last = (async () => {
      await this.#delivering;
      if (this.#queue.length > 0) await this.#deliverBatches(LAST_MS);
    })();
    clearTimeout(this.#timer);
    let overdue: NodeJS.Timeout | undefined;
    await Promise.race([last, new Promise((resolve) => (overdue = setTimeout(resolve, LAST_MS)))]);
    clearTimeout(overdue);
  }

  #deliverLater(): void {
    this.#timer ??= setTimeout(() => void this.#deliver(), this.#options.batchMs ?? BATCH_MS);
  }

  /** Sends one batch at a time, until too few spans for a batch are left. */
  #deliver(): Promise<void> {
    this.#delivering ??= this.#deliverBatches(this.#options.deliveryMs ?? DELIVERY_MS).finally(() => {
      this.#delivering = undefined;
      if (this.#queue.length > 0 && !this.#isClosed) this.#deliverLater();
    });
    return this.#delivering;
  }

  async #deliverBatches(withinMs: number): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    do {
      const batch = this.#queue.slice(0, BATCH_MAX);
      this.#queue = this.#queue.slice(BATCH_MAX);
      const failure = await this.#send(batch, withinMs);
      this.#options.onOutcome(failure === undefined ? 'exported' : 'dropped', batch.length);
      this.#noteHealth(failure);
    } while (this.#queue.length >= BATCH_MAX);
  }

  /** Returns the reason if delivery failed. A delivery is never retried, because new spans matter more than old spans. */
  async #send(spans: readonly Span[], withinMs: number): Promise<string | undefined> {
    const { endpoint, resource, version } = this.#options;
    const headers = { 'content-type': 'application/json', ...this.#options.headers };
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

  #noteHealth(failure: string | undefined): void {
    if ((failure === undefined) !== (this.#reason === undefined)) this.#options.onHealth(failure);
    this.#reason = failure;
  }
}
