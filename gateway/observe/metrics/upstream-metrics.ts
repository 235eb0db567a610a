// Metrics of upstreams and their targets: suspended credentials, load, health, circuit breakers, retried requests, and withheld fields.

import type { Registry } from '@prometheus-io/client';
import type { RareNotes } from '../../catalogue/log-fields.ts';
import type { CredentialState } from '../../shared/contracts/upstreams.ts';
import { registerCounter, registerGauge } from './library-metrics.ts';

export interface UpstreamState {
  readonly credential?: CredentialState | undefined;
  readonly in_flight?: number | undefined;
  readonly waiting?: number | undefined;
}

interface TargetCondition {
  readonly mode: string;
  readonly address: string;
  readonly state: string;
  readonly outstanding: number;
}

export interface TargetSetState {
  readonly targets: readonly TargetCondition[];
  readonly breaker: Readonly<Record<string, keyof typeof BREAKER_VALUES>>;
}

type ByUpstream<State> = () => Readonly<Record<string, State>>;

interface UpstreamMetrics {
  /** Counts retries, and headers, cookies and query parameters that did not cross. */
  rare(notes: RareNotes, upstream: string): void;
  /** Creates the series that alerts compare, with the value 0. */
  expect(upstream: string): void;
}

export interface TargetMetrics {
  ejected(target: { readonly upstream: string; readonly mode: string; readonly address: string }): void;
  /** Counts a connection on which the upstream has sent bytes that no request asked for. */
  unrequestedBytes(upstream: string): void;
  checked(check: { readonly upstream: string; readonly mode: string; readonly result: string }): void;
}

const BREAKER_VALUES = { closed: 0, half_open: 1, open: 2 };
const USABLE_STATES = new Set(['healthy', 'returning']);

/** Registers gauges that are measured at each scrape. */
export function registerUpstreamGauges(registry: Registry, states: ByUpstream<UpstreamState>): void {
  function gauge(
    name: string,
    help: string,
    aggregator: 'sum' | 'max',
    read: (state: UpstreamState) => number | undefined,
  ): void {
    registerGauge(registry, { name, help, labelNames: ['upstream'], aggregator }, () =>
      Object.entries(states()).flatMap(([upstream, state]) => {
        const value = read(state);
        return value === undefined ? [] : [[{ upstream }, value] as const];
      }),
    );
  }

  gauge(
    'gateway_upstream_credential_latched',
    '1 while nothing is sent to an upstream because it refused the credential of the gateway: until the secret or an address changes, or an operator has it tried again. Otherwise 0.',
    'max',
    ({ credential }) => credential && Number(credential === 'latched'),
  );
  gauge(
    'gateway_upstream_credential_missing',
    '1 while nothing is sent to an upstream because the secret of its credential is missing, empty, unreadable or not in the form of its kind. Otherwise 0.',
    'max',
    ({ credential }) => credential && Number(credential === 'no_secret'),
  );
  gauge('gateway_upstream_in_flight', 'Requests in progress at an upstream.', 'sum', (state) => state.in_flight);
  gauge('gateway_upstream_waiting', 'Requests in the queue of an upstream.', 'sum', (state) => state.waiting);
}

/** Registers gauges that are measured at each scrape. Each worker judges targets separately. */
export function registerTargetGauges(registry: Registry, states: ByUpstream<TargetSetState>): void {
  function ofTargets(name: string, help: string, aggregator: 'sum' | 'min', read: (target: TargetCondition) => number) {
    registerGauge(registry, { name, help, labelNames: ['upstream', 'mode', 'target'], aggregator }, () =>
      Object.entries(states()).flatMap(([upstream, { targets }]) =>
        targets.map((target) => [{ upstream, mode: target.mode, target: target.address }, read(target)] as const),
      ),
    );
  }

  ofTargets(
    'gateway_upstream_target_up',
    '1 while a target is healthy or returning to its full share; 0 in every other state.',
    'min',
    (target) => Number(USABLE_STATES.has(target.state)),
  );
  ofTargets(
    'gateway_upstream_target_outstanding',
    'Requests in progress at a target.',
    'sum',
    ({ outstanding }) => outstanding,
  );
  const breakers = {
    name: 'gateway_upstream_breaker_state',
    help: 'Circuit breaker of an upstream: 0 closed, 1 half-open, 2 open.',
    labelNames: ['upstream', 'mode'],
  };
  registerGauge(registry, { ...breakers, aggregator: 'max' }, () =>
    Object.entries(states()).flatMap(([upstream, { breaker }]) =>
      Object.entries(breaker).map(([mode, state]) => [{ upstream, mode }, BREAKER_VALUES[state]] as const),
    ),
  );
}

export function createTargetMetrics(registry: Registry): TargetMetrics {
  const ejections = registerCounter(
    registry,
    'gateway_upstream_ejections_total',
    'Ejections of a target because requests to it failed.',
    ['upstream', 'mode', 'target'],
  );
  const checks = registerCounter(
    registry,
    'gateway_upstream_health_checks_total',
    'Health checks of targets by their result.',
    ['upstream', 'mode', 'result'],
  );
  const unrequested = registerCounter(
    registry,
    'gateway_upstream_unasked_bytes_total',
    'Connections of an upstream that delivered bytes that no request asked for. Each time its requests get connections of their own for ten minutes.',
    ['upstream'],
  );

  return {
    unrequestedBytes: (upstream) => unrequested.inc({ upstream }),
    ejected: ({ upstream, mode, address }) => ejections.inc({ upstream, mode, target: address }),
    checked: ({ upstream, mode, result }) => checks.inc({ upstream, mode, result }),
  };
}

export function createUpstreamMetrics(registry: Registry): UpstreamMetrics {
  const retries = registerCounter(
    registry,
    'gateway_upstream_retries_total',
    'Requests sent again: not_sent, connection_lost, timeout, status_502, status_503, status_504, declared, credential.',
    ['upstream', 'reason'],
  );
  const exhausted = registerCounter(
    registry,
    'gateway_upstream_retry_budget_exhausted_total',
    'Requests that were not retried because the retry budget of their upstream was spent.',
    ['upstream'],
  );
  const withheld = registerCounter(
    registry,
    'gateway_upstream_withheld_total',
    'Headers, cookies and query parameters that did not cross between clients and an upstream: header, cookie, query (undeclared, where an entry drops these), or reference (an address of another host in Location, Link or Content-Location). The log line names them.',
    ['upstream', 'kind'],
  );

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

/** Returns the kind of a withheld field. The name must not become a label, because the upstream chooses it. */
function kindOf(field: string): 'cookie' | 'reference' | 'header' {
  if (field.startsWith('set-cookie')) return 'cookie';
  return field === 'location' || field === 'link' || field === 'content-location' ? 'reference' : 'header';
}
