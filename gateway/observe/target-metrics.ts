// Metrics of upstream targets: health, load, ejections, results of health checks, and circuit breakers.

import { Counter, Gauge, type Registry } from '@prometheus-io/client';

interface TargetCondition {
  readonly mode: string;
  readonly address: string;
  readonly state: string;
  readonly outstanding: number;
}

/** By upstream. */
export type TargetSetStates = Readonly<
  Record<
    string,
    {
      readonly targets: readonly TargetCondition[];
      readonly breaker: Readonly<Record<string, keyof typeof breakerValues>>;
    }
  >
>;

export interface TargetMetrics {
  ejected(target: { readonly upstream: string; readonly mode: string; readonly address: string }): void;
  /** A connection of the upstream has delivered bytes that no request asked for. */
  unasked(upstream: string): void;
  checked(check: { readonly upstream: string; readonly mode: string; readonly result: string }): void;
}

const breakerValues = { closed: 0, half_open: 1, open: 2 };
const up = new Set(['healthy', 'returning']);

/** Registers gauges that are read at each scrape. */
export function registerTargetGauges(registry: Registry, states: () => TargetSetStates): void {
  const registers = [registry];

  /** @param aggregator how the gauge is combined over several workers, each of which judges for itself */
  function ofTargets(
    name: string,
    help: string,
    aggregator: 'sum' | 'min',
    read: (target: TargetCondition) => number,
  ): void {
    const collect = function (this: Gauge<'upstream' | 'mode' | 'target'>) {
      this.reset();
      for (const [upstream, { targets }] of Object.entries(states())) {
        for (const target of targets) this.set({ upstream, mode: target.mode, target: target.address }, read(target));
      }
    };
    new Gauge({ name, help, labelNames: ['upstream', 'mode', 'target'], aggregator, registers, collect });
  }

  ofTargets(
    'gateway_upstream_target_up',
    '1 while a target is healthy or returning to its full share; 0 in every other state.',
    'min',
    (target) => Number(up.has(target.state)),
  );
  ofTargets(
    'gateway_upstream_target_outstanding',
    'Requests in progress at a target.',
    'sum',
    ({ outstanding }) => outstanding,
  );
  new Gauge({
    name: 'gateway_upstream_breaker_state',
    help: 'Circuit breaker of an upstream: 0 closed, 1 half-open, 2 open.',
    labelNames: ['upstream', 'mode'],
    aggregator: 'max',
    registers,
    collect() {
      this.reset();
      for (const [upstream, { breaker }] of Object.entries(states())) {
        for (const [mode, state] of Object.entries(breaker)) this.set({ upstream, mode }, breakerValues[state]);
      }
    },
  });
}

export function createTargetMetrics(registry: Registry): TargetMetrics {
  const registers = [registry];
  const ejections = new Counter({
    name: 'gateway_upstream_ejections_total',
    help: 'Ejections of a target because requests to it failed.',
    labelNames: ['upstream', 'mode', 'target'],
    registers,
  });
  const checks = new Counter({
    name: 'gateway_upstream_health_checks_total',
    help: 'Health checks of targets by their result.',
    labelNames: ['upstream', 'mode', 'result'],
    registers,
  });

  const unasked = new Counter({
    name: 'gateway_upstream_unasked_bytes_total',
    help: 'Connections of an upstream that delivered bytes that no request asked for. Each time its requests get connections of their own for ten minutes.',
    labelNames: ['upstream'],
    registers,
  });

  return {
    unasked: (upstream) => unasked.inc({ upstream }),
    ejected: ({ upstream, mode, address }) => ejections.inc({ upstream, mode, target: address }),
    checked: ({ upstream, mode, result }) => checks.inc({ upstream, mode, result }),
  };
}
