// A histogram whose series are looked up once and then only incremented. The client library looks its series up by label values for every
// observation and keeps them in objects: 5 µs of CPU per request with two histograms, measured through the gateway, against 1. The library
// still renders the metric.

import type { Registry } from '@prometheus-io/client';

export interface HistogramOptions {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly string[];
  /** Upper bounds, ascending. */
  readonly buckets: readonly number[];
}

export interface Series {
  /** The observations so far: one count per bucket, and one for larger values; not cumulative. */
  readonly buckets: Float64Array;
  /** Returns the index of the bucket. */
  observe(value: number): number;
}

interface Counts {
  readonly labels: Readonly<Record<string, string>>;
  /** One count per bucket, and one for larger values; not cumulative. */
  readonly buckets: Float64Array;
  sum: number;
}

export interface Histogram {
  /** Finds or creates one series, which the caller keeps. */
  series(...labels: readonly string[]): Series;
  /** Drops the series whose labels do not match. Observations of those that a caller has kept are lost. */
  retain(matches: (labels: Readonly<Record<string, string>>) => boolean): void;
}

/** Registers the histogram. */
export function createHistogram(registry: Registry, options: HistogramOptions): Histogram {
  const { name, help, labelNames, buckets: bounds } = options;
  const all = new Map<string, Counts>();

  function valuesOf({ labels, buckets, sum }: Counts): object[] {
    let cumulative = 0;
    const rows: object[] = bounds.map((bound, index) => {
      cumulative += buckets[index] as number;
      return { metricName: `${name}_bucket`, labels: { le: String(bound), ...labels }, value: cumulative };
    });
    const count = cumulative + (buckets[bounds.length] as number);
    rows.push({ metricName: `${name}_bucket`, labels: { le: '+Inf', ...labels }, value: count });
    rows.push({ metricName: `${name}_sum`, labels, value: sum });
    rows.push({ metricName: `${name}_count`, labels, value: count });
    return rows;
  }

  const metric = {
    name,
    help,
    type: 'histogram',
    labelNames,
    aggregator: 'sum',
    get: async () => ({ name, help, type: 'histogram', values: [...all.values()].flatMap(valuesOf) }),
  };
  registry.registerMetric(metric as never);

  function series(...labels: readonly string[]): Series {
    const key = JSON.stringify(labels);
    const counts = all.get(key) ?? {
      labels: Object.fromEntries(labelNames.map((label, index) => [label, labels[index] as string])),
      buckets: new Float64Array(bounds.length + 1),
      sum: 0,
    };
    all.set(key, counts);
    return {
      buckets: counts.buckets,
      observe(value) {
        let index = 0;
        while (index < bounds.length && value > (bounds[index] as number)) index++;
        counts.buckets[index] = (counts.buckets[index] as number) + 1;
        counts.sum += value;
        return index;
      },
    };
  }

  function retain(matches: (labels: Readonly<Record<string, string>>) => boolean): void {
    for (const [key, { labels }] of all) if (!matches(labels)) all.delete(key);
  }

  return { series, retain };
}
