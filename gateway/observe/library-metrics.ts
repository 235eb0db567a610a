// Registers counters and gauges of the client library: counters that ordinary requests do not touch, and gauges that are measured at each
// scrape. Counters and histograms of every request are in series.ts.

import { Counter, Gauge, type Registry } from '@prometheus-io/client';

export function registerCounter(
  registry: Registry,
  name: string,
  help: string,
  labelNames: string[] = [],
): Counter<string> {
  return new Counter({ name, help, labelNames, registers: [registry] });
}

interface GaugeOptions {
  readonly name: string;
  readonly help: string;
  readonly labelNames?: string[];
  /** How the values of several workers are combined. */
  readonly aggregator?: 'sum' | 'min' | 'max';
}

type Measured = number | readonly (readonly [labels: Readonly<Record<string, string>>, value: number])[];

/** @param measure called at each scrape; returns the value, or the value of each series */
export function registerGauge(
  registry: Registry,
  { name, help, labelNames = [], aggregator = 'sum' }: GaugeOptions,
  measure: () => Measured,
): void {
  const collect = function (this: Gauge<string>) {
    const measured = measure();
    if (typeof measured === 'number') {
      this.set(measured);
      return;
    }
    this.reset();
    for (const [labels, value] of measured) this.set(labels, value);
  };
  new Gauge({ name, help, labelNames, aggregator, registers: [registry], collect });
}
