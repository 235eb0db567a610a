// Counters and histograms whose series are looked up once, and then only incremented. The client library (prom-client) would look up a
// series by its label values for each observation. Two histograms cost a request 5 µs of CPU with the library, and 1 µs with this file,
// measured through the gateway. Each counter costs 0.5 to 1 µs more with the library, which still renders the metrics.

import type { Registry } from '@prometheus-io/client';

interface CounterOptions {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly string[];
}

interface HistogramOptions extends CounterOptions {
  /** Upper bounds, ascending. */
  readonly buckets: readonly number[];
}

type Labels = Readonly<Record<string, string>>;

export interface Count {
  readonly labels: Labels;
  value: number;
}

export interface Series {
  /** The observations so far, as one count per bucket, and one for larger values. The counts are not cumulative. */
  readonly buckets: Float64Array;
  /** Returns the index of the bucket. */
  observe(value: number): number;
}

interface Histogram {
  /** Finds or creates one series, which the caller keeps. */
  series(...labels: readonly string[]): Series;
  /** Drops the series whose labels do not match. Observations in dropped series that a caller still has are lost. */
  retain(matches: (labels: Labels) => boolean): void;
}

/** Registers a counter. Returns a function that finds or creates a series, for the caller to keep. A new series has the value 0. */
export function createCounter(registry: Registry, options: CounterOptions): (...labels: readonly string[]) => Count {
  const { find } = createMetric(
    registry,
    'counter',
    options,
    (labels): Count => ({ labels, value: 0 }),
    (count) => [{ ...count }],
  );
  return find;
}

/** The observations with one set of labels. */
interface Buckets {
  readonly labels: Labels;
  readonly buckets: Float64Array;
  sum: number;
}

/** Registers a histogram. */
export function createHistogram(registry: Registry, options: HistogramOptions): Histogram {
  const { name, buckets: bounds } = options;
  const create = (labels: Labels): Buckets => ({ labels, buckets: new Float64Array(bounds.length + 1), sum: 0 });

  function rowsOf({ labels, buckets, sum }: Buckets): object[] {
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

  const { find, retain } = createMetric(registry, 'histogram', options, create, rowsOf);

  function series(...labels: readonly string[]): Series {
    const counts = find(...labels);
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

  return { series, retain };
}

/** Registers a metric with its own map of series, by label values. */
function createMetric<T extends { readonly labels: Labels }>(
  registry: Registry,
  type: 'counter' | 'histogram',
  { name, help, labelNames }: CounterOptions,
  create: (labels: Labels) => T,
  rowsOf: (series: T) => object[],
) {
  const all = new Map<string, T>();
  const get = async () => ({ name, help, type, values: [...all.values()].flatMap(rowsOf) });
  registry.registerMetric({ name, help, type, labelNames, aggregator: 'sum', get } as never);
  return {
    find(...values: readonly string[]): T {
      const key = JSON.stringify(values);
      const labels = () => Object.fromEntries(labelNames.map((label, index) => [label, values[index] as string]));
      const series = all.get(key) ?? create(labels());
      all.set(key, series);
      return series;
    },
    retain(matches: (labels: Labels) => boolean): void {
      for (const [key, { labels }] of all) if (!matches(labels)) all.delete(key);
    },
  };
}
