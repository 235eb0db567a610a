// Metrics of upstreams: suspended credentials and used concurrency, read at each scrape, retried requests, and what did not cross.

import { Counter, Gauge, type Registry } from '@prometheus-io/client';
import type { RareNotes } from '../exchange.ts';

export interface UpstreamState {
  readonly credential?: 'unproven' | 'proven' | 'latched' | undefined;
  readonly in_flight?: number | undefined;
  readonly waiting?: number | undefined;
}

export interface UpstreamMetrics {
  /** Counts retries, and headers, cookies and query parameters that did not cross. */
  rare(notes: RareNotes, upstream: string): void;
  /** The series of an upstream that an alert compares begins at 0. */
  expect(upstream: string): void;
}

/**
 * Registers gauges that are read at each scrape.
 *
 * @param states of every upstream, by name
 */
export function registerUpstreamGauges(
  registry: Registry,
  states: () => Readonly<Record<string, UpstreamState>>,
): void {
  /** @param aggregator how the gauge is combined over several workers */
  function gauge(
    name: string,
    help: string,
    aggregator: 'sum' | 'max',
    read: (state: UpstreamState) => number | undefined,
  ): void {
    const collect = function (this: Gauge<'upstream'>) {
      this.reset();
      for (const [upstream, state] of Object.entries(states())) {
        const value = read(state);
        if (value !== undefined) this.set({ upstream }, value);
      }
    };
    new Gauge({ name, help, labelNames: ['upstream'], aggregator, registers: [registry], collect });
  }

  gauge(
    'gateway_upstream_credential_latched',
    '1 while requests to an upstream are suspended because it rejects the credential of the gateway.',
    'max',
    ({ credential }) => credential && Number(credential === 'latched'),
  );
  gauge('gateway_upstream_in_flight', 'Requests in progress at an upstream.', 'sum', (state) => state.in_flight);
  gauge('gateway_upstream_waiting', 'Requests in the queue of an upstream.', 'sum', (state) => state.waiting);
}

export function createUpstreamMetrics(registry: Registry): UpstreamMetrics {
  const retries = new Counter({
    name: 'gateway_upstream_retries_total',
    help: 'Requests sent again: not_sent, connection_lost, timeout, status_502, status_503, status_504, declared, credential.',
    labelNames: ['upstream', 'reason'],
    registers: [registry],
  });
  const exhausted = new Counter({
    name: 'gateway_upstream_retry_budget_exhausted_total',
    help: 'Requests that were not retried because the retry budget of their upstream was spent.',
    labelNames: ['upstream'],
    registers: [registry],
  });
  const withheld = new Counter({
    name: 'gateway_upstream_withheld_total',
    help: 'Headers, cookies and query parameters that did not cross between clients and an upstream: header, cookie, query (undeclared, where an entry drops these), or reference (an address of another host in Location, Link or Content-Location). The log line names them.',
    labelNames: ['upstream', 'kind'],
    registers: [registry],
  });

  return {
    expect: (upstream) => exhausted.inc({ upstream }, 0),
    rare({ retries: reasons, retryBudgetSpent, droppedQuery, notSent, withheld: fields }, upstream) {
      for (const reason of reasons ?? []) retries.inc({ upstream, reason });
      if (retryBudgetSpent) exhausted.inc({ upstream });
      if (droppedQuery !== undefined) withheld.inc({ upstream, kind: 'query' }, droppedQuery.length);
      for (const _cookie of notSent ?? []) withheld.inc({ upstream, kind: 'cookie' });
      for (const field of fields ?? []) withheld.inc({ upstream, kind: kindOf(field) });
    },
  };
}

/** The kind of a withheld field: the upstream chooses the names, which must not become labels. */
function kindOf(field: string): 'cookie' | 'reference' | 'header' {
  if (field.startsWith('set-cookie')) return 'cookie';
  return field === 'location' || field === 'link' || field === 'content-location' ? 'reference' : 'header';
}
